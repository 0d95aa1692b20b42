//! The status of an object as kstatus computes it, for Helm, Flux and kpt. This follows `Compute` in
//! <https://github.com/kubernetes-sigs/cli-utils>, `pkg/kstatus/status/{status,generic}.go`, for kinds without special
//! rules in kstatus.

use serde_json::Value;

/// The status of an object as kstatus computes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reading {
    Terminating,
    InProgress,
    Failed,
    Current,
}

/// Computes the status by the rules of kstatus, in their order.
pub fn reading(object: &Value) -> Reading {
    let deleted = object["metadata"]["deletionTimestamp"].as_str();
    if deleted.is_some_and(|time| !time.is_empty()) {
        return Reading::Terminating;
    }
    let (generation, status) = (&object["metadata"]["generation"], &object["status"]);
    if let (Some(generation), Some(observed)) = (generation.as_i64(), status["observedGeneration"].as_i64())
        && generation != observed
    {
        return Reading::InProgress;
    }
    let none = Vec::new();
    let conditions = status["conditions"].as_array().unwrap_or(&none);
    for condition in conditions {
        match (condition["type"].as_str(), condition["status"].as_str()) {
            (Some("Reconciling"), Some("True")) => return Reading::InProgress,
            (Some("Stalled"), Some("True")) => return Reading::Failed,
            _ => {}
        }
    }
    match conditions.iter().find(|condition| condition["type"] == "Ready") {
        Some(ready) if ready["status"] != "True" => Reading::InProgress,
        // Without a contrary condition an object is current.
        _ => Reading::Current,
    }
}

#[test]
fn objects_are_read_as_kstatus_reads_them() {
    use serde_json::json;
    let read = |status: Value| reading(&json!({"metadata": {"generation": 2}, "status": status}));
    let with = |kind: &str, status: &str| read(json!({"conditions": [{"type": kind, "status": status}]}));
    assert_eq!(
        read(Value::Null),
        Reading::Current,
        "which is why a CRD needs a default"
    );
    assert_eq!(read(json!({"observedGeneration": -1})), Reading::InProgress);
    assert_eq!(read(json!({"observedGeneration": 2})), Reading::Current);
    assert_eq!(with("Reconciling", "True"), Reading::InProgress);
    assert_eq!(with("Stalled", "True"), Reading::Failed);
    assert_eq!(with("Stalled", "False"), Reading::Current);
    assert_eq!(with("Ready", "Unknown"), Reading::InProgress);
    assert_eq!(with("Ready", "True"), Reading::Current);
    let deleted = json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}});
    assert_eq!(reading(&deleted), Reading::Terminating);
}
