//! `/scale` of the kinds that have replicas, after `pkg/registry/apps/*/storage` of Kubernetes.

use super::json::{get, int, set, set_or_remove};
use super::tables;
use crate::refusal::FieldError;
use serde_json::{Value as Json, json};

/// The type of the objects of `/scale`.
pub(super) const TYPE: &str = "autoscaling/v1.Scale";

/// The scale of an object.
pub(super) fn of(object: &Json) -> Json {
    let mut scale =
        json!({"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {}, "spec": {}, "status": {}});
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        let path = format!("metadata.{field}");
        set_or_remove(&mut scale, &path, get(object, &path));
    }
    if let Some(replicas) = int(object, "spec.replicas").filter(|replicas| *replicas != 0) {
        set(&mut scale, "spec.replicas", replicas);
    }
    set(
        &mut scale,
        "status.replicas",
        int(object, "status.replicas").unwrap_or_default(),
    );
    let selector = tables::selector_of(&object["spec"]["selector"]);
    if !selector.is_empty() {
        set(&mut scale, "status.selector", selector);
    }
    scale
}

/// Gives an object the replicas of a scale.
pub(super) fn apply(object: &mut Json, scale: &Json) -> Vec<FieldError> {
    let replicas = int(scale, "spec.replicas").unwrap_or_default();
    if replicas < 0 {
        return vec![FieldError::invalid(
            "spec.replicas",
            replicas,
            "must be greater than or equal to 0",
        )];
    }
    set(object, "spec.replicas", replicas);
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_say_how_many_and_which_pods() {
        let set = json!({
            "metadata": {"name": "a", "namespace": "b", "uid": "c", "resourceVersion": "4", "labels": {"x": "y"}},
            "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "a"}}},
            "status": {"replicas": 2},
        });
        let expected = json!({
            "kind": "Scale",
            "apiVersion": "autoscaling/v1",
            "metadata": {"name": "a", "namespace": "b", "uid": "c", "resourceVersion": "4"},
            "spec": {"replicas": 3},
            "status": {"replicas": 2, "selector": "app=a"},
        });
        assert_eq!(of(&set), expected);
    }

    #[test]
    fn replicas_are_not_negative() {
        let mut object = json!({"spec": {"replicas": 3}});
        assert_eq!(apply(&mut object, &json!({"spec": {"replicas": -1}})).len(), 1);
        assert_eq!(apply(&mut object, &json!({"spec": {}})), []);
        assert_eq!(object, json!({"spec": {"replicas": 0}}));
    }
}
