//! The statuses that the controllers of other kinds write, in the fields that kstatus, kubectl and operators read. Tests and
//! the in-memory API server have no controllers, so they set the progress of an object and write the status from here.

use serde_json::{Map, Value, json};

/// The progress of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The controller has observed the object.
    Started,
    /// The object is as its spec asks; a Job is complete.
    Ready,
    /// The object has failed for good. A kind that never fails for good is not ready instead.
    Failed,
}

/// The type, whether the condition is true, and the reason, which may be empty.
type Condition = (&'static str, bool, String);

/// Changes the status of an object to that of its kind's controller, and keeps fields of other writers. Kinds
/// that are not known here get conditions.
pub fn report((group, kind): (&str, &str), progress: Progress, now: &str, object: &mut Value) {
    let number = |pointer: &str| object.pointer(pointer).and_then(Value::as_i64);
    let text = |pointer: &str| {
        object
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let choose = |started, ready, failed| match progress {
        Progress::Started => started,
        Progress::Ready => ready,
        Progress::Failed => failed,
    };
    let (is_ready, has_failed) = (progress == Progress::Ready, progress == Progress::Failed);
    let one = i64::from(is_ready);
    let replicas = number("/spec/replicas").unwrap_or(1);
    let count = replicas * one;
    let generation = number("/metadata/generation");
    let revision = format!("{}-{}", text("/metadata/name"), generation.unwrap_or(0));
    let condition = |kind, holds, reason: &str| -> Condition { (kind, holds, reason.to_owned()) };
    let mut conditions = Vec::new();
    let mut status = match (group, kind) {
        ("apps", "Deployment") => {
            let available = match is_ready {
                true => "MinimumReplicasAvailable",
                false => "MinimumReplicasUnavailable",
            };
            let progressing = choose(
                "ReplicaSetUpdated",
                "NewReplicaSetAvailable",
                "ProgressDeadlineExceeded",
            );
            conditions = vec![
                condition("Available", is_ready, available),
                condition("Progressing", !has_failed, progressing),
            ];
            json!({"replicas": replicas, "updatedReplicas": replicas, "readyReplicas": count, "availableReplicas": count})
        }
        ("apps", "StatefulSet") => json!({
            "replicas": replicas, "readyReplicas": count, "availableReplicas": count, "currentReplicas": count,
            "updatedReplicas": count, "updateRevision": revision,
            // The former revision stays the current one until all replicas are updated.
            "currentRevision": is_ready.then_some(revision),
        }),
        ("apps", "ReplicaSet") => json!({
            "replicas": replicas, "fullyLabeledReplicas": replicas, "readyReplicas": count, "availableReplicas": count,
        }),
        // One node is assumed.
        ("apps", "DaemonSet") => json!({
            "desiredNumberScheduled": 1, "currentNumberScheduled": 1, "updatedNumberScheduled": 1, "numberMisscheduled": 0,
            "numberReady": one, "numberAvailable": one, "numberUnavailable": 1 - one,
        }),
        ("batch", "Job") => {
            let parallelism = number("/spec/parallelism").unwrap_or(1);
            let completions = number("/spec/completions").unwrap_or(parallelism);
            let (kinds, reason): (&[&str], _) = match progress {
                Progress::Started => (&[], ""),
                Progress::Ready => (&["SuccessCriteriaMet", "Complete"], "CompletionsReached"),
                Progress::Failed => (&["FailureTarget", "Failed"], "BackoffLimitExceeded"),
            };
            conditions = kinds.iter().map(|kind| condition(kind, true, reason)).collect();
            let failures = number("/spec/backoffLimit").unwrap_or(6).saturating_add(1);
            let indexes = match completions {
                ..=1 => "0".to_owned(),
                more => format!("0-{}", more - 1),
            };
            json!({
                "startTime": object.pointer("/status/startTime").cloned().unwrap_or_else(|| now.into()),
                "active": (progress == Progress::Started).then_some(parallelism),
                "succeeded": is_ready.then_some(completions),
                "failed": has_failed.then_some(failures),
                "completionTime": is_ready.then_some(now),
                "completedIndexes": (is_ready && text("/spec/completionMode") == "Indexed").then_some(indexes),
            })
        }
        ("", "Pod") => {
            let reason = choose("ContainersNotReady", "", "PodFailed");
            conditions = vec![
                condition("PodScheduled", true, ""),
                condition("Initialized", true, ""),
                condition("ContainersReady", is_ready, reason),
                condition("Ready", is_ready, reason),
            ];
            json!({
                "phase": choose("Pending", "Running", "Failed"),
                "startTime": object.pointer("/status/startTime").cloned().unwrap_or_else(|| now.into()),
                "containerStatuses": containers(object, progress, now),
            })
        }
        ("", "PersistentVolumeClaim") => json!({"phase": choose("Pending", "Bound", "Lost")}),
        ("", "Service") => {
            let is_balanced = text("/spec/type") == "LoadBalancer";
            if is_ready && is_balanced && object.pointer("/spec/clusterIP").is_none() {
                object["spec"]["clusterIP"] = json!("10.0.0.1");
            }
            let ingress = match is_ready && is_balanced {
                true => json!([{"ip": "192.0.2.1"}]),
                false => json!([]),
            };
            json!({"loadBalancer": {"ingress": ingress}})
        }
        ("policy", "PodDisruptionBudget") => json!({
            "expectedPods": 1, "desiredHealthy": 1, "currentHealthy": one, "disruptionsAllowed": 0,
        }),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            let reason = choose("Installing", "NoConflicts", "Conflicts");
            conditions = ["NamesAccepted", "Established"]
                .map(|kind| condition(kind, is_ready, reason))
                .into();
            json!({})
        }
        _ => {
            conditions = vec![
                condition("Ready", is_ready, kind),
                condition("Reconciling", progress == Progress::Started, kind),
                condition("Stalled", has_failed, kind),
            ];
            json!({})
        }
    };
    status["observedGeneration"] = generation.into();
    let mut merged = object["status"].as_object().cloned().unwrap_or_default();
    if !conditions.is_empty() {
        status["conditions"] = with_conditions(&merged, conditions, now);
    }
    merged.extend(status.as_object().cloned().unwrap_or_default());
    merged.retain(|_, value| !value.is_null());
    object["status"] = merged.into();
}

/// Merges conditions into those of a status. Unchanged ones keep the time of their last transition.
fn with_conditions(status: &Map<String, Value>, conditions: Vec<Condition>, now: &str) -> Value {
    let former = status.get("conditions").and_then(Value::as_array);
    let mut all = former.cloned().unwrap_or_default();
    for (kind, holds, reason) in conditions {
        let holds = if holds { "True" } else { "False" };
        let at = all.iter().position(|condition| condition["type"] == kind);
        let before = at
            .map(|at| all.remove(at))
            .filter(|before| before["status"] == holds);
        let since = before.map(|before| before["lastTransitionTime"].clone());
        let mut condition = json!({
            "type": kind, "status": holds, "message": "no controller runs here",
            "lastTransitionTime": since.unwrap_or_else(|| now.into()),
        });
        if !reason.is_empty() {
            condition["reason"] = reason.into();
        }
        all.push(condition);
    }
    all.into()
}

/// The statuses of a pod's containers, all in the same state.
fn containers(pod: &Value, progress: Progress, now: &str) -> Value {
    let state = match progress {
        Progress::Started => json!({"waiting": {"reason": "ContainerCreating"}}),
        Progress::Ready => json!({"running": {"startedAt": now}}),
        Progress::Failed => {
            json!({"terminated": {"exitCode": 1, "reason": "Error", "startedAt": now, "finishedAt": now}})
        }
    };
    let is_ready = progress == Progress::Ready;
    let containers = pod.pointer("/spec/containers").and_then(Value::as_array);
    let status = |container: &Value| {
        let image = container["image"].as_str().unwrap_or_default();
        json!({
            "name": container["name"], "image": image, "imageID": image, "ready": is_ready, "started": is_ready,
            "restartCount": 0, "state": state,
        })
    };
    containers.into_iter().flatten().map(status).collect()
}
