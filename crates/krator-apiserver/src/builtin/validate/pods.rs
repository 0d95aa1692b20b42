//! Pods and their templates, after `ValidatePodSpec` and its callers in `pkg/apis/core/validation`.

use super::containers;
use super::labels;
use crate::builtin::json::{entry, flag, get, int, list, list_mut, remove, set_or_remove, text};
use crate::builtin::report::{Report, TypeRule, items, root};
use krator_schema::Path;
use serde_json::Value as Json;
use std::collections::BTreeSet;

pub(super) const TYPES: &[(&str, TypeRule)] = &[
    ("core.v1.PodSpec", |report, at, spec| {
        containers::all(report, at, spec);
        host_ports(report, at, spec);
    }),
    ("core.v1.PodTemplateSpec", |report, at, template| {
        labels::labels(report, &at.field("labels"), &template["metadata"]["labels"]);
    }),
];

/// Refuses a host port that two containers of a pod share. In the host network, a container's port must equal its host
/// port.
fn host_ports(report: &mut Report, at: &Path, spec: &Json) {
    let in_host_network = flag(spec, "hostNetwork");
    let mut seen = BTreeSet::new();
    let containers = items(at, spec, "containers");
    for (at, port) in containers.flat_map(|(at, container)| items(&at, container, "ports")) {
        let Some(number) = int(port, "hostPort").filter(|number| *number != 0) else {
            continue;
        };
        let at = at.field("hostPort");
        let key = format!("{}/{}/{number}", text(port, "protocol"), text(port, "hostIP"));
        if !seen.insert(key.clone()) {
            report.duplicate(&at, key);
        }
        let is_right = !in_host_network || int(port, "containerPort") == Some(number);
        report.unless(
            is_right,
            &at,
            number,
            "must match `containerPort` in the network of the host",
        );
    }
}

/// Validates an update of a pod, most of whose fields are immutable.
pub(in super::super) fn update(report: &mut Report, pod: &Json, old: &Json) {
    let at = root("spec");
    for field in ["containers", "initContainers"] {
        if list(&pod["spec"], field).len() != list(&old["spec"], field).len() {
            return report.forbidden(&at.field(field), "a pod keeps its containers");
        }
    }
    let deadline = |pod| int(pod, "spec.activeDeadlineSeconds");
    let (new_deadline, old_deadline) = (deadline(pod), deadline(old));
    let is_earlier = old_deadline.is_none_or(|old| new_deadline.is_some_and(|new| new <= old));
    let deadline_at = at.field("activeDeadlineSeconds");
    report.unless(is_earlier, &deadline_at, new_deadline, "can only become less");
    // Tolerations can be added, and the `tolerationSeconds` of existing ones can change.
    let same = |one: &Json, other: &Json| {
        ["key", "operator", "value", "effect"]
            .iter()
            .all(|field| one[field] == other[field])
    };
    let tolerations = list(pod, "spec.tolerations");
    let mut before = list(old, "spec.tolerations").iter();
    if before.any(|old| !tolerations.iter().any(|new| same(new, old))) {
        let detail = "existing toleration can not be modified except its tolerationSeconds";
        report.forbidden(&at.field("tolerations"), detail);
    }
    // In pods with scheduling gates, fields that affect scheduling can change, too.
    if list(old, "spec.schedulingGates").is_empty() && without_changeable(pod, old) != old["spec"] {
        report.forbidden(
            &at,
            "a pod only changes its images, activeDeadlineSeconds and tolerations",
        );
    }
}

/// The new spec with the old values of the mutable fields.
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
    // The server writes `serviceAccount` and `serviceAccountName`, but a client may have sent either of them.
    if entry(old, "spec", "serviceAccount").is_none() {
        remove(&mut spec, "serviceAccount");
    }
    spec
}

pub(in super::super) fn status(report: &mut Report, pod: &Json, old: &Json) {
    report.immutable(&root("status.qosClass"), pod, old);
}
