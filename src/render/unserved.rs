//! What a description may ask for that generated operators do not do yet: several replicas, and webhooks. No rights are
//! granted for it.

use crate::model::Description;

/// A sentence for each such thing that the description asks for.
pub fn unserved(description: &Description) -> Vec<String> {
    let mut notices = Vec::new();
    let deploy = &description.deploy;
    let has_leader = deploy.leader_election.is_some_and(|wanted| wanted.value);
    if deploy.replicas.value > 1 || has_leader || deploy.shards.is_some() {
        notices.push(
            "leader election and shards are not implemented yet: the Deployment has one replica, and a rollout stops \
             it before it starts the next one"
                .to_owned(),
        );
    }
    let mut webhooks = description.kinds.iter().map(|kind| &kind.webhooks);
    if webhooks.any(|webhooks| webhooks.validate.is_some() || webhooks.mutate.is_some()) {
        notices.push("webhooks are not implemented yet: no admission handler is generated".to_owned());
    }
    notices
}
