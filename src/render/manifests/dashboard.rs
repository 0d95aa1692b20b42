//! A dashboard for Grafana with the states of the objects and the work of the operator.

use serde_json::{Value as Json, json};

use crate::model::Description;
use crate::render::deploy::metrics_name;

/// A graph.
struct Panel {
    title: String,
    /// The unit of Grafana.
    unit: &'static str,
    /// Queries in PromQL, each with the name of its lines.
    queries: Vec<(String, &'static str)>,
}

/// The dashboard as JSON.
pub(super) fn dashboard(description: &Description) -> String {
    let panels = panels(description);
    let panels = panels.iter().enumerate().map(|(at, panel)| drawn(at, panel));
    let dashboard = json!({
        "uid": description.operator.as_str(),
        "title": description.operator.as_str(),
        "tags": ["krator"],
        "editable": true,
        "schemaVersion": 39,
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [{"name": "datasource", "type": "datasource", "query": "prometheus"}]},
        "panels": panels.collect::<Vec<_>>(),
    });
    serde_json::to_string_pretty(&dashboard).expect("its keys are texts") + "\n"
}

fn panels(description: &Description) -> Vec<Panel> {
    let mut panels = Vec::new();
    for kind in &description.kinds {
        let resource = &kind.resource;
        let name = resource.kind.as_str();
        let labels = format!("group=\"{}\",kind=\"{name}\"", resource.group.as_str());
        let mut add = |title: String, unit, queries| panels.push(Panel { title, unit, queries });
        add(
            format!("{name}: objects in each state"),
            "short",
            vec![
                (
                    format!("sum by (state) (krator_objects{{{labels}}})"),
                    "{{state}}",
                ),
                (
                    format!("sum(krator_parked_objects{{{labels}}})"),
                    "in an unknown state",
                ),
            ],
        );
        add(
            format!("{name}: age of the oldest object in each state"),
            "s",
            vec![(
                format!(
                    "time() - max by (state) (krator_state_oldest_entry_timestamp_seconds{{{labels}}} > 0)"
                ),
                "{{state}}",
            )],
        );
        add(
            format!("{name}: entries into states"),
            "ops",
            vec![(
                format!("sum by (to) (rate(krator_transitions_total{{{labels}}}[5m]))"),
                "{{to}}",
            )],
        );
        add(
            format!("{name}: errors of handlers"),
            "ops",
            vec![
                (
                    format!("sum by (state, class) (rate(krator_handler_errors_total{{{labels}}}[5m]))"),
                    "{{state}} {{class}}",
                ),
                (
                    format!("sum by (state) (rate(krator_retries_exhausted_total{{{labels}}}[5m]))"),
                    "{{state}} without a retry left",
                ),
            ],
        );
        add(
            format!("{name}: duration of handlers, 99th percentile"),
            "s",
            vec![(
                format!(
                    "histogram_quantile(0.99, sum by (state, le) (rate(krator_handler_duration_seconds_bucket{{{labels}}}[5m])))"
                ),
                "{{state}}",
            )],
        );
    }
    let job = format!("job=\"{}\"", metrics_name(description));
    let mut add = |title: &str, unit, queries| {
        panels.push(Panel {
            title: title.to_owned(),
            unit,
            queries,
        });
    };
    add(
        "Requests to the API server",
        "reqps",
        vec![(
            format!("sum by (method, code) (rate(rest_client_requests_total{{{job}}}[5m]))"),
            "{{method}} {{code}}",
        )],
    );
    add(
        "Memory of the pods",
        "bytes",
        vec![(format!("process_resident_memory_bytes{{{job}}}"), "{{pod}}")],
    );
    add(
        "CPU of the pods",
        "short",
        vec![(format!("rate(process_cpu_seconds_total{{{job}}}[5m])"), "{{pod}}")],
    );
    if description.has_webhooks() {
        add(
            "Duration of webhooks, 99th percentile",
            "s",
            vec![(
                format!(
                    "histogram_quantile(0.99, sum by (webhook, le) (rate(controller_runtime_webhook_latency_seconds_bucket{{{job}}}[5m])))"
                ),
                "{{webhook}}",
            )],
        );
    }
    panels
}

/// A panel in the format of Grafana, in two columns.
fn drawn(at: usize, panel: &Panel) -> Json {
    const DATASOURCE: &str = "${datasource}";
    let source = json!({"type": "prometheus", "uid": DATASOURCE});
    let targets = panel.queries.iter().zip('A'..).map(|((query, legend), name)| {
        json!({"refId": name, "datasource": source, "expr": query, "legendFormat": legend})
    });
    json!({
        "id": at + 1,
        "type": "timeseries",
        "title": panel.title,
        "datasource": source,
        "gridPos": {"h": 8, "w": 12, "x": at % 2 * 12, "y": at / 2 * 8},
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "targets": targets.collect::<Vec<_>>(),
    })
}
