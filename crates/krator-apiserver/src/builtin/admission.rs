//! What the admission plugins of a server with the usual flags do to builtin kinds: `DefaultTolerationSeconds`, `Priority`,
//! `RuntimeClass`, `StorageObjectInUseProtection` and `TaintNodesByCondition`, after `plugin/pkg/admission` of Kubernetes.
//! This server has no PriorityClasses of its own, and no RuntimeClasses.

use super::json::{entry, get, int, list, set, text, texts};
use serde_json::{Value as Json, json};

/// PriorityClasses that every cluster has.
const SYSTEM_CLASSES: [(&str, i64); 2] = [
    ("system-cluster-critical", 2_000_000_000),
    ("system-node-critical", 2_000_001_000),
];

/// Changes a new object; the error says why it is forbidden.
pub(super) fn create(type_name: &str, object: &mut Json) -> Result<(), String> {
    match type_name {
        "core/v1.Pod" => pod(object),
        "core/v1.PersistentVolumeClaim" => {
            add_finalizer(object, "kubernetes.io/pvc-protection");
            Ok(())
        }
        "core/v1.PersistentVolume" => {
            add_finalizer(object, "kubernetes.io/pv-protection");
            Ok(())
        }
        "core/v1.Node" => {
            let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
            let mut taints = list(object, "spec.taints").to_vec();
            let is_there = |taint: &Json| text(taint, "key") == "node.kubernetes.io/not-ready";
            if !taints.iter().any(is_there) {
                taints.push(taint);
            }
            set(object, "spec.taints", taints);
            Ok(())
        }
        _ => Ok(()),
    }
}

fn add_finalizer(object: &mut Json, finalizer: &str) {
    let mut finalizers = texts(object, "metadata.finalizers");
    if !finalizers.contains(&finalizer) {
        finalizers.push(finalizer);
    }
    let finalizers = json!(finalizers);
    set(object, "metadata.finalizers", finalizers);
}

fn pod(pod: &mut Json) -> Result<(), String> {
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

/// Changes an updated object.
pub(super) fn update(type_name: &str, object: &mut Json, old: &Json) {
    if type_name != "core/v1.Pod" {
        return;
    }
    // What an update leaves out was computed before.
    for field in ["spec.priority", "spec.preemptionPolicy"] {
        if get(object, field).is_none()
            && let Some(value) = get(old, field)
        {
            set(object, field, value.clone());
        }
    }
    if entry(object, "metadata", "deletionTimestamp").is_none() {
        toleration_seconds(object);
    }
}
