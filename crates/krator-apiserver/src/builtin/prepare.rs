//! What the server itself sets before an object is validated and stored, after `PrepareForCreate` and `PrepareForUpdate`
//! of `pkg/registry/*/*/strategy.go` of Kubernetes.

mod service;

use super::Subresource;
use super::convert::TEMPLATE_GENERATION;
use super::decode::zero;
use super::json::{
    entries, entry, flag, get, int, list, list_mut, remove, set, set_entry, set_or_remove, text, texts,
};
use serde_json::{Value as Json, json};

/// How updates of a kind change its generation.
#[derive(PartialEq)]
enum Generation {
    /// The kind has none.
    None,
    /// It goes up if one of these fields changes.
    Of(&'static [&'static str]),
}

fn generation(type_name: &str) -> Generation {
    match type_name {
        "apps/v1.Deployment" => Generation::Of(&["spec", "metadata.annotations"]),
        "core/v1.PodTemplate" => Generation::Of(&["template"]),
        "apps/v1.StatefulSet"
        | "apps/v1.DaemonSet"
        | "apps/v1.ReplicaSet"
        | "core/v1.ReplicationController"
        | "core/v1.Pod"
        | "batch/v1.Job"
        | "batch/v1.CronJob"
        | "networking/v1.Ingress"
        | "networking/v1.IngressClass"
        | "networking/v1.NetworkPolicy"
        | "policy/v1.PodDisruptionBudget"
        | "apiextensions/v1.CustomResourceDefinition" => Generation::Of(&["spec"]),
        _ => Generation::None,
    }
}

/// Whether writes of the object itself ignore the status.
fn has_status(type_name: &str) -> bool {
    matches!(super::types::named(type_name), super::types::Named::Struct(fields) if fields.field("status").is_some())
}

pub(super) fn create(type_name: &'static str, object: &mut Json, now: &str) {
    // Nodes say their status themselves when they register.
    if has_status(type_name) && type_name != "core/v1.Node" && !is_review(type_name) {
        remove(object, "status");
    }
    if generation(type_name) == Generation::None {
        remove(object, "metadata.generation");
    } else {
        set(object, "metadata.generation", 1);
    }
    match type_name {
        "core/v1.Namespace" => {
            set(object, "status.phase", "Active");
            let mut finalizers = texts(object, "spec.finalizers");
            if !finalizers.contains(&"kubernetes") {
                finalizers.push("kubernetes");
            }
            let finalizers = json!(finalizers);
            set(object, "spec.finalizers", finalizers);
        }
        "core/v1.Pod" => {
            set(object, "status.phase", "Pending");
            let class = quality_of_service(object);
            set(object, "status.qosClass", class);
            scheduling_gates(object, now);
            merge_match_label_keys(object);
        }
        "coordination/v1.Lease" => coordinated_election(object),
        "apps/v1.StatefulSet" => remove(object, "spec.updateStrategy.rollingUpdate.maxUnavailable"),
        "core/v1.PersistentVolume" => set(object, "status.lastPhaseTransitionTime", now),
        "core/v1.ServiceAccount" => secrets_by_name(object),
        "core/v1.PersistentVolumeClaim" => data_sources(object),
        "apps/v1.DaemonSet" => {
            let given = entry(object, "metadata.annotations", TEMPLATE_GENERATION).and_then(Json::as_str);
            let count = given
                .and_then(|text| text.parse::<i64>().ok())
                .unwrap_or_default()
                .max(1);
            set_entry(
                object,
                "metadata.annotations",
                TEMPLATE_GENERATION,
                count.to_string(),
            );
        }
        "batch/v1.Job" if !flag(object, "spec.manualSelector") => job_selector(object),
        _ => {}
    }
}

fn is_review(type_name: &str) -> bool {
    type_name.ends_with("Review")
}

pub(super) fn update(type_name: &'static str, object: &mut Json, old: &Json, subresource: Subresource) {
    match subresource {
        Subresource::Main => update_main(type_name, object, old),
        Subresource::Status => update_status(type_name, object, old),
        Subresource::Finalize => set_or_remove(object, "status", get(old, "status")),
    }
}

fn update_main(type_name: &'static str, object: &mut Json, old: &Json) {
    if has_status(type_name) {
        set_or_remove(object, "status", get(old, "status"));
    }
    match type_name {
        "core/v1.Namespace" => set_or_remove(object, "spec.finalizers", get(old, "spec.finalizers")),
        "core/v1.Secret" if text(object, "type").is_empty() => {
            set_or_remove(object, "type", get(old, "type"))
        }
        "core/v1.Service" => service::drop_fields_of_old_type(object, old),
        "core/v1.ServiceAccount" => secrets_by_name(object),
        "coordination/v1.Lease" => coordinated_election(object),
        "apps/v1.StatefulSet" => remove(object, "spec.updateStrategy.rollingUpdate.maxUnavailable"),
        "core/v1.PersistentVolumeClaim" => data_sources(object),
        "apps/v1.DaemonSet" => {
            let before = entry(old, "metadata.annotations", TEMPLATE_GENERATION).and_then(Json::as_str);
            let before = before
                .and_then(|text| text.parse::<i64>().ok())
                .unwrap_or_default();
            let changed = get(object, "spec.template") != get(old, "spec.template");
            let count = before + i64::from(changed);
            set_entry(
                object,
                "metadata.annotations",
                TEMPLATE_GENERATION,
                count.to_string(),
            );
        }
        _ => {}
    }
    let before = int(old, "metadata.generation");
    let after = match generation(type_name) {
        Generation::Of(fields) if fields.iter().any(|field| get(object, field) != get(old, field)) => {
            Some(before.unwrap_or_default() + 1)
        }
        _ => before,
    };
    set_or_remove(object, "metadata.generation", after.map(Json::from).as_ref());
}

