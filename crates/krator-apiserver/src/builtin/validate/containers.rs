//! Containers, after `validateContainerCommon` and its callers in `pkg/apis/core/validation`.

mod env;
mod resources;

pub(super) use env::{pod_field, resource_field_ref};
pub(super) use resources::{requirements, resource_name as container_resource, value as resource_value};

use super::pods::user_or_group;
use super::report::Report;
use super::{probes, volumes::Volumes};
use crate::builtin::json::{entries, flag, get, int, list, text, texts};
use crate::builtin::names;
use krator_schema::Path;
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// All containers of a pod, also those that run before the others.
pub(super) fn containers(report: &mut Report, at: &Path, spec: &Json, volumes: &Volumes) {
    let (regular, init) = (list(spec, "containers"), list(spec, "initContainers"));
    let regular_at = at.field("containers");
    if regular.is_empty() {
        report.required(&regular_at, "");
    }
    let mut seen = BTreeSet::new();
    for (index, container) in regular.iter().enumerate() {
        let at = regular_at.index(index);
        common(report, &at, container, spec, volumes);
        if !seen.insert(text(container, "name")) {
            report.duplicate(&at.field("name"), text(container, "name"));
        }
        probes::all(report, &at, container, spec);
        if get(container, "restartPolicy").is_some() {
            let policy = text(container, "restartPolicy");
            if !["Always", "Never", "OnFailure"].contains(&policy) {
                report.not_supported(
                    &at.field("restartPolicy"),
                    policy,
                    &["Always", "Never", "OnFailure"],
                );
            }
        }
    }
    host_ports(report, &regular_at, regular);
    init_containers(report, &at.field("initContainers"), init, spec, volumes, seen);
}

fn restart_policy(report: &mut Report, at: &Path, container: &Json) {
    const POLICIES: [&str; 3] = ["Always", "Never", "OnFailure"];
    if let Some(policy) = get(container, "restartPolicy").and_then(Json::as_str)
        && !POLICIES.contains(&policy)
    {
        report.not_supported(at, policy, &POLICIES);
    }
}

fn init_containers<'a>(
    report: &mut Report,
    at: &Path,
    containers: &'a [Json],
    spec: &Json,
    volumes: &Volumes,
    mut seen: BTreeSet<&'a str>,
) {
    for (index, container) in containers.iter().enumerate() {
        let here = at.index(index);
        common(report, &here, container, spec, volumes);
        restart_policy(report, &here.field("restartPolicy"), container);
        let name = text(container, "name");
        if !name.is_empty() && !seen.insert(name) {
            report.duplicate(&here.field("name"), name);
        }
        host_ports(report, at, std::slice::from_ref(container));
        if text(container, "restartPolicy") == "Always" {
            probes::all(report, &here, container, spec);
            continue;
        }
        for field in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
            if get(container, field).is_some() {
                let detail = "may not be set for init containers without restartPolicy=Always";
                report.forbidden(&here.field(field), detail);
            }
        }
    }
}

fn common(report: &mut Report, at: &Path, container: &Json, spec: &Json, volumes: &Volumes) {
    match text(container, "name") {
        "" => report.required(&at.field("name"), ""),
        name => report.messages(&at.field("name"), name, names::label(name)),
    }
    if text(container, "image").is_empty() {
        report.required(&at.field("image"), "");
    }
    let policy = text(container, "terminationMessagePolicy");
    report.one_of(
        &at.field("terminationMessagePolicy"),
        policy,
        &["File", "FallbackToLogsOnError"],
    );
    ports(report, &at.field("ports"), list(container, "ports"));
    env::env(report, &at.field("env"), list(container, "env"));
    env::env_from(report, &at.field("envFrom"), list(container, "envFrom"));
    mounts(report, &at.field("volumeMounts"), container, volumes);
    devices(report, &at.field("volumeDevices"), container, volumes);
    let pull = text(container, "imagePullPolicy");
    report.one_of(
        &at.field("imagePullPolicy"),
        pull,
        &["Always", "IfNotPresent", "Never"],
    );
    requirements(report, &at.field("resources"), &container["resources"]);
    resize_policy(report, &at.field("resizePolicy"), container, spec);
    security_context(
        report,
        &at.field("securityContext"),
        &container["securityContext"],
    );
}

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

