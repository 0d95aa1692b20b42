//! What Prometheus is told about an operator.

use serde_json::json;

use super::{NAME, Part};
use crate::model::Description;
use crate::plan::Ownership::Seeded;
use crate::render::deploy::metrics_name;

/// The parts of the component `monitoring`.
pub(super) fn parts(description: &Description) -> Vec<Part> {
    let operator = description.operator.as_str();
    let monitor = json!({
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "ServiceMonitor",
        "metadata": {"name": metrics_name(description), "namespace": description.namespace},
        "spec": {
            "endpoints": [{
                "port": "https",
                "path": "/metrics",
                "scheme": "https",
                "bearerTokenFile": "/var/run/secrets/kubernetes.io/serviceaccount/token",
                // The operator makes the certificate itself, unless one is mounted.
                "tlsConfig": {"insecureSkipVerify": true},
            }],
            "selector": {"matchLabels": {NAME: operator, super::COMPONENT: METRICS}},
        },
    });
    vec![Part {
        file: "monitor",
        component: METRICS,
        optional: Some("monitoring"),
        owner: Seeded,
        intro: format!(
            "# For the Prometheus operator. Its Prometheus needs the right to read the metrics:\n\
             # kubectl create clusterrolebinding {operator}-metrics --clusterrole={operator}-metrics-reader --serviceaccount=NAMESPACE:NAME\n",
        ),
        objects: vec![monitor],
    }]
}

/// The value of the label `app.kubernetes.io/component` of what has to do with metrics.
pub(super) const METRICS: &str = "metrics";
