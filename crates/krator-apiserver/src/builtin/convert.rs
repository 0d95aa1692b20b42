//! Fields that have another path in the internal types of the API server, after `pkg/apis/*/v1/conversion.go` of
//! Kubernetes, and the two forms of Events.

use super::decode::BASE64;
use super::json::{entries, get, list, remove, set, set_entry, set_or_remove, text};
use base64::Engine as _;
use serde_json::{Value as Json, json};

/// Internally, a pod has one list of addresses. `podIP` is the first of them, and takes precedence over the list.
pub(super) fn pod_addresses(pod: &mut Json) {
    let first = text(pod, "status.podIP").to_owned();
    let of_list = list(pod, "status.podIPs")
        .first()
        .map(|it| text(it, "ip").to_owned());
    match of_list {
        None if !first.is_empty() => set(pod, "status.podIPs", json!([{"ip": first}])),
        Some(other) if !first.is_empty() && other != first => {
            set(pod, "status.podIPs", json!([{"ip": first}]))
        }
        Some(other) if first.is_empty() => set(pod, "status.podIP", other),
        _ => {}
    }
}

/// Moves the texts of `stringData` to `data`, where they replace values.
pub(super) fn string_data_to_data(secret: &mut Json) {
    let texts: Vec<(String, String)> = entries(secret, "stringData")
        .map(|(key, value)| (key.clone(), BASE64.encode(value.as_str().unwrap_or_default())))
        .collect();
    for (key, value) in texts {
        set_entry(secret, "data", &key, value);
    }
    remove(secret, "stringData");
}

/// Converts an Event of `core/v1` to `events.k8s.io/v1`. Both are the same stored object.
pub(super) fn event_to_events(event: &Json) -> Json {
    rename(event, "events.k8s.io/v1", &EVENT_FIELDS)
}

/// Converts an Event of `events.k8s.io/v1` to `core/v1`.
pub(super) fn event_to_core(event: &Json) -> Json {
    let back: Vec<(&str, &str)> = EVENT_FIELDS
        .iter()
        .map(|(core, events)| (*events, *core))
        .collect();
    rename(event, "v1", &back)
}

/// Fields with other names in `core/v1` and `events.k8s.io/v1`.
const EVENT_FIELDS: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

fn rename(event: &Json, api_version: &str, names: &[(&str, &str)]) -> Json {
    let mut renamed = json!({});
    for (key, value) in event.as_object().into_iter().flatten() {
        let name = names
            .iter()
            .find(|(from, _)| from == key)
            .map_or(key.as_str(), |(_, to)| to);
        set(&mut renamed, name, value.clone());
    }
    set(&mut renamed, "apiVersion", api_version);
    renamed
}

/// Converts an autoscaler of `autoscaling/v2` to `autoscaling/v1`, which has only a target for the CPU.
pub(super) fn autoscaler_to_v1(autoscaler: &Json) -> Json {
    let mut older = autoscaler.clone();
    let mut metrics = list(autoscaler, "spec.metrics").iter();
    let share = metrics.find(|metric| text(metric, "resource.name") == "cpu");
    let share = share.and_then(|metric| get(metric, "resource.target.averageUtilization"));
    set_or_remove(&mut older, "spec.targetCPUUtilizationPercentage", share);
    for path in [
        "spec.metrics",
        "spec.behavior",
        "status.currentMetrics",
        "status.conditions",
    ] {
        remove(&mut older, path);
    }
    set(&mut older, "apiVersion", "autoscaling/v1");
    older
}

/// Converts an autoscaler of `autoscaling/v1` to `autoscaling/v2`.
pub(super) fn autoscaler_to_v2(autoscaler: &Json) -> Json {
    let mut newer = autoscaler.clone();
    if let Some(share) = get(autoscaler, "spec.targetCPUUtilizationPercentage") {
        let target = json!({"type": "Utilization", "averageUtilization": share});
        let metric = json!({"type": "Resource", "resource": {"name": "cpu", "target": target}});
        set(&mut newer, "spec.metrics", json!([metric]));
    }
    for path in [
        "spec.targetCPUUtilizationPercentage",
        "status.currentCPUUtilizationPercentage",
    ] {
        remove(&mut newer, path);
    }
    set(&mut newer, "apiVersion", "autoscaling/v2");
    newer
}