fn ports(report: &mut Report, at: &Path, ports: &[Json]) {
    let mut seen = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let at = at.index(index);
        let name = text(port, "name");
        if !name.is_empty() {
            let messages = names::port_name(name);
            if !messages.is_empty() {
                report.messages(&at.field("name"), name, messages);
            } else if !seen.insert(name) {
                report.duplicate(&at.field("name"), name);
            }
        }
        match int(port, "containerPort").unwrap_or_default() {
            0 => report.required(&at.field("containerPort"), ""),
            number => report.messages(&at.field("containerPort"), number, names::port_number(number)),
        }
        match int(port, "hostPort").unwrap_or_default() {
            0 => {}
            number => report.messages(&at.field("hostPort"), number, names::port_number(number)),
        }
        report.one_of(&at.field("protocol"), text(port, "protocol"), &PROTOCOLS);
    }
}

/// Two containers of a pod cannot have the same port of the host.
fn host_ports(report: &mut Report, at: &Path, containers: &[Json]) {
    let mut seen = BTreeSet::new();
    for (index, container) in containers.iter().enumerate() {
        for (port_index, port) in list(container, "ports").iter().enumerate() {
            let Some(number) = int(port, "hostPort").filter(|number| *number != 0) else {
                continue;
            };
            let key = format!("{}/{}/{number}", text(port, "protocol"), text(port, "hostIP"));
            if !seen.insert(key.clone()) {
                report.duplicate(
                    &at.index(index).field("ports").index(port_index).field("hostPort"),
                    key,
                );
            }
        }
    }
}

fn mounts(report: &mut Report, at: &Path, container: &Json, volumes: &Volumes) {
    let devices = list(container, "volumeDevices");
    let mut seen = BTreeSet::new();
    for (index, mount) in list(container, "volumeMounts").iter().enumerate() {
        let here = at.index(index);
        let (name, path) = (text(mount, "name"), text(mount, "mountPath"));
        if name.is_empty() {
            report.required(&here.field("name"), "");
        }
        if !volumes.contains_key(name) {
            report.not_found(&here.field("name"), name);
        }
        if path.is_empty() {
            report.required(&here.field("mountPath"), "");
        }
        if !seen.insert(path) {
            report.invalid(&here.field("mountPath"), path, "must be unique");
        }
        if devices.iter().any(|device| text(device, "name") == name) {
            report.invalid(
                &here.field("name"),
                name,
                "must not already exist in volumeDevices",
            );
        }
        if devices.iter().any(|device| text(device, "devicePath") == path) {
            let detail = "must not already exist as a path in volumeDevices";
            report.invalid(&here.field("mountPath"), path, detail);
        }
        // The original has no index in the paths of these two.
        for field in ["subPath", "subPathExpr"] {
            if !text(mount, field).is_empty() {
                super::volumes::descending_path(report, &at.field(field), text(mount, field));
            }
        }
        if !text(mount, "subPath").is_empty() && !text(mount, "subPathExpr").is_empty() {
            let detail = "subPathExpr and subPath are mutually exclusive";
            report.invalid(&here.field("subPathExpr"), text(mount, "subPathExpr"), detail);
        }
        if let Some(mode) = get(mount, "mountPropagation").and_then(Json::as_str) {
            propagation(report, &at.field("mountPropagation"), mode, container);
        }
    }
}

fn propagation(report: &mut Report, at: &Path, mode: &str, container: &Json) {
    const MODES: [&str; 3] = ["Bidirectional", "HostToContainer", "None"];
    if !MODES.contains(&mode) {
        report.not_supported(at, mode, &MODES);
    }
    if mode == "Bidirectional" && !flag(container, "securityContext.privileged") {
        report.forbidden(
            at,
            "Bidirectional mount propagation is available only to privileged containers",
        );
    }
}

