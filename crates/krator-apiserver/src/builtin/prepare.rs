//! The fields that the server sets before an object is validated and stored, after `PrepareForCreate` and `PrepareForUpdate`
//! of `pkg/registry/*/*/strategy.go` of Kubernetes.

mod service;

pub(super) use service::{checks_health, drop_fields_of_old_type as service_update, has_node_ports};

use super::decode::zero;
use super::json::{entries, entry, flag, get, int, list, remove, set, set_entry, set_or_remove, text, texts};
use super::rules::Rules;
use super::types::{Named, named};
use crate::request::Subresource;
use serde_json::{Value as Json, json};

/// The annotation with the generation of a DaemonSet's template.
pub(super) const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// Whether a type has a status, which writes of the main resource ignore.
pub(super) fn has_status(type_name: &str) -> bool {
    matches!(named(type_name), Named::Struct(fields) if fields.field("status").is_some())
}

pub(super) fn create(type_name: &'static str, rules: &Rules, object: &mut Json, now: &str) {
    if has_status(type_name) && !rules.comes_with_status {
        remove(object, "status");
    }
    if rules.generation.is_empty() {
        remove(object, "metadata.generation");
    } else {
        set(object, "metadata.generation", 1);
    }
    (rules.prepare)(object, now);
}

pub(super) fn update(
    type_name: &'static str,
    rules: &Rules,
    object: &mut Json,
    old: &Json,
    subresource: Subresource,
) {
    match subresource {
        Subresource::Status => update_status(type_name, rules, object, old),
        _ => update_main(type_name, rules, object, old),
    }
}

/// Restores the value at a path from the old object.
fn keep(object: &mut Json, old: &Json, path: &str) {
    set_or_remove(object, path, get(old, path));
}

fn update_main(type_name: &'static str, rules: &Rules, object: &mut Json, old: &Json) {
    if has_status(type_name) {
        keep(object, old, "status");
    }
    (rules.prepare_update)(object, old);
    keep(object, old, "metadata.generation");
    if rules
        .generation
        .iter()
        .any(|path| get(object, path) != get(old, path))
    {
        let before = int(old, "metadata.generation").unwrap_or_default();
        set(object, "metadata.generation", before + 1);
    }
}

fn update_status(type_name: &'static str, rules: &Rules, object: &mut Json, old: &Json) {
    for path in ["spec", "metadata.generation"].iter().chain(rules.kept_by_status) {
        keep(object, old, path);
    }
    (rules.prepare_status)(object, old);
    if get(object, "status").is_none() && has_status(type_name) {
        let empty = get(&zero(type_name), "status").cloned();
        set(object, "status", empty.unwrap_or_else(|| json!({})));
    }
}

pub(super) fn namespace(namespace: &mut Json, _now: &str) {
    set(namespace, "status.phase", "Active");
    let mut finalizers = texts(namespace, "spec.finalizers");
    if !finalizers.contains(&"kubernetes") {
        finalizers.push("kubernetes");
    }
    let finalizers = json!(finalizers);
    set(namespace, "spec.finalizers", finalizers);
}

pub(super) fn namespace_update(namespace: &mut Json, old: &Json) {
    keep(namespace, old, "spec.finalizers");
}

pub(super) fn secret_update(secret: &mut Json, old: &Json) {
    if text(secret, "type").is_empty() {
        keep(secret, old, "type");
    }
}

pub(super) fn volume(volume: &mut Json, now: &str) {
    set(volume, "status.lastPhaseTransitionTime", now);
}

fn template_generation(object: &Json) -> i64 {
    let count = entry(object, "metadata.annotations", TEMPLATE_GENERATION).and_then(Json::as_str);
    count.and_then(|text| text.parse().ok()).unwrap_or_default()
}

pub(super) fn daemon_set(daemons: &mut Json, _now: &str) {
    let count = template_generation(daemons).max(1).to_string();
    set_entry(daemons, "metadata.annotations", TEMPLATE_GENERATION, count);
}

pub(super) fn daemon_set_update(daemons: &mut Json, old: &Json) {
    let changed = get(daemons, "spec.template") != get(old, "spec.template");
    let count = template_generation(old) + i64::from(changed);
    set_entry(
        daemons,
        "metadata.annotations",
        TEMPLATE_GENERATION,
        count.to_string(),
    );
}

pub(super) fn pod(pod: &mut Json, now: &str) {
    set(pod, "status.phase", "Pending");
    let class = quality_of_service(pod);
    set(pod, "status.qosClass", class);
    scheduling_gates(pod, now);
}

pub(super) fn pod_status(pod: &mut Json, old: &Json) {
    if text(pod, "status.qosClass").is_empty() {
        keep(pod, old, "status.qosClass");
    }
    if int(pod, "status.observedGeneration").unwrap_or_default() == 0 {
        keep(pod, old, "status.observedGeneration");
    }
}

/// The quality of service class of a pod, which ranks pods for eviction, after `pkg/apis/core/v1/helper/qos`.
fn quality_of_service(pod: &Json) -> &'static str {
    let containers = list(pod, "spec.containers")
        .iter()
        .chain(list(pod, "spec.initContainers"));
    let mut any = false;
    let mut guaranteed = true;
    for container in containers {
        let quantity = |list: &str, name: &str| {
            let text = entry(container, &format!("resources.{list}"), name)?.as_str()?;
            krator_machine::Amount::parse(text)
                .ok()
                .filter(|quantity| !quantity.is_zero())
        };
        for name in ["cpu", "memory"] {
            let (request, limit) = (quantity("requests", name), quantity("limits", name));
            any |= request.is_some() || limit.is_some();
            guaranteed &= limit.is_some() && request == limit;
        }
    }
    match (any, guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

/// A pod with scheduling gates is not scheduled, and has a condition for that from its creation.
fn scheduling_gates(pod: &mut Json, now: &str) {
    if !list(pod, "spec.schedulingGates").is_empty() {
        let condition = json!({
            "type": "PodScheduled",
            "status": "False",
            "lastTransitionTime": now,
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
        });
        set(pod, "status.conditions", json!([condition]));
    }
}

/// A Job selects its pods by its own uid, unless it has `manualSelector`.
pub(super) fn job(job: &mut Json, _now: &str) {
    if flag(job, "spec.manualSelector") {
        return;
    }
    let (name, uid) = (
        text(job, "metadata.name").to_owned(),
        text(job, "metadata.uid").to_owned(),
    );
    const LABELS: &str = "spec.template.metadata.labels";
    let present: Vec<String> = entries(job, LABELS).map(|(key, _)| key.clone()).collect();
    for (label, value) in [
        ("job-name", &name),
        ("batch.kubernetes.io/job-name", &name),
        ("controller-uid", &uid),
        ("batch.kubernetes.io/controller-uid", &uid),
    ] {
        if !present.iter().any(|key| key == label) {
            set_entry(job, LABELS, label, value.as_str());
        }
    }
    const SELECTOR: &str = "spec.selector.matchLabels";
    if entry(job, SELECTOR, "batch.kubernetes.io/controller-uid").is_none() {
        set_entry(job, SELECTOR, "batch.kubernetes.io/controller-uid", uid);
    }
}
