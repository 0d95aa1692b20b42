//! The registration of an operator's webhooks with the API server, and the requests for which they are called.

use serde_json::{Value as Json, json};

use crate::crd::{INJECTED, certificate, client_config, webhook_service};
use crate::model::{Certificates, Description, Kind, Operation, Scope, Webhook};

/// The kinds of the configurations that a description needs, and their resources.
pub(crate) fn configurations(description: &Description) -> Vec<(&'static str, &'static str)> {
    let has = |is_there: fn(&Kind) -> bool| description.kinds.iter().any(is_there);
    let mut configurations = Vec::new();
    if has(|kind| kind.webhooks.mutate.is_some()) {
        configurations.push(("MutatingWebhookConfiguration", "mutatingwebhookconfigurations"));
    }
    if has(|kind| kind.webhooks.validate.is_some()) {
        configurations.push((
            "ValidatingWebhookConfiguration",
            "validatingwebhookconfigurations",
        ));
    }
    configurations
}

/// The Service, and the configurations, whose `caBundle` the operator sets.
pub fn webhooks(description: &Description) -> Vec<Json> {
    if !description.has_webhooks() {
        return Vec::new();
    }
    let operator = description.operator.as_str();
    let name = webhook_service(operator);
    let mut documents = vec![json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": &description.namespace},
        "spec": {
            "selector": super::deploy::selector(description),
            "ports": [{"name": "https", "port": 443, "targetPort": "webhooks"}],
        },
    })];
    for (configuration, _) in configurations(description) {
        let called = configuration.starts_with("Mutating");
        let webhooks: Vec<Json> = description
            .kinds
            .iter()
            .flat_map(|kind| kind.webhooks.all().map(move |webhook| (kind, webhook)))
            .filter(|(_, (name, _))| (*name == "mutate") == called)
            .map(|(kind, (name, webhook))| registered(description, kind, name, webhook))
            .collect();
        let mut metadata = json!({"name": operator});
        if description.deploy.certificates == Certificates::Mounted {
            metadata["annotations"] = json!({INJECTED: certificate(description)});
        }
        documents.push(json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": configuration,
            "metadata": metadata,
            "webhooks": webhooks,
        }));
    }
    documents
}

/// A webhook as an entry of a configuration.
fn registered(description: &Description, kind: &Kind, name: &str, webhook: &Webhook) -> Json {
    let resource = &kind.resource;
    let (group, version) = (resource.group.as_str(), resource.version.as_str());
    let plural = resource.plural.as_str();
    let path = format!(
        "/{name}-{}-{version}-{}",
        group.replace('.', "-"),
        resource.kind.as_str().to_lowercase()
    );
    let mut resources = vec![plural.to_owned()];
    // The webhook also validates changes of the scaled field that are made through `/scale`.
    let updates = webhook
        .operations
        .iter()
        .any(|operation| operation.value == Operation::Update);
    if resource.scale.is_some() && name == "validate" && updates {
        resources.push(format!("{plural}/scale"));
    }
    let operations: Vec<&str> = webhook
        .operations
        .iter()
        .map(|operation| operation.value.as_str())
        .collect();
    let scope = match resource.scope.value {
        Scope::Namespaced => "Namespaced",
        Scope::Cluster => "Cluster",
    };
    json!({
        "name": format!("{name}.{plural}.{group}"),
        "admissionReviewVersions": ["v1"],
        "clientConfig": client_config(description, &path),
        "rules": [{
            "apiGroups": [group],
            "apiVersions": [version],
            "operations": operations,
            "resources": resources,
            "scope": scope,
        }],
        "matchConditions": conditions(webhook),
        "failurePolicy": webhook.failure_policy.value.as_str(),
        "matchPolicy": "Equivalent",
        "sideEffects": "None",
        "timeoutSeconds": webhook.timeout.value.as_secs(),
    })
}

/// The match conditions of a webhook: they exclude requests that no webhook has to review, so that no webhook can block
/// a deletion, and include those of the description. The resources exclude the status.
fn conditions(webhook: &Webhook) -> Vec<Json> {
    let condition = |name: &str, expression: &str| json!({"name": name, "expression": expression});
    let mut conditions = vec![
        condition(
            "krator-not-deleted",
            "object == null || !has(object.metadata.deletionTimestamp)",
        ),
        condition(
            "krator-spec-changes",
            "request.operation != 'UPDATE' || object.?spec != oldObject.?spec",
        ),
    ];
    let own = webhook.match_conditions.iter();
    conditions.extend(own.map(|own| condition(&own.name.value, &own.expression.value)));
    conditions
}
