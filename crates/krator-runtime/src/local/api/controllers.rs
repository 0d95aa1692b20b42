//! Stands in for the controllers of other kinds. No controller runs in a test, so the test says which of them
//! have succeeded and which have failed.
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// Changes the status of an object to what the controller of its kind would write, as kstatus reads it: Current, if it is to be `ready`, or
/// Failed. A kind that never fails for good is not ready instead. All kinds that are not known here get conditions.
pub(super) fn report((group, kind): (&str, &str), ready: bool, now: Timestamp, object: &mut Value) {
    let number = |pointer: &str| object.pointer(pointer).and_then(Value::as_i64).unwrap_or(1);
    let replicas = number("/spec/replicas");
    let count = if ready { replicas } else { 0 };
    let one = i64::from(ready);
    let mut conditions: Vec<(&str, bool, &str)> = Vec::new();
    let mut status = match (group, kind) {
        ("apps", "Deployment") => {
            let available = if ready {
                "MinimumReplicasAvailable"
            } else {
                "MinimumReplicasUnavailable"
            };
            let progress = if ready {
                "NewReplicaSetAvailable"
            } else {
                "ProgressDeadlineExceeded"
            };
            conditions = vec![("Available", ready, available), ("Progressing", ready, progress)];
            json!({"replicas": replicas, "updatedReplicas": replicas, "readyReplicas": count, "availableReplicas": count})
        }
        ("apps", "StatefulSet") => json!({
            "replicas": replicas, "readyReplicas": count, "availableReplicas": count, "currentReplicas": count,
            "updatedReplicas": count, "currentRevision": "test", "updateRevision": "test",
        }),
        ("apps", "ReplicaSet") => json!({
            "replicas": replicas, "fullyLabeledReplicas": replicas, "readyReplicas": count, "availableReplicas": count,
        }),
        ("apps", "DaemonSet") => json!({
            "desiredNumberScheduled": 1, "currentNumberScheduled": 1, "updatedNumberScheduled": 1, "numberMisscheduled": 0,
            "numberReady": one, "numberAvailable": one,
        }),
        ("batch", "Job") if ready => {
            conditions = vec![("Complete", true, "CompletionsReached")];
            json!({"succeeded": number("/spec/completions"), "startTime": now, "completionTime": now})
        }
        ("batch", "Job") => {
            conditions = vec![("Failed", true, "BackoffLimitExceeded")];
            json!({"failed": 1, "startTime": now})
        }
        ("", "Pod") => {
            conditions = vec![("Ready", ready, if ready { "Running" } else { "PodFailed" })];
            json!({"phase": if ready { "Running" } else { "Failed" }})
        }
        ("", "PersistentVolumeClaim") => json!({"phase": if ready { "Bound" } else { "Lost" }}),
        ("", "Service") => {
            let is_balanced = object.pointer("/spec/type") == Some(&json!("LoadBalancer"));
            if ready && is_balanced && object.pointer("/spec/clusterIP").is_none() {
                object["spec"]["clusterIP"] = json!("10.0.0.1");
            }
            let ingress = if ready && is_balanced {
                json!([{"ip": "192.0.2.1"}])
            } else {
                json!([])
            };
            json!({"loadBalancer": {"ingress": ingress}})
        }
        ("policy", "PodDisruptionBudget") => json!({
            "expectedPods": 1, "desiredHealthy": 1, "currentHealthy": one, "disruptionsAllowed": 0,
        }),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            let reason = if ready { "NoConflicts" } else { "Conflicts" };
            conditions = vec![("NamesAccepted", ready, reason), ("Established", ready, reason)];
            json!({})
        }
        _ => {
            conditions = vec![
                ("Ready", ready, kind),
                ("Reconciling", false, kind),
                ("Stalled", !ready, kind),
            ];
            json!({})
        }
    };
    if let Some(generation) = object.pointer("/metadata/generation") {
        status["observedGeneration"] = generation.clone();
    }
    let former = object.get("status").cloned().unwrap_or_else(|| json!({}));
    if !conditions.is_empty() {
        let mut all: Vec<Value> = former["conditions"].as_array().cloned().unwrap_or_default();
        for (kind, holds, reason) in conditions {
            all.retain(|condition| condition["type"] != kind);
            all.push(json!({
                "type": kind, "status": if holds { "True" } else { "False" }, "reason": reason,
                "message": "reported by the test", "lastTransitionTime": now,
            }));
        }
        status["conditions"] = all.into();
    }
    let mut merged: Map<String, Value> = former.as_object().cloned().unwrap_or_default();
    merged.extend(status.as_object().cloned().unwrap_or_default());
    object["status"] = merged.into();
}
