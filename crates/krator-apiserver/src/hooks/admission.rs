//! What the admission plugins that are on by default add to new objects: `Priority`, `DefaultTolerationSeconds` and
//! `StorageObjectInUseProtection`.

use crate::{
    kinds::Kind,
    object::{fields_mut, meta_mut},
};
use serde_json::{Value as Json, json};

/// How long a pod stays on a node that fails, in seconds.
const TOLERATION: u32 = 300;

/// Completes a new object.
pub(super) fn admit(kind: &Kind, object: &mut Json) {
    match (kind.id.group.as_str(), kind.id.resource.as_str()) {
        ("", "pods") => admit_pod(object),
        ("", "persistentvolumeclaims") => protect(object, "kubernetes.io/pvc-protection"),
        ("", "persistentvolumes") => protect(object, "kubernetes.io/pv-protection"),
        _ => {}
    }
}

fn admit_pod(object: &mut Json) {
    let spec = fields_mut(fields_mut(object).entry("spec").or_insert_with(|| json!({})));
    spec.entry("priority").or_insert_with(|| json!(0));
    spec.entry("preemptionPolicy").or_insert_with(|| json!("PreemptLowerPriority"));
    let tolerations = spec.entry("tolerations").or_insert_with(|| json!([]));
    let Json::Array(tolerations) = tolerations else { return };
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let tolerates = |it: &Json| {
            let of_key = it.get("key").is_none_or(|of| of == key || of == "");
            of_key && it.get("effect").is_none_or(|effect| effect == "NoExecute" || effect == "")
        };
        if !tolerations.iter().any(tolerates) {
            let seconds = json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": TOLERATION});
            tolerations.push(seconds);
        }
    }
}

fn protect(object: &mut Json, finalizer: &str) {
    if let Json::Array(finalizers) = meta_mut(object).entry("finalizers").or_insert_with(|| json!([]))
        && !finalizers.contains(&json!(finalizer))
    {
        finalizers.push(json!(finalizer));
    }
}
