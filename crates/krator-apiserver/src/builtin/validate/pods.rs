//! Pods and their templates, after `ValidatePodSpec` and its callers in `pkg/apis/core/validation`.

use super::report::{Report, root};
use super::{containers, labels, scheduling, volumes};
use crate::builtin::json::{entry, flag, get, int, list, remove, set_or_remove, text, texts};
use crate::builtin::names;
use krator_schema::Path;
use serde_json::Value as Json;

/// The fields of a pod that can change, as the error about the others lists them.
const CHANGEABLE: &str = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/// A pod that is created.
pub(super) fn create(report: &mut Report, pod: &Json) {
    metadata_and_spec(report, pod);
    let at = root("spec");
    if !list(pod, "spec.ephemeralContainers").is_empty() {
        report.forbidden(&at.field("ephemeralContainers"), "cannot be set on create");
    }
    if !text(pod, "spec.nodeName").is_empty() && !list(pod, "spec.schedulingGates").is_empty() {
        report.forbidden(
            &at.field("nodeName"),
            "cannot be set until all schedulingGates have been cleared",
        );
    }
}

fn metadata_and_spec(report: &mut Report, pod: &Json) {
    let at = root("spec");
    spec(report, &at, &pod["spec"], true);
    if text(pod, "spec.serviceAccountName").is_empty() {
        for (index, volume) in list(pod, "spec.volumes").iter().enumerate() {
            for (source_index, source) in list(volume, "projected.sources").iter().enumerate() {
                if get(source, "serviceAccountToken").is_some() {
                    let sources = at
                        .field("volumes")
                        .index(index)
                        .field("projected")
                        .field("sources");
                    let at = sources.index(source_index).field("serviceAccountToken");
                    report.forbidden(&at, "must not be specified when serviceAccountName is not set");
                }
            }
        }
    }
    for field in ["containers", "initContainers"] {
        for (index, container) in list(&pod["spec"], field).iter().enumerate() {
            let image = text(container, "image");
            if image.trim() != image {
                let at = at.field(field).index(index).field("image");
                report.invalid(&at, image, "must not have leading or trailing whitespace");
            }
        }
    }
}

/// A template of pods.
pub(super) fn template(report: &mut Report, at: &Path, template: &Json) {
    labels::labels(report, &at.field("labels"), &template["metadata"]["labels"]);
    labels::annotations(
        report,
        &at.field("annotations"),
        &template["metadata"]["annotations"],
    );
    spec(report, &at.field("spec"), &template["spec"], false);
    if !list(template, "spec.ephemeralContainers").is_empty() {
        let at = at.field("spec").field("ephemeralContainers");
        report.forbidden(&at, "ephemeral containers not allowed in pod template");
    }
}

fn spec(report: &mut Report, at: &Path, spec: &Json, is_pod: bool) {
    let found_volumes = volumes::volumes(report, &at.field("volumes"), list(spec, "volumes"));
    containers::containers(report, at, spec, &found_volumes);
    host_network(report, at, spec, is_pod);
    report.one_of(
        &at.field("restartPolicy"),
        text(spec, "restartPolicy"),
        &["Always", "OnFailure", "Never"],
    );
    const DNS: [&str; 4] = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    report.one_of(&at.field("dnsPolicy"), text(spec, "dnsPolicy"), &DNS);
    labels::labels(report, &at.field("nodeSelector"), &spec["nodeSelector"]);
    security_context(report, &at.field("securityContext"), spec);
    scheduling::affinity(report, &at.field("affinity"), &spec["affinity"]);
    dns_config(report, &at.field("dnsConfig"), spec);
    for (index, gate) in list(spec, "readinessGates").iter().enumerate() {
        let type_ = text(gate, "conditionType");
        let at = at.field("readinessGates").index(index).field("conditionType");
        report.messages(&at, type_, names::qualified(type_));
    }
    scheduling::gates(
        report,
        &at.field("schedulingGates"),
        list(spec, "schedulingGates"),
    );
    scheduling::spread(report, &at.field("topologySpreadConstraints"), spec);
    spec_names(report, at, spec);
    scheduling::tolerations(report, &at.field("tolerations"), list(spec, "tolerations"));
    host_aliases(report, &at.field("hostAliases"), list(spec, "hostAliases"));
    for (field, check) in [
        ("priorityClassName", names::subdomain as fn(&str) -> Vec<String>),
        ("runtimeClassName", names::subdomain),
    ] {
        let name = text(spec, field);
        if !name.is_empty() {
            report.messages(&at.field(field), name, check(name));
        }
    }
    if let Some(policy) = get(spec, "preemptionPolicy").and_then(Json::as_str) {
        report.one_of(
            &at.field("preemptionPolicy"),
            policy,
            &["PreemptLowerPriority", "Never"],
        );
    }
    if get(spec, "os").is_some() {
        match text(spec, "os.name") {
            "" => report.required(&at.field("os").field("name"), ""),
            "linux" | "windows" => {}
            other => report.not_supported(&at.field("os"), other, &["linux", "windows"]),
        }
    }
    file_volumes(report, at, spec);
}