fn devices(report: &mut Report, at: &Path, container: &Json, volumes: &Volumes) {
    let mut names_seen = BTreeSet::new();
    let mut paths_seen = BTreeSet::new();
    for (index, device) in list(container, "volumeDevices").iter().enumerate() {
        let at = at.index(index);
        let (name, path) = (text(device, "name"), text(device, "devicePath"));
        if name.is_empty() {
            report.required(&at.field("name"), "");
        }
        if !names_seen.insert(name) {
            report.invalid(&at.field("name"), name, "must be unique");
        }
        match volumes.get(name) {
            None => report.not_found(&at.field("name"), name),
            Some(volume) => {
                if get(volume, "persistentVolumeClaim").is_none() && get(volume, "ephemeral").is_none() {
                    let detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
                    report.invalid(&at.field("name"), name, detail);
                }
            }
        }
        if path.is_empty() {
            report.required(&at.field("devicePath"), "");
        }
        if !paths_seen.insert(path) {
            report.invalid(&at.field("devicePath"), path, "must be unique");
        }
        if path.split('/').any(|part| part == "..") {
            report.invalid(&at.field("devicePath"), path, "can not contain backsteps ('..')");
        }
    }
}

fn resize_policy(report: &mut Report, at: &Path, container: &Json, spec: &Json) {
    let mut seen = BTreeSet::new();
    for (index, policy) in list(container, "resizePolicy").iter().enumerate() {
        let (resource, restart) = (text(policy, "resourceName"), text(policy, "restartPolicy"));
        if !seen.insert(resource) {
            report.duplicate(&at.index(index), resource);
        }
        report.one_of(at, resource, &["cpu", "memory"]);
        report.one_of(at, restart, &["NotRequired", "RestartContainer"]);
        if text(spec, "restartPolicy") == "Never" && restart != "NotRequired" {
            report.invalid(
                at,
                restart,
                "must be 'NotRequired' when pod `restartPolicy` is 'Never'",
            );
        }
    }
}

fn security_context(report: &mut Report, at: &Path, context: &Json) {
    if flag(context, "privileged") {
        // As with the flags of a server that nobody has told otherwise.
        report.forbidden(&at.field("privileged"), "disallowed by cluster policy");
    }
    for field in ["runAsUser", "runAsGroup"] {
        user_or_group(report, &at.field(field), &context[field]);
    }
    seccomp_profile(report, &at.field("seccompProfile"), &context["seccompProfile"]);
    if get(context, "allowPrivilegeEscalation") == Some(&Json::Bool(false)) {
        if flag(context, "privileged") {
            let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
            report.invalid(at, context.clone(), detail);
        }
        if texts(context, "capabilities.add").contains(&"CAP_SYS_ADMIN") {
            let detail =
                "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
            report.invalid(at, context.clone(), detail);
        }
    }
}

/// After `validateSeccompProfileField`.
pub(super) fn seccomp_profile(report: &mut Report, at: &Path, profile: &Json) {
    if profile.is_null() {
        return;
    }
    let (type_, file) = (
        text(profile, "type"),
        get(profile, "localhostProfile").and_then(Json::as_str),
    );
    match type_ {
        "" => report.required(&at.field("type"), "type is required when seccompProfile is set"),
        type_ => report.one_of(
            &at.field("type"),
            type_,
            &["Localhost", "RuntimeDefault", "Unconfined"],
        ),
    }
    match (type_, file) {
        ("Localhost", None) => {
            report.required(
                &at.field("localhostProfile"),
                "must be set when seccomp type is Localhost",
            );
        }
        ("Localhost", Some(file)) => {
            super::volumes::descending_path(report, &at.field("localhostProfile"), file)
        }
        (_, Some(file)) => {
            // The original prints its internal type, which has other names of fields.
            let profile = serde_json::json!({"Type": type_, "LocalhostProfile": file});
            let detail = "can only be set when seccomp type is Localhost";
            report.invalid(&at.field("localhostProfile"), profile, detail);
        }
        (_, None) => {}
    }
}

/// The entries of a list of quantities.
fn quantities<'a>(resources: &'a Json, list: &str) -> Vec<(&'a str, &'a str)> {
    entries(resources, list)
        .map(|(name, value)| (name.as_str(), value.as_str().unwrap_or_default()))
        .collect()
}
