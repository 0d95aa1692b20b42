//! The admission plugins for builtin kinds that a server has by default: `DefaultTolerationSeconds`, `Priority`,
//! `RuntimeClass`, `StorageObjectInUseProtection` and `TaintNodesByCondition`, after `plugin/pkg/admission` of
//! Kubernetes. The PriorityClasses that every cluster has are constants, and not stored.

use super::json::{get, int, list, set, text, texts};
use serde_json::{Value as Json, json};

/// Finds a cluster-scoped object by its group, its resource and its name.
pub type Find<'a> = &'a dyn Fn(&str, &str, &str) -> Option<Json>;

/// The PriorityClasses that every cluster has.
const SYSTEM_CLASSES: [(&str, i64); 2] = [
    ("system-cluster-critical", 2_000_000_000),
    ("system-node-critical", 2_000_001_000),
];

pub(super) fn node(node: &mut Json, _: Find<'_>) -> Result<(), String> {
    let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
    let mut taints = list(node, "spec.taints").to_vec();
    if !taints.iter().any(|other| other["key"] == taint["key"]) {
        taints.push(taint);
    }
    set(node, "spec.taints", taints);
    Ok(())
}

/// Adds a finalizer that keeps an object while it is used.
pub(super) fn add_finalizer(object: &mut Json, finalizer: &str) -> Result<(), String> {
    let mut finalizers = texts(object, "metadata.finalizers");
    if !finalizers.contains(&finalizer) {
        finalizers.push(finalizer);
    }
    let finalizers = json!(finalizers);
    set(object, "metadata.finalizers", finalizers);
    Ok(())
}

pub(super) fn pod(pod: &mut Json, find: Find<'_>) -> Result<(), String> {
    priority(pod, find)?;
    let class = text(pod, "spec.runtimeClassName");
    if !class.is_empty() && find("node.k8s.io", "runtimeclasses", class).is_none() {
        return Err(format!("pod rejected: RuntimeClass {class:?} not found"));
    }
    toleration_seconds(pod);
    Ok(())
}

fn priority(pod: &mut Json, find: Find<'_>) -> Result<(), String> {
    let name = text(pod, "spec.priorityClassName").to_owned();
    let of_system = SYSTEM_CLASSES.iter().find(|(system, _)| *system == name);
    let class = find("scheduling.k8s.io", "priorityclasses", &name);
    let computed = match (of_system, &class) {
        (Some((_, priority)), _) => *priority,
        (None, Some(class)) => int(class, "value").unwrap_or_default(),
        (None, None) if name.is_empty() => 0,
        (None, None) => return Err(format!("no PriorityClass with name {name} was found")),
    };
    let policy = class.as_ref().map_or("", |class| text(class, "preemptionPolicy"));
    let policy = if policy.is_empty() {
        "PreemptLowerPriority"
    } else {
        policy
    };
    if let Some(given) = int(pod, "spec.priority").filter(|given| *given != computed) {
        return Err(format!(
            "the integer value of priority ({given}) must not be provided in pod spec; priority admission controller computed {computed} from the given PriorityClass name"
        ));
    }
    let preemption = text(pod, "spec.preemptionPolicy");
    if !preemption.is_empty() && preemption != policy {
        return Err(format!(
            "the string value of PreemptionPolicy ({preemption}) must not be provided in pod spec; priority admission controller computed {policy} from the given PriorityClass name"
        ));
    }
    set(pod, "spec.priority", computed);
    set(pod, "spec.preemptionPolicy", policy);
    Ok(())
}

/// By default, pods tolerate a node that is not ready or unreachable for five minutes.
fn toleration_seconds(pod: &mut Json) {
    let mut tolerations = list(pod, "spec.tolerations").to_vec();
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let tolerates = |toleration: &Json| {
            let found = text(toleration, "key");
            (found == key || found.is_empty()) && matches!(text(toleration, "effect"), "" | "NoExecute")
        };
        if !tolerations.iter().any(tolerates) {
            tolerations.push(json!({
                "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300,
            }));
        }
    }
    set(pod, "spec.tolerations", tolerations);
}

/// Restores computed fields that an update omits.
pub(super) fn pod_update(pod: &mut Json, old: &Json) {
    for field in ["spec.priority", "spec.preemptionPolicy"] {
        if get(pod, field).is_none()
            && let Some(value) = get(old, field)
        {
            set(pod, field, value.clone());
        }
    }
    if get(pod, "metadata.deletionTimestamp").is_none() {
        toleration_seconds(pod);
    }
}
