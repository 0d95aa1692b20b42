//! Environment variables of containers.

use super::super::report::Report;
use super::super::volumes::no_backsteps;
use crate::builtin::json::{get, text};
use crate::builtin::names;
use krator_schema::Path;
use serde_json::Value as Json;

/// The fields of a pod that variables can have.
const POD_FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// Fields that the original can convert, but that variables cannot have.
const OTHER_FIELDS: [&str; 5] = [
    "metadata.annotations",
    "metadata.labels",
    "spec.restartPolicy",
    "spec.schedulerName",
    "status.phase",
];

pub(in super::super) const RESOURCE_FIELDS: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

pub(super) fn env(report: &mut Report, at: &Path, variables: &[Json]) {
    for (index, variable) in variables.iter().enumerate() {
        let at = at.index(index);
        match text(variable, "name") {
            "" => report.required(&at.field("name"), ""),
            name => report.messages(&at.field("name"), name, names::env_var(name)),
        }
        if let Some(from) = get(variable, "valueFrom") {
            value_from(report, &at.field("valueFrom"), variable, from);
        }
    }
}

fn value_from(report: &mut Report, at: &Path, variable: &Json, from: &Json) {
    let mut sources = 0;
    for (field, check) in [
        ("fieldRef", field_ref as fn(&mut Report, &Path, &Json)),
        ("resourceFieldRef", |report, at, source| {
            resource_field_ref(report, at, source, false)
        }),
        ("configMapKeyRef", key_ref),
        ("secretKeyRef", key_ref),
        ("fileKeyRef", file_key_ref),
    ] {
        if let Some(source) = get(from, field) {
            sources += 1;
            check(report, &at.field(field), source);
        }
    }
    if sources == 0 {
        let detail = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";
        report.invalid(at, "", detail);
    } else if !text(variable, "value").is_empty() {
        report.invalid(at, "", "may not be specified when `value` is not empty");
    } else if sources > 1 {
        report.invalid(at, "", "may not have more than one field specified at a time");
    }
}

fn field_ref(report: &mut Report, at: &Path, source: &Json) {
    pod_field(report, at, source, &POD_FIELDS);
}

/// A field of the pod; those in `allowed`, or one label or annotation.
pub(in super::super) fn pod_field(report: &mut Report, at: &Path, source: &Json, allowed: &[&str]) {
    let path = text(source, "fieldPath");
    if path.is_empty() {
        return report.required(&at.field("fieldPath"), "");
    }
    if let Some((field, key)) = path
        .strip_suffix(']')
        .and_then(|path| path.split_once("['").or(path.split_once('[')))
    {
        let key = key.trim_end_matches('\'');
        return match field {
            "metadata.annotations" => report.messages(at, key, names::qualified(&key.to_lowercase())),
            "metadata.labels" => report.messages(at, key, names::qualified(key)),
            field => report.invalid(at, field, "does not support subscript"),
        };
    }
    if allowed.contains(&path) {
        return;
    }
    if POD_FIELDS.contains(&path) || OTHER_FIELDS.contains(&path) {
        return report.not_supported(&at.field("fieldPath"), path, allowed);
    }
    let detail = format!("error converting fieldPath: field label not supported: {path}");
    report.invalid(&at.field("fieldPath"), path, detail);
}

/// A resource of a container; in volumes, the container has to be named.
pub(in super::super) fn resource_field_ref(report: &mut Report, at: &Path, source: &Json, in_volume: bool) {
    let resource = text(source, "resource");
    let is_huge_page =
        resource.starts_with("requests.hugepages-") || resource.starts_with("limits.hugepages-");
    if in_volume && text(source, "containerName").is_empty() {
        report.required(&at.field("containerName"), "");
    } else if resource.is_empty() {
        report.required(&at.field("resource"), "");
    } else if !RESOURCE_FIELDS.contains(&resource) && !is_huge_page {
        report.not_supported(&at.field("resource"), resource, &RESOURCE_FIELDS);
    }
    let divisor = text(source, "divisor");
    if matches!(divisor, "" | "0") {
        return;
    }
    let (allowed, detail): (&[&str], String) = match resource {
        "limits.cpu" | "requests.cpu" => (
            &["1", "1m"],
            "only divisor's values 1m and 1 are supported with the cpu resource".to_owned(),
        ),
        _ => {
            let what = match resource.split_once('.') {
                Some((_, "memory")) => "memory",
                Some((_, "ephemeral-storage")) => "local ephemeral storage",
                _ => "hugepages",
            };
            let values = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei";
            (
                &[
                    "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei",
                ],
                format!("only divisor's values {values} are supported with the {what} resource"),
            )
        }
    };
    if !allowed.contains(&divisor) {
        report.invalid(&at.field("divisor"), resource, detail);
    }
}

/// A key of a ConfigMap or a Secret.
fn key_ref(report: &mut Report, at: &Path, source: &Json) {
    let name = text(source, "name");
    report.messages(&at.field("name"), name, names::subdomain(name));
    match text(source, "key") {
        "" => report.required(&at.field("key"), ""),
        key => report.messages(&at.field("key"), key, names::config_key(key)),
    }
}

/// A key of a file in a volume.
fn file_key_ref(report: &mut Report, at: &Path, source: &Json) {
    for (field, check) in [
        ("key", names::env_var as fn(&str) -> Vec<String>),
        ("volumeName", names::label),
    ] {
        match text(source, field) {
            "" => report.required(&at.field(field), ""),
            value => report.messages(&at.field(field), value, check(value)),
        }
    }
    match text(source, "path") {
        "" => report.required(&at.field("path"), ""),
        path => no_backsteps(report, &at.field("path"), path),
    }
}

pub(super) fn env_from(report: &mut Report, at: &Path, sources: &[Json]) {
    for (index, source) in sources.iter().enumerate() {
        let here = at.index(index);
        let prefix = text(source, "prefix");
        if !prefix.is_empty() {
            report.messages(&here.field("prefix"), prefix, names::env_var(prefix));
        }
        let mut count = 0;
        for field in ["configMapRef", "secretRef"] {
            if let Some(reference) = get(source, field) {
                count += 1;
                match text(reference, "name") {
                    "" => report.required(&here.field(field).field("name"), ""),
                    name => report.messages(&here.field(field).field("name"), name, names::subdomain(name)),
                }
            }
        }
        // The original has no index in these two paths.
        if count == 0 {
            report.invalid(at, "", "must specify one of: `configMapRef` or `secretRef`");
        } else if count > 1 {
            report.invalid(at, "", "may not have more than one field specified at a time");
        }
    }
}
