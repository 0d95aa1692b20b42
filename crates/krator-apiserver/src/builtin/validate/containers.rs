//! Containers with their ports, variables, probes and mounts, after `validateContainerCommon` and its callers in
//! `pkg/apis/core/validation`.

use crate::builtin::json::{flag, get, int, list, text};
use crate::builtin::names;
use crate::builtin::report::Report;
use krator_schema::Path;
use serde_json::Value as Json;

/// The fields of a pod that variables can have, besides single labels and annotations.
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

/// The rules among the containers of a pod, and with its volumes.
pub(super) fn all(report: &mut Report, at: &Path, spec: &Json) {
    let both = ["containers", "initContainers"].into_iter();
    let both = both.flat_map(|field| {
        let containers = list(spec, field).iter().enumerate();
        containers.map(move |(index, container)| (field, index, container))
    });
    let all: Vec<(Path, &str, &Json)> = both
        .map(|(field, index, container)| (at.field(field).index(index), field, container))
        .collect();
    report.unique(
        all.iter()
            .map(|(at, _, container)| (at.field("name"), text(container, "name"))),
    );
    for (at, field, container) in all {
        mounts(report, &at, container, spec);
        if field == "initContainers" && text(container, "restartPolicy") != "Always" {
            for field in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
                if get(container, field).is_some() {
                    let detail = "may not be set for init containers without restartPolicy=Always";
                    report.forbidden(&at.field(field), detail);
                }
            }
        }
    }
}

fn mounts(report: &mut Report, at: &Path, container: &Json, spec: &Json) {
    let volumes = list(spec, "volumes");
    for field in ["volumeMounts", "volumeDevices"] {
        for (index, mount) in list(container, field).iter().enumerate() {
            let name = text(mount, "name");
            if !volumes.iter().any(|volume| text(volume, "name") == name) {
                report.not_found(&at.field(field).index(index).field("name"), name);
            }
        }
    }
    let mounts = list(container, "volumeMounts");
    for (index, mount) in mounts.iter().enumerate() {
        let path = text(mount, "mountPath");
        if mounts[..index]
            .iter()
            .any(|other| text(other, "mountPath") == path)
        {
            let at = at.field("volumeMounts").index(index).field("mountPath");
            report.invalid(&at, path, "must be unique");
        }
    }
}

pub(super) fn container(report: &mut Report, at: &Path, container: &Json) {
    report.text(at, container, "name", names::label);
    if text(container, "image").is_empty() {
        report.required(&at.field("image"), "");
    }
    let ports = list(container, "ports").iter().enumerate();
    report.unique(ports.map(|(index, port)| {
        let at = at.field("ports").index(index).field("name");
        (at, text(port, "name"))
    }));
    for field in ["livenessProbe", "startupProbe"] {
        let threshold = int(&container[field], "successThreshold");
        if let Some(threshold) = threshold.filter(|threshold| *threshold != 1) {
            report.invalid(&at.field(field).field("successThreshold"), threshold, "must be 1");
        }
    }
}

pub(super) fn port(report: &mut Report, at: &Path, port: &Json) {
    report.text(at, port, "name", names::port_name);
    match int(port, "containerPort").unwrap_or_default() {
        0 => report.required(&at.field("containerPort"), ""),
        _ => report.range(at, port, "containerPort", 1, 65535),
    }
    if int(port, "hostPort") != Some(0) {
        report.range(at, port, "hostPort", 1, 65535);
    }
}

pub(super) fn env_var(report: &mut Report, at: &Path, variable: &Json) {
    report.text(at, variable, "name", names::env_var);
    if get(variable, "valueFrom").is_some() && !text(variable, "value").is_empty() {
        let detail = "may not be specified when `value` is not empty";
        report.invalid(&at.field("valueFrom"), "", detail);
    }
}

pub(super) fn env_source(report: &mut Report, at: &Path, source: &Json) {
    const SOURCES: &str = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";
    exactly_one(report, at, source, &format!("must specify one of: {SOURCES}"));
    let field = text(source, "fieldRef.fieldPath");
    let maps = ["metadata.labels['", "metadata.annotations['"];
    let is_entry = maps.iter().any(|map| field.starts_with(map)) && field.ends_with("']");
    if !field.is_empty() && !is_entry && !POD_FIELDS.contains(&field) {
        let at = at.field("fieldRef").field("fieldPath");
        let detail = format!("error converting fieldPath: field label not supported: {field}");
        report.invalid(&at, field, detail);
    }
}

pub(super) fn env_from(report: &mut Report, at: &Path, source: &Json) {
    report.text(at, source, "prefix", names::env_var);
    // The original has no index in these paths.
    let list = at.parent().unwrap_or_default();
    let mut references = source.clone();
    crate::builtin::json::remove(&mut references, "prefix");
    exactly_one(
        report,
        &list,
        &references,
        "must specify one of: `configMapRef` or `secretRef`",
    );
    for (field, reference) in references.as_object().into_iter().flatten() {
        match text(reference, "name") {
            "" => report.required(&at.field(field).field("name"), ""),
            _ => report.text(&at.field(field), reference, "name", names::subdomain),
        }
    }
}

/// Exactly one of the fields of a source must be there.
fn exactly_one(report: &mut Report, at: &Path, source: &Json, none: &str) {
    match source.as_object().map_or(0, serde_json::Map::len) {
        0 => report.invalid(at, "", none),
        1 => {}
        _ => report.invalid(at, "", "may not have more than one field specified at a time"),
    }
}

/// A key of a ConfigMap or a Secret.
pub(super) fn key_selector(report: &mut Report, at: &Path, selector: &Json) {
    let name = text(selector, "name");
    report.messages(&at.field("name"), name, names::subdomain(name));
    report.text(at, selector, "key", names::config_key);
}

pub(super) fn probe(report: &mut Report, at: &Path, probe: &Json) {
    handler(report, at, probe);
    let grace = int(probe, "terminationGracePeriodSeconds");
    if let Some(seconds) = grace.filter(|seconds| *seconds <= 0) {
        let at = at.field("terminationGracePeriodSeconds");
        report.invalid(&at, seconds, "must be greater than 0");
    }
}

/// Checks the action of a probe or a hook.
pub(super) fn handler(report: &mut Report, at: &Path, handler: &Json) {
    let actions = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"].into_iter();
    let mut actions = actions.filter(|action| get(handler, action).is_some());
    if actions.next().is_none() {
        report.required(at, "must specify a handler type");
    }
    for other in actions {
        report.forbidden(&at.field(other), "may not specify more than 1 handler type");
    }
    if get(handler, "exec").is_some() && list(handler, "exec.command").is_empty() {
        report.required(&at.field("exec").field("command"), "");
    }
}

pub(super) fn action(report: &mut Report, at: &Path, action: &Json) {
    number_or_name(report, &at.field("port"), &action["port"]);
}

/// The number of a port, or its name.
pub(super) fn number_or_name(report: &mut Report, at: &Path, port: &Json) {
    match port.as_str() {
        Some(name) => report.messages(at, name, names::port_name(name)),
        None => {
            let number = port.as_i64().unwrap_or_default();
            report.messages(at, number, names::port_number(number));
        }
    }
}

pub(super) fn security_context(report: &mut Report, at: &Path, context: &Json) {
    if flag(context, "privileged") {
        // As with the flags of a server that nobody has set.
        report.forbidden(&at.field("privileged"), "disallowed by cluster policy");
    }
}
