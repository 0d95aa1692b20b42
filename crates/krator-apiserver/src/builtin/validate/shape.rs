//! Walks an object along its recorded OpenAPI schema. The walk validates required fields, enumerations and signs of
//! numbers wherever they occur, and calls the rules of each type and of its fields.

use super::table::{FIELDS, is_empty};
use super::{containers, labels, networking, pods, rbac, resources, services, volumes, workloads};
use crate::builtin::documents;
use crate::builtin::report::{Report, TypeRule, root};
use crate::types::referred;
use krator_schema::Path;
use serde_json::{Map, Value as Json};

/// The rules of types, by group, version and name. Each submodule has the rules of related types.
const TYPES: [&[(&str, TypeRule)]; 9] = [
    containers::TYPES,
    labels::TYPES,
    networking::TYPES,
    pods::TYPES,
    rbac::TYPES,
    resources::TYPES,
    services::TYPES,
    volumes::TYPES,
    workloads::TYPES,
];

/// Required fields that may be empty, or that have their own rules.
const NOT_REQUIRED: [(&str, &str); 9] = [
    ("apps.v1.DaemonSetSpec", "selector"),
    ("core.v1.HTTPHeader", "value"),
    ("core.v1.LimitRangeSpec", "limits"),
    ("core.v1.Sysctl", "value"),
    ("batch.v1.PodFailurePolicy", "rules"),
    ("storage.v1.CSINodeSpec", "drivers"),
    ("storage.v1.TokenRequest", "audience"),
    ("core.v1.TypedLocalObjectReference", "kind"),
    ("core.v1.TypedLocalObjectReference", "name"),
];

/// Numbers outside of a status that must not be negative. Other numbers have their own rules, or may be negative.
const NOT_NEGATIVE: [&str; 24] = [
    "activeDeadlineSeconds",
    "backoffLimit",
    "backoffLimitPerIndex",
    "completions",
    "failedJobsHistoryLimit",
    "failureThreshold",
    "initialDelaySeconds",
    "leaseTransitions",
    "maxFailedIndexes",
    "minReadySeconds",
    "parallelism",
    "partition",
    "periodSeconds",
    "progressDeadlineSeconds",
    "replicas",
    "revision",
    "revisionHistoryLimit",
    "start",
    "startingDeadlineSeconds",
    "succeededCount",
    "successThreshold",
    "successfulJobsHistoryLimit",
    "timeoutSeconds",
    "ttlSecondsAfterFinished",
];

/// Validates an object without its metadata and its status.
pub(super) fn object(report: &mut Report, type_name: &str, object: &Json) {
    let Some((name, schema)) = documents::schema(&type_name.replace('/', ".")) else {
        return;
    };
    let mut without_status = object.clone();
    if let Some(fields) = without_status.as_object_mut() {
        fields.shift_remove("status");
    }
    of_type(report, &Path::root(), name, schema, &without_status);
}

/// Validates the numbers of a status, all of which are counts.
pub(super) fn status(report: &mut Report, object: &Json) {
    for (field, value) in object["status"].as_object().into_iter().flatten() {
        report.non_negative(&root("status").field(field), value);
    }
}

fn of_type(report: &mut Report, at: &Path, name: &'static str, schema: &'static Json, value: &Json) {
    if name == "meta.v1.ObjectMeta" {
        return;
    }
    for (_, rule) in TYPES.into_iter().flatten().filter(|(of, _)| *of == name) {
        rule(report, at, value);
    }
    for (_, fields, check) in FIELDS.iter().filter(|(of, ..)| *of == name) {
        for field in *fields {
            check.run(report, &at.field(*field), &value[field]);
        }
    }
    let required = schema["required"].as_array().into_iter().flatten();
    for field in required.filter_map(Json::as_str) {
        if is_empty(&value[field]) && !NOT_REQUIRED.contains(&(name, field)) {
            report.required(&at.field(field), "");
        }
    }
    contents(report, at, schema, value);
}

fn contents(report: &mut Report, at: &Path, schema: &'static Json, value: &Json) {
    if let Some(reference) = referred(schema) {
        if let Some((name, schema)) = documents::schema(reference) {
            of_type(report, at, name, schema, value);
        }
        return;
    }
    match value {
        Json::Object(fields) => members(report, at, schema, fields),
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                contents(report, &at.index(index), &schema["items"], item);
            }
        }
        // An empty text counts as missing, and is reported where it is required.
        Json::String(text) if !text.is_empty() => {
            let allowed = schema["enum"].as_array().into_iter().flatten();
            let allowed: Vec<&str> = allowed.filter_map(Json::as_str).collect();
            if !allowed.is_empty() {
                report.one_of(at, text, &allowed);
            }
        }
        _ => {}
    }
}

fn members(report: &mut Report, at: &Path, schema: &'static Json, fields: &Map<String, Json>) {
    for (name, value) in fields {
        match schema["properties"].get(name) {
            Some(member) => {
                let at = at.field(name);
                if NOT_NEGATIVE.contains(&name.as_str()) {
                    report.non_negative(&at, value);
                }
                contents(report, &at, member, value);
            }
            None => contents(report, &at.key(name), &schema["additionalProperties"], value),
        }
    }
}
