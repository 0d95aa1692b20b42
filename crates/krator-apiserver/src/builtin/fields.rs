//! The fields by which lists of builtin kinds can be selected, after `AddFieldLabelConversionsFor…` and the functions
//! `ToSelectableFields` of Kubernetes.

use super::event_to_core;
use super::json::{flag, int, list, text};
use serde_json::Value as Json;

/// What the API server says of a field by which lists of a kind cannot be selected.
pub(super) fn unknown(type_name: &str, field: &str) -> String {
    let has_own = matches!(
        type_name,
        "core/v1.Pod"
            | "core/v1.Event"
            | "events/v1.Event"
            | "core/v1.Secret"
            | "core/v1.Namespace"
            | "core/v1.Node"
            | "core/v1.Service"
            | "core/v1.ReplicationController"
            | "batch/v1.Job"
    );
    if has_own {
        format!("field label not supported: {field}")
    } else {
        format!("{field:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"")
    }
}

/// The value of a field for a field selector; none if lists of this kind cannot be selected by it.
pub(super) fn value(type_name: &str, object: &Json, field: &str) -> Option<String> {
    match field {
        "metadata.name" | "metadata.namespace" => return Some(text(object, field).to_owned()),
        _ => {}
    }
    match type_name {
        "core/v1.Pod" => pod(object, field),
        "core/v1.Event" => event(object, field),
        "events/v1.Event" => event(&event_to_core(object), core_name(field)?),
        "core/v1.Secret" => (field == "type").then(|| text(object, field).to_owned()),
        "core/v1.Namespace" => (field == "status.phase").then(|| text(object, field).to_owned()),
        "core/v1.Node" => (field == "spec.unschedulable").then(|| flag(object, field).to_string()),
        "core/v1.Service" => {
            matches!(field, "spec.clusterIP" | "spec.type").then(|| text(object, field).to_owned())
        }
        "core/v1.ReplicationController" => {
            (field == "status.replicas").then(|| int(object, field).unwrap_or_default().to_string())
        }
        "batch/v1.Job" => (field == "status.successful")
            .then(|| int(object, "status.succeeded").unwrap_or_default().to_string()),
        _ => None,
    }
}

fn pod(pod: &Json, field: &str) -> Option<String> {
    Some(match field {
        "spec.nodeName"
        | "spec.restartPolicy"
        | "spec.schedulerName"
        | "spec.serviceAccountName"
        | "status.phase"
        | "status.nominatedNodeName" => text(pod, field).to_owned(),
        "spec.hostNetwork" => flag(pod, field).to_string(),
        "status.podIP" | "status.podIPs" => list(pod, "status.podIPs")
            .first()
            .map_or("", |ip| text(ip, "ip"))
            .to_owned(),
        _ => return None,
    })
}

/// Names of `events.k8s.io/v1` as those of `core/v1`.
fn core_name(field: &str) -> Option<&str> {
    Some(match field {
        "reason" | "type" => field,
        "reportingController" => "reportingComponent",
        "regarding.kind" => "involvedObject.kind",
        "regarding.namespace" => "involvedObject.namespace",
        "regarding.name" => "involvedObject.name",
        "regarding.uid" => "involvedObject.uid",
        "regarding.apiVersion" => "involvedObject.apiVersion",
        "regarding.resourceVersion" => "involvedObject.resourceVersion",
        "regarding.fieldPath" => "involvedObject.fieldPath",
        _ => return None,
    })
}

fn event(event: &Json, field: &str) -> Option<String> {
    let value = match field {
        "source" => match text(event, "source.component") {
            "" => text(event, "reportingComponent"),
            component => component,
        },
        "involvedObject.kind"
        | "involvedObject.namespace"
        | "involvedObject.name"
        | "involvedObject.uid"
        | "involvedObject.apiVersion"
        | "involvedObject.resourceVersion"
        | "involvedObject.fieldPath"
        | "reason"
        | "reportingComponent"
        | "type" => text(event, field),
        _ => return None,
    };
    Some(value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn kinds_have_fields_of_their_own() {
        let object = json!({
            "metadata": {"name": "a"},
            "spec": {"nodeName": "n", "hostNetwork": true, "type": "ClusterIP"},
            "status": {"podIPs": [{"ip": "1.2.3.4"}], "succeeded": 2},
            "regarding": {"kind": "Pod"},
            "type": "Opaque",
        });
        for (type_name, field, expected) in [
            ("core/v1.ConfigMap", "metadata.name", Some("a")),
            ("core/v1.ConfigMap", "metadata.namespace", Some("")),
            ("core/v1.ConfigMap", "metadata.uid", None),
            ("core/v1.Pod", "spec.nodeName", Some("n")),
            ("core/v1.Pod", "spec.hostNetwork", Some("true")),
            ("core/v1.Pod", "status.podIP", Some("1.2.3.4")),
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
            assert_eq!(
                value(type_name, &object, field).as_deref(),
                expected,
                "{type_name} {field}"
            );
        }
    }
}
