//! Containers with their variables, probes and mounts, after `validateContainerCommon` and its callers in
//! `pkg/apis/core/validation`.

use crate::builtin::json::{flag, get, int, list, remove, text};
use crate::builtin::names;
use crate::builtin::report::{Report, TypeRule, below, items};
use krator_schema::Path;
use serde_json::Value as Json;

pub(super) const TYPES: &[(&str, TypeRule)] = &[
    ("core.v1.Container", |report, at, container| {
        for field in ["livenessProbe", "startupProbe"] {
            if let Some(threshold) = int(&container[field], "successThreshold") {
                let at = at.field(field).field("successThreshold");
                report.unless(threshold == 1, &at, threshold, "must be 1");
            }
        }
    }),
    ("core.v1.EnvFromSource", env_from),
    ("core.v1.EnvVar", |report, at, variable| {
        let both = get(variable, "valueFrom").is_some() && !text(variable, "value").is_empty();
        report.unless(!both, &at.field("valueFrom"), "", "may not be set beside `value`");
    }),
    ("core.v1.EnvVarSource", env_source),
    ("core.v1.LifecycleHandler", handler),
    ("core.v1.Probe", handler),
    ("core.v1.SecurityContext", |report, at, context| {
        if flag(context, "privileged") {
            // The server flag `--allow-privileged` is off by default.
            report.forbidden(&at.field("privileged"), "disallowed by cluster policy");
        }
    }),
];

/// The fields of a pod to which variables can refer, besides single labels and annotations.
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

/// The rules between the containers of a pod, and between containers and volumes.
pub(super) fn all(report: &mut Report, at: &Path, spec: &Json) {
    let both = || {
        ["containers", "initContainers"]
            .into_iter()
            .flat_map(|field| items(at, spec, field))
    };
    report.unique(both().map(|(at, container)| (at.field("name"), text(container, "name"))));
    for (at, container) in both() {
        mounts(report, &at, container, spec);
    }
    for (at, container) in items(at, spec, "initContainers") {
        for field in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
            if text(container, "restartPolicy") != "Always" && get(container, field).is_some() {
                report.forbidden(
                    &at.field(field),
                    "init containers only have it with restartPolicy=Always",
                );
            }
        }
    }
}

fn mounts(report: &mut Report, at: &Path, container: &Json, spec: &Json) {
    let volumes = list(spec, "volumes");
    for field in ["volumeMounts", "volumeDevices"] {
        for (at, mount) in items(at, container, field) {
            let name = text(mount, "name");
            let is_there = volumes.iter().any(|volume| text(volume, "name") == name);
            report.unless(is_there, &at.field("name"), name, "the pod has no such volume");
        }
    }
    let mounts = list(container, "volumeMounts");
    for (index, (at, mount)) in items(at, container, "volumeMounts").enumerate() {
        let path = text(mount, "mountPath");
        let is_new = mounts[..index]
            .iter()
            .all(|other| text(other, "mountPath") != path);
        report.unless(is_new, &at.field("mountPath"), path, "must be unique");
    }
}

fn env_source(report: &mut Report, at: &Path, source: &Json) {
    exactly_one(report, at, source);
    let field = text(source, "fieldRef.fieldPath");
    let maps = ["metadata.labels['", "metadata.annotations['"];
    let is_entry = maps.iter().any(|map| field.starts_with(map)) && field.ends_with("']");
    let is_known = field.is_empty() || is_entry || POD_FIELDS.contains(&field);
    report.unless(
        is_known,
        &below(at, "fieldRef.fieldPath"),
        field,
        "variables cannot have this field",
    );
}

fn env_from(report: &mut Report, at: &Path, source: &Json) {
    let mut references = source.clone();
    remove(&mut references, "prefix");
    // The original has no index in this path.
    exactly_one(report, &at.parent().unwrap_or_default(), &references);
    for (field, reference) in references.as_object().into_iter().flatten() {
        let at = at.field(field).field("name");
        match text(reference, "name") {
            "" => report.required(&at, ""),
            name => report.messages(&at, name, names::subdomain(name)),
        }
    }
}

/// Requires exactly one field of a source.
fn exactly_one(report: &mut Report, at: &Path, source: &Json) {
    let is_one = source.as_object().is_some_and(|fields| fields.len() == 1);
    report.unless(is_one, at, "", "must have exactly one source");
}

/// Validates the action of a probe or a hook.
fn handler(report: &mut Report, at: &Path, handler: &Json) {
    let actions = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"].into_iter();
    let mut actions = actions.filter(|action| get(handler, action).is_some());
    if actions.next().is_none() {
        report.required(at, "must have an action");
    }
    for other in actions {
        report.forbidden(&at.field(other), "there is an action already");
    }
}

pub(super) fn port_number(report: &mut Report, at: &Path, port: &Json) {
    report.within(at, port.as_i64().unwrap_or_default(), 1, 65535);
}

/// Validates a port number or a port name.
pub(super) fn port(report: &mut Report, at: &Path, port: &Json) {
    match port.as_str() {
        Some(name) => report.messages(at, name, names::port_name(name)),
        None => port_number(report, at, port),
    }
}
