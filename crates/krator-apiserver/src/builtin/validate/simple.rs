//! Kinds with few rules: ConfigMap, Secret, Namespace, ControllerRevision, Lease and PodDisruptionBudget.

use super::labels;
use super::report::{Report, root};
use super::workloads::int_or_percent;
use crate::builtin::decode::BASE64;
use crate::builtin::json::{entries, entry, flag, get, int, text, texts};
use crate::builtin::names;
use base64::Engine as _;
use krator_schema::Path;
use serde_json::Value as Json;

/// The size of all values of a ConfigMap or a Secret together.
const MOST_BYTES: usize = 1024 * 1024;
const IMMUTABLE: &str = "field is immutable when `immutable` is set";

pub(super) fn config_map(report: &mut Report, object: &Json) {
    let mut bytes = 0;
    for (key, value) in entries(object, "data") {
        let at = root("data").key(key);
        report.messages(&at, key.as_str(), names::config_key(key));
        if entry(object, "binaryData", key).is_some() {
            report.invalid(&at, key.as_str(), "duplicate of key present in binaryData");
        }
        bytes += value.as_str().map_or(0, str::len);
    }
    for (key, value) in entries(object, "binaryData") {
        report.messages(&root("binaryData").key(key), key.as_str(), names::config_key(key));
        bytes += decoded(value).len();
    }
    if bytes > MOST_BYTES {
        report.too_long(&root(""), MOST_BYTES);
    }
}

fn decoded(value: &Json) -> Vec<u8> {
    value
        .as_str()
        .and_then(|text| BASE64.decode(text).ok())
        .unwrap_or_default()
}

pub(super) fn config_map_update(report: &mut Report, object: &Json, old: &Json) {
    frozen(report, object, old, &["data", "binaryData"]);
    config_map(report, object);
}

/// Fields that cannot change once `immutable` is set.
fn frozen(report: &mut Report, object: &Json, old: &Json, fields: &[&str]) {
    if !flag(old, "immutable") {
        return;
    }
    if !flag(object, "immutable") {
        report.forbidden(&root("immutable"), IMMUTABLE);
    }
    for field in fields {
        if get(object, field) != get(old, field) {
            report.forbidden(&root(field), IMMUTABLE);
        }
    }
}

pub(super) fn secret(report: &mut Report, object: &Json) {
    let data = root("data");
    let mut bytes = 0;
    for (key, value) in entries(object, "data") {
        report.messages(&data.key(key), key.as_str(), names::config_key(key));
        bytes += decoded(value).len();
    }
    if bytes > MOST_BYTES {
        report.too_long(&data, MOST_BYTES);
    }
    let has = |key: &str| entry(object, "data", key).is_some();
    match text(object, "type") {
        "kubernetes.io/service-account-token" => {
            const NAME: &str = "kubernetes.io/service-account.name";
            let name = entry(object, "metadata.annotations", NAME)
                .and_then(Json::as_str)
                .unwrap_or_default();
            if name.is_empty() {
                report.required(&root("metadata.annotations").key(NAME), "");
            }
        }
        "kubernetes.io/dockercfg" => json_object(report, object, ".dockercfg"),
        "kubernetes.io/dockerconfigjson" => json_object(report, object, ".dockerconfigjson"),
        "kubernetes.io/basic-auth" if !has("username") && !has("password") => {
            report.required(&data.key("username"), "");
            report.required(&data.key("password"), "");
        }
        "kubernetes.io/ssh-auth" if text_of(object, "ssh-privatekey").is_empty() => {
            report.required(&data.key("ssh-privatekey"), "");
        }
        "kubernetes.io/tls" => {
            for key in ["tls.crt", "tls.key"].into_iter().filter(|key| !has(key)) {
                report.required(&data.key(key), "");
            }
        }
        _ => {}
    }
}

fn text_of<'a>(secret: &'a Json, key: &str) -> &'a str {
    entry(secret, "data", key)
        .and_then(Json::as_str)
        .unwrap_or_default()
}

/// The value must be an object of JSON.
fn json_object(report: &mut Report, secret: &Json, key: &str) {
    let at = root("data").key(key);
    let Some(value) = entry(secret, "data", key) else {
        report.required(&at, "");
        return;
    };
    let bytes = decoded(value);
    let detail = match serde_json::from_slice::<Json>(&bytes) {
        Ok(Json::Object(_) | Json::Null) => return,
        Ok(other) => {
            let kind = match other {
                Json::Array(_) => "array",
                Json::String(_) => "string",
                Json::Number(_) => "number",
                _ => "bool",
            };
            format!("json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}")
        }
        Err(_) => malformed(&bytes),
    };
    report.invalid(&at, "<secret contents redacted>", detail);
}

