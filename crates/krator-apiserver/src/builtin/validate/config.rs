//! Kinds that contain data: ConfigMap, Secret, ControllerRevision and Event.

use crate::builtin::decode::BASE64;
use crate::builtin::json::{entries, entry, flag, get, text};
use crate::builtin::report::{Report, root};
use base64::Engine as _;
use serde_json::Value as Json;

/// The largest total size of the values of a ConfigMap or a Secret.
const MOST_BYTES: usize = 1024 * 1024;

pub(in super::super) fn config_map(report: &mut Report, object: &Json) {
    let mut bytes = size(object, "binaryData");
    for (key, value) in entries(object, "data") {
        let is_single = entry(object, "binaryData", key).is_none();
        report.unless(
            is_single,
            &root("data").key(key),
            key.as_str(),
            "binaryData has this key, too",
        );
        bytes += value.as_str().map_or(0, str::len);
    }
    if bytes > MOST_BYTES {
        report.too_long(&root(""), MOST_BYTES);
    }
}

/// The total size of the values of a map of bytes.
fn size(object: &Json, field: &str) -> usize {
    entries(object, field)
        .map(|(_, value)| decoded(value).len())
        .sum()
}

fn decoded(value: &Json) -> Vec<u8> {
    let bytes = value.as_str().and_then(|text| BASE64.decode(text).ok());
    bytes.unwrap_or_default()
}

/// Refuses changes of the data if `immutable` is set.
pub(in super::super) fn frozen(report: &mut Report, object: &Json, old: &Json) {
    if !flag(old, "immutable") {
        return;
    }
    for field in ["data", "binaryData", "immutable"] {
        if get(object, field) != get(old, field) {
            report.forbidden(&root(field), "field is immutable when `immutable` is set");
        }
    }
}

pub(in super::super) fn secret(report: &mut Report, object: &Json) {
    let data = root("data");
    if size(object, "data") > MOST_BYTES {
        report.too_long(&data, MOST_BYTES);
    }
    let has = |key: &str| entry(object, "data", key).is_some();
    let required: &[&str] = match text(object, "type") {
        "kubernetes.io/service-account-token" => {
            const NAME: &str = "kubernetes.io/service-account.name";
            if entry(object, "metadata.annotations", NAME).is_none() {
                report.required(&root("metadata.annotations").key(NAME), "");
            }
            &[]
        }
        "kubernetes.io/dockercfg" => &[".dockercfg"],
        "kubernetes.io/dockerconfigjson" => &[".dockerconfigjson"],
        "kubernetes.io/basic-auth" if !has("username") && !has("password") => &["username", "password"],
        "kubernetes.io/ssh-auth" => &["ssh-privatekey"],
        "kubernetes.io/tls" => &["tls.crt", "tls.key"],
        _ => &[],
    };
    for key in required {
        if !has(key) {
            report.required(&data.key(*key), "");
        }
    }
}

pub(in super::super) fn controller_revision(report: &mut Report, object: &Json) {
    if get(object, "data").is_none() {
        report.required(&root("data"), "");
    }
}

/// Events of `events.k8s.io` need an `eventTime`. After `pkg/apis/core/validation/events.go`.
pub(in super::super) fn new_event(report: &mut Report, event: &Json) {
    if get(event, "eventTime").is_none() {
        report.required(&root("eventTime"), "");
    }
}