fn update_status(type_name: &'static str, object: &mut Json, old: &Json) {
    set_or_remove(object, "spec", get(old, "spec"));
    set_or_remove(object, "metadata.generation", get(old, "metadata.generation"));
    match type_name {
        "apps/v1.Deployment" => set_or_remove(object, "metadata.labels", get(old, "metadata.labels")),
        "core/v1.Pod" => {
            remove(object, "metadata.deletionTimestamp");
            set_or_remove(
                object,
                "metadata.deletionTimestamp",
                get(old, "metadata.deletionTimestamp"),
            );
            set_or_remove(
                object,
                "metadata.ownerReferences",
                get(old, "metadata.ownerReferences"),
            );
            if text(object, "status.qosClass").is_empty() {
                set_or_remove(object, "status.qosClass", get(old, "status.qosClass"));
            }
            if int(object, "status.observedGeneration").unwrap_or_default() == 0 {
                set_or_remove(
                    object,
                    "status.observedGeneration",
                    get(old, "status.observedGeneration"),
                );
            }
        }
        _ => {}
    }
    if get(object, "status").is_none() && has_status(type_name) {
        let empty = get(&zero(type_name), "status")
            .cloned()
            .unwrap_or_else(|| json!({}));
        set(object, "status", empty);
    }
}

/// The class by which a node chooses which pods to evict, after `pkg/apis/core/v1/helper/qos`.
fn quality_of_service(pod: &Json) -> &'static str {
    let containers = list(pod, "spec.containers")
        .iter()
        .chain(list(pod, "spec.initContainers"));
    let mut any = false;
    let mut guaranteed = true;
    for container in containers {
        let quantity = |list: &str, name: &str| {
            let text = entry(container, &format!("resources.{list}"), name)?.as_str()?;
            super::quantity::Quantity::parse(text)
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

/// A pod with scheduling gates is not scheduled, and says so from the beginning.
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

/// The labels of the pod under `matchLabelKeys` become part of the selectors.
fn merge_match_label_keys(pod: &mut Json) {
    let labels = get(pod, "metadata.labels").cloned().unwrap_or_default();
    for constraint in list_mut(pod, "spec.topologySpreadConstraints") {
        merge_keys(constraint, &labels, "matchLabelKeys", "In");
    }
    for affinity in ["podAffinity", "podAntiAffinity"] {
        let terms = format!("spec.affinity.{affinity}.requiredDuringSchedulingIgnoredDuringExecution");
        for term in list_mut(pod, &terms) {
            merge_keys(term, &labels, "matchLabelKeys", "In");
            merge_keys(term, &labels, "mismatchLabelKeys", "NotIn");
        }
        let terms = format!("spec.affinity.{affinity}.preferredDuringSchedulingIgnoredDuringExecution");
        for term in list_mut(pod, &terms).filter_map(|term| term.get_mut("podAffinityTerm")) {
            merge_keys(term, &labels, "matchLabelKeys", "In");
            merge_keys(term, &labels, "mismatchLabelKeys", "NotIn");
        }
    }
}

fn merge_keys(term: &mut Json, labels: &Json, keys: &str, operator: &str) {
    if get(term, "labelSelector").is_none() {
        return;
    }
    let found: Vec<Json> = texts(term, keys)
        .into_iter()
        .filter_map(|key| Some(json!({"key": key, "operator": operator, "values": [labels.get(key)?]})))
        .collect();
    if !found.is_empty() {
        let mut expressions = list(term, "labelSelector.matchExpressions").to_vec();
        expressions.extend(found);
        set(term, "labelSelector.matchExpressions", expressions);
    }
}

/// Fields of a feature that is off unless an administrator turns it on.
fn coordinated_election(lease: &mut Json) {
    remove(lease, "spec.strategy");
    remove(lease, "spec.preferredHolder");
}

/// Only the names of secrets are kept.
fn secrets_by_name(account: &mut Json) {
    for secret in list_mut(account, "secrets") {
        *secret = json!({"name": text(secret, "name")});
    }
}

/// `dataSource` and `dataSourceRef` are filled from each other. Only claims and snapshots can be a `dataSource`; others are
/// ignored, as they were before `dataSourceRef` was there.
fn data_sources(claim: &mut Json) {
    let source = &claim["spec"]["dataSource"];
    let is_known = matches!(
        (text(source, "apiGroup"), text(source, "kind")),
        ("", "PersistentVolumeClaim") | ("snapshot.storage.k8s.io", "VolumeSnapshot")
    );
    if !is_known {
        remove(claim, "spec.dataSource");
    }
    let (source, reference) = (
        get(claim, "spec.dataSource").cloned(),
        get(claim, "spec.dataSourceRef").cloned(),
    );
    match (source, reference) {
        (Some(source), None) => set(claim, "spec.dataSourceRef", source),
        (None, Some(reference)) if text(&reference, "namespace").is_empty() => {
            set(claim, "spec.dataSource", reference);
            remove(claim, "spec.dataSource.namespace");
        }
        _ => {}
    }
}

/// A Job selects its pods by its own uid, unless it says that it selects them itself.
fn job_selector(job: &mut Json) {
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