/// Variables from files need the volume of the file.
fn file_volumes(report: &mut Report, at: &Path, spec: &Json) {
    for field in ["containers", "initContainers"] {
        for (index, container) in list(spec, field).iter().enumerate() {
            for (env_index, variable) in list(container, "env").iter().enumerate() {
                let Some(file) = get(variable, "valueFrom.fileKeyRef") else {
                    continue;
                };
                let name = text(file, "volumeName");
                if !list(spec, "volumes")
                    .iter()
                    .any(|volume| text(volume, "name") == name)
                {
                    let at = at.field(field).index(index).field("env").index(env_index);
                    report.not_found(
                        &at.field("valueFrom").field("fileKeyRef").field("volumeName"),
                        name,
                    );
                }
            }
        }
    }
}

/// Names and numbers that the spec has in itself.
fn spec_names(report: &mut Report, at: &Path, spec: &Json) {
    for field in ["serviceAccountName", "nodeName"] {
        let name = text(spec, field);
        if !name.is_empty() {
            report.messages(&at.field(field), name, names::subdomain(name));
        }
    }
    if let Some(seconds) = int(spec, "activeDeadlineSeconds") {
        let messages = names::in_range(seconds, 1, i64::from(i32::MAX));
        report.messages(&at.field("activeDeadlineSeconds"), seconds, messages);
    }
    for field in ["hostname", "subdomain"] {
        let name = text(spec, field);
        if !name.is_empty() {
            report.messages(&at.field(field), name, names::label(name));
        }
    }
}

fn host_network(report: &mut Report, at: &Path, spec: &Json, is_pod: bool) {
    if !flag(spec, "hostNetwork") {
        return;
    }
    for (index, container) in list(spec, "containers").iter().enumerate() {
        for (port_index, port) in list(container, "ports").iter().enumerate() {
            let host = int(port, "hostPort").unwrap_or_default();
            if (is_pod || host != 0) && host != int(port, "containerPort").unwrap_or_default() {
                let at = at
                    .field("containers")
                    .index(index)
                    .field("ports")
                    .index(port_index)
                    .field("hostPort");
                report.invalid(&at, host, "must match `containerPort` when `hostNetwork` is true");
            }
        }
    }
}

fn security_context(report: &mut Report, at: &Path, spec: &Json) {
    let context = &spec["securityContext"];
    for field in ["fsGroup", "runAsUser", "runAsGroup"] {
        user_or_group(report, &at.field(field), &context[field]);
    }
    for (index, group) in list(context, "supplementalGroups").iter().enumerate() {
        user_or_group(report, &at.field("supplementalGroups").index(index), group);
    }
    if flag(spec, "shareProcessNamespace") && flag(spec, "hostPID") {
        let detail = "ShareProcessNamespace and HostPID cannot both be enabled";
        report.invalid(&at.field("shareProcessNamespace"), true, detail);
    }
    for (field, supported) in [
        ("fsGroupChangePolicy", ["Always", "OnRootMismatch"]),
        ("supplementalGroupsPolicy", ["Merge", "Strict"]),
        ("seLinuxChangePolicy", ["MountOption", "Recursive"]),
    ] {
        if let Some(policy) = get(context, field).and_then(Json::as_str)
            && !supported.contains(&policy)
        {
            report.not_supported(&at.field(field), policy, &supported);
        }
    }
    containers::seccomp_profile(report, &at.field("seccompProfile"), &context["seccompProfile"]);
}

/// Ids of users and groups.
pub(super) fn user_or_group(report: &mut Report, at: &Path, id: &Json) {
    if let Some(id) = id.as_i64() {
        report.messages(at, id, names::in_range(id, 0, i64::from(i32::MAX)));
    }
}