/// Go's words for malformed JSON, for the two most usual reasons.
fn malformed(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    match text.trim_start().chars().next() {
        Some(first) if !"{[\"-0123456789tfn".contains(first) => {
            format!("invalid character {first:?} looking for beginning of value")
        }
        _ => "unexpected end of JSON input".to_owned(),
    }
}

pub(super) fn secret_update(report: &mut Report, object: &Json, old: &Json) {
    report.immutable(&root("type"), object, old);
    frozen(report, object, old, &["data"]);
    secret(report, object);
}

pub(super) fn namespace(report: &mut Report, object: &Json) {
    finalizers(report, object, false);
}

/// The finalizers in the spec of a namespace. The path has an index only in requests to `/finalize`.
pub(super) fn finalizers(report: &mut Report, object: &Json, with_index: bool) {
    let list = root("spec.finalizers");
    for (index, finalizer) in texts(object, "spec.finalizers").into_iter().enumerate() {
        let at: Path = if with_index {
            list.index(index)
        } else {
            list.clone()
        };
        report.messages(&at, finalizer, names::qualified(finalizer));
        let is_standard = matches!(finalizer, "kubernetes" | "orphan" | "foregroundDeletion");
        if !finalizer.contains('/') && !is_standard {
            report.invalid(
                &at,
                finalizer,
                "name is neither a standard finalizer name nor is it fully qualified",
            );
        }
    }
}

pub(super) fn namespace_status(report: &mut Report, object: &Json) {
    let (phase, detail) = match get(object, "metadata.deletionTimestamp") {
        None => ("Active", "may only be 'Active' if `deletionTimestamp` is empty"),
        Some(_) => (
            "Terminating",
            "may only be 'Terminating' if `deletionTimestamp` is not empty",
        ),
    };
    if text(object, "status.phase") != phase {
        report.invalid(&root("status.Phase"), text(object, "status.phase"), detail);
    }
}

pub(super) fn controller_revision(report: &mut Report, object: &Json) {
    report.non_negative(&root("revision"), &object["revision"]);
    match get(object, "data") {
        None => report.required(&root("data"), "data is mandatory"),
        Some(Json::Object(_)) => {}
        Some(_) => report.required(&root("data"), "data must be a valid JSON object"),
    }
}

/// After `pkg/apis/coordination/validation`.
pub(super) fn lease(report: &mut Report, object: &Json) {
    let spec = root("spec");
    if let Some(seconds) = int(object, "spec.leaseDurationSeconds").filter(|seconds| *seconds <= 0) {
        report.invalid(
            &spec.field("leaseDurationSeconds"),
            seconds,
            "must be greater than 0",
        );
    }
    report.non_negative(
        &spec.field("leaseTransitions"),
        &object["spec"]["leaseTransitions"],
    );
}

/// After `pkg/apis/policy/validation`.
pub(super) fn disruption_budget(report: &mut Report, object: &Json) {
    let spec = root("spec");
    let (least, most) = (
        get(object, "spec.minAvailable"),
        get(object, "spec.maxUnavailable"),
    );
    if let (Some(_), Some(_)) = (least, most) {
        // The original prints its internal type, which has other names of fields.
        let budget = serde_json::json!({
            "MinAvailable": least,
            "Selector": object["spec"]["selector"],
            "MaxUnavailable": most,
            "UnhealthyPodEvictionPolicy": object["spec"]["unhealthyPodEvictionPolicy"],
        });
        report.invalid(
            &spec,
            budget,
            "minAvailable and maxUnavailable cannot be both set",
        );
    }
    for field in ["minAvailable", "maxUnavailable"] {
        if let Some(value) = get(&object["spec"], field) {
            int_or_percent(report, &spec.field(field), value);
        }
    }
    labels::selector(report, &spec.field("selector"), &object["spec"]["selector"]);
    if let Some(policy) = get(object, "spec.unhealthyPodEvictionPolicy").and_then(Json::as_str) {
        const POLICIES: [&str; 2] = ["AlwaysAllow", "IfHealthyBudget"];
        if !POLICIES.contains(&policy) {
            report.not_supported(&spec.field("unhealthyPodEvictionPolicy"), policy, &POLICIES);
        }
    }
}
