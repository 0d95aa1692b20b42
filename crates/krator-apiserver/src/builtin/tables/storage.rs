//! Rows of volumes, claims and quotas.

use super::{storage_of, text_or};
use crate::builtin::json::{entries, entry, get, text, texts};
use serde_json::{Value as Json, json};

/// Claims and volumes that are being deleted say so instead of their phase.
fn phase(object: &Json) -> Json {
    match get(object, "metadata.deletionTimestamp") {
        Some(_) => json!("Terminating"),
        None => json!(text(object, "status.phase")),
    }
}

fn modes(modes: &[&str]) -> String {
    const SHORT: [(&str, &str); 4] = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let found = SHORT
        .iter()
        .filter(|(mode, _)| modes.contains(mode))
        .map(|(_, short)| *short);
    found.collect::<Vec<_>>().join(",")
}

/// The storage class, which used to be an annotation.
fn class(object: &Json) -> String {
    const ANNOTATION: &str = "volume.beta.kubernetes.io/storage-class";
    let old = entry(object, "metadata.annotations", ANNOTATION).and_then(Json::as_str);
    old.unwrap_or_else(|| text(object, "spec.storageClassName"))
        .to_owned()
}

pub(super) fn claim(claim: &Json, age: String) -> Vec<Json> {
    let volume = text(claim, "spec.volumeName");
    let (capacity, access) = match volume {
        "" => (String::new(), String::new()),
        _ => (
            storage_of(claim, "status.capacity").to_owned(),
            modes(&texts(claim, "status.accessModes")),
        ),
    };
    vec![
        json!(text(claim, "metadata.name")),
        phase(claim),
        json!(volume),
        json!(capacity),
        json!(access),
        json!(class(claim)),
        json!(text_or(claim, "spec.volumeAttributesClassName", "<unset>")),
        json!(age),
        json!(text_or(claim, "spec.volumeMode", "<unset>")),
    ]
}

pub(super) fn volume(volume: &Json, age: String) -> Vec<Json> {
    let claim = get(volume, "spec.claimRef");
    let claim = claim.map(|claim| format!("{}/{}", text(claim, "namespace"), text(claim, "name")));
    vec![
        json!(text(volume, "metadata.name")),
        json!(storage_of(volume, "spec.capacity")),
        json!(modes(&texts(volume, "spec.accessModes"))),
        json!(text(volume, "spec.persistentVolumeReclaimPolicy")),
        phase(volume),
        json!(claim.unwrap_or_default()),
        json!(class(volume)),
        json!(text_or(volume, "spec.volumeAttributesClassName", "<unset>")),
        json!(text(volume, "status.reason")),
        json!(age),
        json!(text_or(volume, "spec.volumeMode", "<unset>")),
    ]
}

pub(super) fn quota(quota: &Json, age: String) -> Vec<Json> {
    let mut limits = Vec::new();
    let mut requests = Vec::new();
    let mut hard: Vec<(&String, &Json)> = entries(quota, "status.hard").collect();
    hard.sort_by_key(|(name, _)| name.as_str());
    for (name, hard) in hard {
        let used = entry(quota, "status.used", name)
            .and_then(Json::as_str)
            .unwrap_or("0");
        let text = format!("{name}: {used}/{}", hard.as_str().unwrap_or("0"));
        if name.starts_with("limits.") {
            limits.push(text)
        } else {
            requests.push(text)
        }
    }
    vec![
        json!(text(quota, "metadata.name")),
        json!(requests.join(", ")),
        json!(limits.join(", ")),
        json!(age),
    ]
}
