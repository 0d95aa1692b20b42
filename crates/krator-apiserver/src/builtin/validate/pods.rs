//! Pods and their templates, after `ValidatePodSpec` and its callers in `pkg/apis/core/validation`.

use super::containers;
use super::labels;
use crate::builtin::json::{entry, flag, get, int, list, list_mut, remove, set_or_remove, text};
use crate::builtin::names;
use crate::builtin::report::{Report, TypeRule, root};
use krator_schema::Path;
use serde_json::Value as Json;
use std::collections::BTreeSet;

pub(super) const TYPES: &[(&str, TypeRule)] = &[
    ("core.v1.Container", containers::container),
    ("core.v1.ContainerPort", containers::port),
    ("core.v1.EnvVar", containers::env_var),
    ("core.v1.EnvVarSource", containers::env_source),
    ("core.v1.EnvFromSource", containers::env_from),
    ("core.v1.ConfigMapKeySelector", containers::key_selector),
    ("core.v1.SecretKeySelector", containers::key_selector),
    ("core.v1.Probe", containers::probe),
    ("core.v1.LifecycleHandler", containers::handler),
    ("core.v1.HTTPGetAction", containers::action),
    ("core.v1.TCPSocketAction", containers::action),
    ("core.v1.PodSpec", spec),
    ("core.v1.PodTemplateSpec", template),
    ("core.v1.SecurityContext", containers::security_context),
    ("core.v1.Toleration", |report, at, toleration| {
        report.text(at, toleration, "key", names::qualified);
    }),
];

/// The fields of a pod that can change, as the error about the others lists them.
const CHANGEABLE: &str = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

fn template(report: &mut Report, at: &Path, template: &Json) {
    let labels = &template["metadata"]["labels"];
    labels::labels(report, &at.field("labels"), labels);
}

fn spec(report: &mut Report, at: &Path, spec: &Json) {
    for field in [
        "serviceAccountName",
        "nodeName",
        "priorityClassName",
        "runtimeClassName",
    ] {
        report.text(at, spec, field, names::subdomain);
    }
    for field in ["hostname", "subdomain"] {
        report.text(at, spec, field, names::label);
    }
    report.range(at, spec, "activeDeadlineSeconds", 1, i64::from(i32::MAX));
    labels::labels(report, &at.field("nodeSelector"), &spec["nodeSelector"]);
    let at_volume = |index| at.field("volumes").index(index).field("name");
    let volumes = list(spec, "volumes").iter().enumerate();
    report.unique(volumes.map(|(index, volume)| (at_volume(index), text(volume, "name"))));
    containers::all(report, at, spec);
    host_ports(report, at, spec);
}

/// Two containers of a pod cannot have the same port of the host, and a container in the network of the host has its
/// ports there.
fn host_ports(report: &mut Report, at: &Path, spec: &Json) {
    let in_host_network = flag(spec, "hostNetwork");
    let mut seen = BTreeSet::new();
    for (index, container) in list(spec, "containers").iter().enumerate() {
        for (port_index, port) in list(container, "ports").iter().enumerate() {
            let Some(number) = int(port, "hostPort").filter(|number| *number != 0) else {
                continue;
            };
            let at = at
                .field("containers")
                .index(index)
                .field("ports")
                .index(port_index);
            let at = at.field("hostPort");
            let key = format!("{}/{}/{number}", text(port, "protocol"), text(port, "hostIP"));
            if !seen.insert(key.clone()) {
                report.duplicate(&at, key);
            }
            if in_host_network && int(port, "containerPort") != Some(number) {
                report.invalid(
                    &at,
                    number,
                    "must match `containerPort` when `hostNetwork` is true",
                );
            }
        }
    }
}

/// An address that has to be one of IP.
pub(in super::super) fn ip(report: &mut Report, at: &Path, address: &str) {
    if address.parse::<std::net::IpAddr>().is_err() {
        let detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
        report.invalid(at, address, detail);
    }
}

/// A pod that is changed: only few fields can.
pub(in super::super) fn update(report: &mut Report, pod: &Json, old: &Json) {
    let at = root("spec");
    for field in ["containers", "initContainers"] {
        if list(&pod["spec"], field).len() != list(&old["spec"], field).len() {
            return report.forbidden(&at.field(field), "pod updates may not add or remove containers");
        }
    }
    let deadline_at = at.field("activeDeadlineSeconds");
    let deadline = |pod| int(pod, "spec.activeDeadlineSeconds");
    match (deadline(pod), deadline(old)) {
        (Some(new), Some(old)) if old < new => {
            let detail = "must be less than or equal to previous value";
            report.invalid(&deadline_at, new, detail);
        }
        (None, Some(_)) => {
            let detail = "must not update from a positive integer to nil value";
            report.invalid(&deadline_at, Json::Null, detail);
        }
        _ => {}
    }
    // Tolerations can be added, and those that exist last another time.
    let same = |one: &Json, other: &Json| {
        ["key", "operator", "value", "effect"]
            .iter()
            .all(|field| one[field] == other[field])
    };
    let tolerations = list(pod, "spec.tolerations");
    if list(old, "spec.tolerations")
        .iter()
        .any(|old| !tolerations.iter().any(|new| same(new, old)))
    {
        let detail = "existing toleration can not be modified except its tolerationSeconds";
        report.forbidden(&at.field("tolerations"), detail);
    }
    // Pods with gates can also change where they run.
    if list(old, "spec.schedulingGates").is_empty() && without_changeable(pod, old) != old["spec"] {
        let detail = format!("pod updates may not change fields other than {CHANGEABLE}\n");
        report.forbidden(&at, detail);
    }
}

/// The new spec with the old values of the fields that can change.
fn without_changeable(pod: &Json, old: &Json) -> Json {
    let mut spec = pod["spec"].clone();
    for field in ["containers", "initContainers"] {
        for (container, old) in list_mut(&mut spec, field).zip(list(&old["spec"], field)) {
            set_or_remove(container, "image", get(old, "image"));
        }
    }
    for field in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
        set_or_remove(&mut spec, field, get(&old["spec"], field));
    }
    // Both names are written, and either may have been sent.
    if entry(old, "spec", "serviceAccount").is_none() {
        remove(&mut spec, "serviceAccount");
    }
    spec
}

pub(in super::super) fn status(report: &mut Report, pod: &Json, old: &Json) {
    report.immutable(&root("status.qosClass"), pod, old);
}
