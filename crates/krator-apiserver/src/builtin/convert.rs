//! What happens to objects when the API server converts them to its internal types and back, after
//! `pkg/apis/*/v1/conversion.go` of Kubernetes.

use super::decode::BASE64;
use super::json::{
    entries, entry, flag, get, int, list, list_mut, remove, set, set_default, set_entry, text,
};
use base64::Engine as _;
use serde_json::{Value as Json, json};

/// What a DaemonSet counts its templates with.
pub(super) const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// Applies what is lost or moved on the way in.
pub(super) fn read(type_name: &str, object: &mut Json) {
    match type_name {
        "core/v1.Secret" => string_data_to_data(object),
        "core/v1.Pod" => pod_addresses(object),
        _ => {}
    }
}

/// A pod has one list of addresses; `podIP` is the first of them, and wins where both are there.
fn pod_addresses(pod: &mut Json) {
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

/// Texts of `stringData` replace the values of `data`.
fn string_data_to_data(secret: &mut Json) {
    let texts: Vec<(String, String)> = entries(secret, "stringData")
        .map(|(key, value)| (key.clone(), BASE64.encode(value.as_str().unwrap_or_default())))
        .collect();
    for (key, value) in texts {
        set_entry(secret, "data", &key, value);
    }
    remove(secret, "stringData");
}

/// Applies what is added on the way out. Doing it twice changes nothing.
pub(super) fn write(type_name: &str, object: &mut Json) {
    match type_name {
        "core/v1.Pod" => {
            service_account(object, "spec");
            if int(object, "spec.terminationGracePeriodSeconds").is_some_and(|seconds| seconds < 0) {
                set(object, "spec.terminationGracePeriodSeconds", 1);
            }
        }
        "core/v1.Service" if text(object, "spec.type") == "ExternalName" => {
            remove(object, "spec.internalTrafficPolicy");
        }
        "core/v1.PodTemplate" => service_account(object, "template.spec"),
        "core/v1.ReplicationController" | "apps/v1.Deployment" | "apps/v1.ReplicaSet" | "batch/v1.Job" => {
            service_account(object, "spec.template.spec");
        }
        "apps/v1.DaemonSet" => {
            service_account(object, "spec.template.spec");
            if entry(object, "metadata.annotations", TEMPLATE_GENERATION).is_none() {
                set_entry(object, "metadata.annotations", TEMPLATE_GENERATION, "0");
            }
        }
        "apps/v1.StatefulSet" => {
            service_account(object, "spec.template.spec");
            for claim in list_mut(object, "spec.volumeClaimTemplates") {
                set(claim, "apiVersion", "v1");
                set(claim, "kind", "PersistentVolumeClaim");
            }
        }
        "batch/v1.CronJob" => service_account(object, "spec.jobTemplate.spec.template.spec"),
        _ => {}
    }
}

/// `serviceAccount` is an older name of `serviceAccountName`, and both are written.
fn service_account(object: &mut Json, spec: &str) {
    if get(object, spec).is_none() {
        return;
    }
    let (name, old_name) = (
        format!("{spec}.serviceAccountName"),
        format!("{spec}.serviceAccount"),
    );
    let old = text(object, &old_name).to_owned();
    if !old.is_empty() {
        set_default(object, &name, old);
    }
    match text(object, &name).to_owned() {
        name if name.is_empty() => {}
        name => set(object, &old_name, name),
    }
    // False is not written, but null would stay.
    if get(object, &format!("{spec}.hostNetwork")).is_some() && !flag(object, &format!("{spec}.hostNetwork"))
    {
        remove(object, &format!("{spec}.hostNetwork"));
    }
}

/// An event of `core/v1` as one of `events.k8s.io/v1`. Both are the same stored object.
pub fn event_to_events(event: &Json) -> Json {
    rename(event, "events.k8s.io/v1", &EVENT_FIELDS)
}

/// An event of `events.k8s.io/v1` as one of `core/v1`.
pub fn event_to_core(event: &Json) -> Json {
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
