//! The field selectors of builtin kinds, after `AddFieldLabelConversionsFor...` and the functions `ToSelectableFields`
//! of Kubernetes.

use super::json::{get, text};
use super::rules::Selectable;
use serde_json::Value as Json;

/// The value of a field for a field selector.
///
/// # Errors
///
/// The message of the API server if the field is not selectable for the kind.
pub(super) fn value(selectable: &[Selectable], object: &Json, field: &str) -> Result<String, String> {
    if matches!(field, "metadata.name" | "metadata.namespace") {
        return Ok(text(object, field).to_owned());
    }
    let Some([_, path, absent]) = selectable.iter().find(|[name, ..]| *name == field) else {
        return Err(if selectable.is_empty() {
            format!("{field:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"")
        } else {
            format!("field label not supported: {field}")
        });
    };
    Ok(match get(object, path) {
        None => (*absent).to_owned(),
        Some(Json::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::known;
    use serde_json::json;

    #[test]
    fn kinds_have_fields_of_their_own() {
        let object = json!({
            "metadata": {"name": "a"},
            "spec": {"nodeName": "n", "hostNetwork": true, "type": "ClusterIP"},
            "status": {"podIP": "1.2.3.4", "succeeded": 2},
            "regarding": {"kind": "Pod"},
            "type": "Opaque",
        });
        for (type_name, field, expected) in [
            ("core/v1.ConfigMap", "metadata.name", Some("a")),
            ("core/v1.ConfigMap", "metadata.namespace", Some("")),
            ("core/v1.ConfigMap", "metadata.uid", None),
            ("core/v1.Pod", "spec.nodeName", Some("n")),
            ("core/v1.Pod", "spec.hostNetwork", Some("true")),
            ("core/v1.Pod", "status.podIPs", Some("1.2.3.4")),
            ("core/v1.Pod", "spec.type", None),
            ("core/v1.Secret", "type", Some("Opaque")),
            ("core/v1.Service", "spec.type", Some("ClusterIP")),
            ("core/v1.Node", "spec.unschedulable", Some("false")),
            ("batch/v1.Job", "status.successful", Some("2")),
            ("core/v1.ReplicationController", "status.replicas", Some("0")),
            ("apps/v1.ReplicaSet", "status.replicas", None),
            ("events/v1.Event", "regarding.kind", Some("Pod")),
            ("events/v1.Event", "involvedObject.kind", None),
        ] {
            let found = value(known::of(type_name).selectable, &object, field).ok();
            assert_eq!(found.as_deref(), expected, "{type_name} {field}");
        }
    }
}
