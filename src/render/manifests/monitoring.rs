//! The configuration of Prometheus for an operator.

use serde_json::{Value as Json, json};

use super::alert::{self, Alert};
use super::alerts::alerts;
use super::dashboard::dashboard;
use super::{NAME, Part, objectives};
use crate::model::{Description, Extra};
use crate::plan::Ownership::{Generated, Seeded};
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
                // The operator creates its own certificate, unless one is mounted.
                "tlsConfig": {"insecureSkipVerify": true},
            }],
            "selector": {"matchLabels": {NAME: operator, super::COMPONENT: METRICS}},
        },
    });
    let namespace = &description.namespace;
    let mut rules = objectives::recording_rules(description);
    rules.extend(
        alerts(description)
            .into_iter()
            .map(|alert| rule(description, alert)),
    );
    let rules = json!({
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": operator, "namespace": namespace},
        "spec": {"groups": [{"name": operator, "rules": rules}]},
    });
    // The key is the name of the file for Grafana, and the label is the one that its sidecar selects.
    let dashboard = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": format!("{operator}-dashboard"), "namespace": namespace, "labels": {"grafana_dashboard": "1"}},
        "data": {format!("{operator}.json"): dashboard(description)},
    });
    let part = |file, owner, object| Part {
        file,
        component: METRICS,
        optional: Some("monitoring"),
        extra: Some(Extra::Monitoring),
        owner,
        intro: String::new(),
        objects: vec![object],
    };
    vec![
        part("rules", Generated, rules),
        part("dashboard", Generated, dashboard),
        Part {
            file: "monitor",
            component: METRICS,
            optional: Some("monitoring"),
            extra: Some(Extra::Monitoring),
            owner: Seeded,
            intro: format!(
                "# For the Prometheus operator. Its Prometheus needs the right to read the metrics:\n\
             # kubectl create clusterrolebinding {operator}-metrics --clusterrole={operator}-metrics-reader --serviceaccount=NAMESPACE:NAME\n",
            ),
            objects: vec![monitor],
        },
    ]
}

fn rule(description: &Description, alert: Alert) -> Json {
    let (kind, state) = alert.about;
    let summary = match kind {
        Some(_) => alert.summary,
        None => format!("{}: {}", description.operator.as_str(), alert.summary),
    };
    let mut labels = json!({"severity": alert.severity});
    for (label, value) in [("kind", kind), ("state", state)] {
        if let Some(value) = value {
            labels[label] = value.into();
        }
    }
    let runbook = alert::address(description, &alert.section);
    json!({
        "alert": alert.name,
        "expr": alert.expression,
        "for": alert.hold,
        "labels": labels,
        "annotations": {"summary": summary, "runbook_url": runbook},
    })
}

/// The value of the label `app.kubernetes.io/component` of objects for metrics.
pub(super) const METRICS: &str = "metrics";