fn dns_config(report: &mut Report, at: &Path, spec: &Json) {
    let config = &spec["dnsConfig"];
    let servers = texts(config, "nameservers");
    if text(spec, "dnsPolicy") == "None" {
        if config.is_null() {
            return report.required(at, "must provide `dnsConfig` when `dnsPolicy` is None");
        }
        if servers.is_empty() {
            let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            return report.required(&at.field("nameservers"), detail);
        }
    }
    if servers.len() > 3 {
        let detail = "must not have more than 3 nameservers";
        report.invalid(&at.field("nameservers"), config["nameservers"].clone(), detail);
    }
    for (index, server) in servers.into_iter().enumerate() {
        ip(report, &at.field("nameservers").index(index), server);
    }
    for (index, option) in list(config, "options").iter().enumerate() {
        if text(option, "name").is_empty() {
            report.required(&at.field("options").index(index), "must not be empty");
        }
    }
}

/// An address that has to be one of IP.
pub(super) fn ip(report: &mut Report, at: &Path, address: &str) {
    if address.parse::<std::net::IpAddr>().is_err() {
        report.invalid(
            at,
            address,
            "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
        );
    }
}

fn host_aliases(report: &mut Report, at: &Path, aliases: &[Json]) {
    for (index, alias) in aliases.iter().enumerate() {
        ip(report, &at.index(index).field("ip"), text(alias, "ip"));
        for (name_index, name) in texts(alias, "hostnames").into_iter().enumerate() {
            let at = at.index(index).field("hostnames").index(name_index);
            report.messages(&at, name, names::subdomain(name));
        }
    }
}

/// A pod that is changed: only few fields can.
pub(super) fn update(report: &mut Report, pod: &Json, old: &Json) {
    metadata_and_spec(report, pod);
    let at = root("spec");
    for field in ["containers", "initContainers"] {
        if list(&pod["spec"], field).len() != list(&old["spec"], field).len() {
            return report.forbidden(&at.field(field), "pod updates may not add or remove containers");
        }
    }
    let deadline = int(pod, "spec.activeDeadlineSeconds");
    match (deadline, int(old, "spec.activeDeadlineSeconds")) {
        (Some(new), Some(old)) if old < new => {
            let detail = "must be less than or equal to previous value";
            return report.invalid(&at.field("activeDeadlineSeconds"), new, detail);
        }
        (None, Some(_)) => {
            let detail = "must not update from a positive integer to nil value";
            report.invalid(&at.field("activeDeadlineSeconds"), Json::Null, detail);
        }
        _ => {}
    }
    scheduling::only_added_tolerations(report, &at.field("tolerations"), pod, old);
    scheduling::only_removed_gates(report, &at.field("schedulingGates"), pod, old);
    if !list(old, "spec.schedulingGates").is_empty() {
        // Pods with gates can also change their node selector and affinity; see `beyond`.
        return;
    }
    if without_changeable(pod, old) != old["spec"] {
        report.forbidden(
            &at,
            format!("pod updates may not change fields other than {CHANGEABLE}\n"),
        );
    }
}

/// The new spec with the old values of the fields that can change.
fn without_changeable(pod: &Json, old: &Json) -> Json {
    let mut spec = pod["spec"].clone();
    for field in ["containers", "initContainers"] {
        for (container, old) in
            crate::builtin::json::list_mut(&mut spec, field).zip(list(&old["spec"], field))
        {
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

/// The status of a pod.
pub(super) fn status(report: &mut Report, pod: &Json, old: &Json) {
    let at = root("status");
    for (index, condition) in list(pod, "status.conditions").iter().enumerate() {
        let type_ = text(condition, "type");
        if !matches!(type_, "PodScheduled" | "Ready" | "Initialized") {
            report.messages(
                &at.field("conditions").index(index).field("Type"),
                type_,
                names::qualified(type_),
            );
        }
    }
    report.immutable(&at.field("qosClass"), pod, old);
    for field in ["containerStatuses", "initContainerStatuses"] {
        restarts(
            report,
            &at.field(field),
            list(&pod["status"], field),
            list(&old["status"], field),
            old,
        );
    }
}

/// Containers that ended do not run again if the pod says so.
fn restarts(report: &mut Report, at: &Path, new: &[Json], old: &[Json], pod: &Json) {
    let policy = text(pod, "spec.restartPolicy");
    if policy == "Always" {
        return;
    }
    for (index, status) in new.iter().enumerate() {
        let before = old
            .iter()
            .find(|before| text(before, "name") == text(status, "name"));
        let Some(code) = before.and_then(|before| int(before, "state.terminated.exitCode")) else {
            continue;
        };
        if (policy == "Never" || code == 0) && get(status, "state.terminated").is_none() {
            let detail = "may not be transitioned to non-terminated state";
            report.forbidden(&at.index(index).field("state"), detail);
        }
    }
}
