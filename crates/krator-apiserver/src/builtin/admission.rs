//! What the admission plugins of a server with the usual flags do to builtin kinds: `DefaultTolerationSeconds`, `Priority`,
//! `RuntimeClass`, `StorageObjectInUseProtection` and `TaintNodesByCondition`, after `plugin/pkg/admission` of Kubernetes.
//! This server has no PriorityClasses of its own, and no RuntimeClasses.

use super::json::{get, int, list, set, text, texts};
use serde_json::{Value as Json, json};

/// PriorityClasses that every cluster has.
const SYSTEM_CLASSES: [(&str, i64); 2] = [
    ("system-cluster-critical", 2_000_000_000),
    ("system-node-critical", 2_000_001_000),
];

pub(super) fn node(node: &mut Json) -> Result<(), String> {
    let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
    let mut taints = list(node, "spec.taints").to_vec();
    if !taints.iter().any(|other| other["key"] == taint["key"]) {
        taints.push(taint);
    }
    set(node, "spec.taints", taints);
    Ok(())
}

/// Keeps an object until nothing uses it.
pub(super) fn add_finalizer(object: &mut Json, finalizer: &str) -> Result<(), String> {
    let mut finalizers = texts(object, "metadata.finalizers");
    if !finalizers.contains(&finalizer) {
        finalizers.push(finalizer);
    }
    let finalizers = json!(finalizers);
    set(object, "metadata.finalizers", finalizers);
    Ok(())
}

pub(super) fn pod(pod: &mut Json) -> Result<(), String> {
    priority(pod)?;
    let class = text(pod, "spec.runtimeClassName");
    if !class.is_empty() {
        return Err(format!("pod rejected: RuntimeClass {class:?} not found"));
    }
    toleration_seconds(pod);
    Ok(())
}

fn priority(pod: &mut Json) -> Result<(), String> {
    let class = text(pod, "spec.priorityClassName").to_owned();
    let found = SYSTEM_CLASSES.iter().find(|(name, _)| *name == class);
    let computed = match found {
        Some((_, priority)) => *priority,
        None if class.is_empty() => 0,
        None => return Err(format!("no PriorityClass with name {class} was found")),
    };
    if let Some(given) = int(pod, "spec.priority").filter(|given| *given != computed) {
        return Err(format!(
            "the integer value of priority ({given}) must not be provided in pod spec; priority admission controller computed {computed} from the given PriorityClass name"
        ));
    }
    let preemption = text(pod, "spec.preemptionPolicy");
    if !matches!(preemption, "" | "PreemptLowerPriority") {
        return Err(format!(
            "the string value of PreemptionPolicy ({preemption}) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name"
        ));
    }
    set(pod, "spec.priority", computed);
    set(pod, "spec.preemptionPolicy", "PreemptLowerPriority");
    Ok(())
}

/// Pods leave nodes that are gone for five minutes, unless they say otherwise.
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

/// What an update leaves out was computed before.
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
