//! What a description may ask for that generated operators do not do yet: several replicas, and webhooks.
//!
//! Their rights are granted all the same, so that the RBAC of an operator does not change when they arrive.

use crate::model::{Description, Webhooks};

/// The names of the Leases by which replicas would agree on who acts. None if a single operator acts alone.
pub(super) fn leases(description: &Description) -> Vec<String> {
    let operator = description.operator.as_str();
    let deploy = &description.deploy;
    if let Some(shards) = &deploy.shards {
        let count = shards.value;
        (0..count)
            .map(|shard| format!("{operator}-{shard}-of-{count}"))
            .collect()
    } else if deploy.leader_election.as_ref().is_some_and(|wanted| wanted.value) {
        vec![operator.to_owned()]
    } else {
        Vec::new()
    }
}

/// The resources in which the API server would be told about the webhooks.
pub(super) fn webhook_configurations(webhooks: &Webhooks) -> impl Iterator<Item = &'static str> {
    let validate = webhooks
        .validate
        .is_some()
        .then_some("validatingwebhookconfigurations");
    let mutate = webhooks
        .mutate
        .is_some()
        .then_some("mutatingwebhookconfigurations");
    validate.into_iter().chain(mutate)
}

/// A sentence for each such thing that the description asks for.
pub fn unserved(description: &Description) -> Vec<String> {
    let mut notices = Vec::new();
    if description.deploy.replicas.value > 1 || !leases(description).is_empty() {
        notices.push(
            "leader election and shards are not implemented yet: the Deployment has one replica, and a rollout stops \
             it before it starts the next one"
                .to_owned(),
        );
    }
    let mut webhooks = description.kinds.iter().map(|kind| &kind.webhooks);
    if webhooks.any(|webhooks| webhook_configurations(webhooks).next().is_some()) {
        notices.push("webhooks are not implemented yet: no admission handler is generated".to_owned());
    }
    notices
}
