//! The objects beside the Deployment.

use serde_json::{Value as Json, json};

use super::{Settings, is_mounted, selector};
use crate::crd::webhook_service;
use crate::model::Description;

/// The maximum number of pods that may be evicted at the same time, as when a node is drained.
pub(in crate::render) fn disruption_budget(description: &Description) -> Json {
    json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": description.operator.as_str(), "namespace": &description.namespace},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": selector(description)}},
    })
}

/// The Service of the metrics, and of the page for people.
pub(in crate::render) fn metrics_service(description: &Description, settings: &Settings) -> Json {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": metrics_name(description), "namespace": &description.namespace},
        "spec": {
            "selector": selector(description),
            "ports": [{"name": "https", "port": settings.metrics_port, "targetPort": "metrics"}],
        },
    })
}

/// The name of the Service of the metrics.
pub(in crate::render) fn metrics_name(description: &Description) -> String {
    format!("{}-metrics", description.operator.as_str())
}

/// The allowed clients of the operator: namespaces with a label for the metrics, and all clients for the webhooks,
/// because the API server has no label. Probes come from the node and are never blocked.
pub(in crate::render) fn network_policy(description: &Description) -> Json {
    let mut ingress = vec![json!({
        "from": [{"namespaceSelector": {"matchLabels": {"metrics": "enabled"}}}],
        "ports": [{"port": "metrics", "protocol": "TCP"}],
    })];
    if description.has_webhooks() {
        ingress.push(json!({"ports": [{"port": "webhooks", "protocol": "TCP"}]}));
    }
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": description.operator.as_str(), "namespace": &description.namespace},
        "spec": {
            "podSelector": {"matchLabels": selector(description)},
            "policyTypes": ["Ingress"],
            "ingress": ingress,
        },
    })
}

/// The issuer and the certificate for cert-manager, if the certificates of the webhooks are mounted.
pub(in crate::render) fn certificates(description: &Description) -> Vec<Json> {
    if !is_mounted(description) {
        return Vec::new();
    }
    let operator = description.operator.as_str();
    let namespace = &*description.namespace;
    let name = webhook_service(operator);
    let host = format!("{name}.{namespace}.svc");
    let names = json!([host, format!("{host}.cluster.local")]);
    vec![
        json!({
            "apiVersion": "cert-manager.io/v1",
            "kind": "Issuer",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"selfSigned": {}},
        }),
        json!({
            "apiVersion": "cert-manager.io/v1",
            "kind": "Certificate",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"dnsNames": names, "issuerRef": {"kind": "Issuer", "name": name}, "secretName": name},
        }),
    ]
}
