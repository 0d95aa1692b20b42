//! The statuses of workloads as their controllers write them, in the fields that kstatus and operators read, after
//! `pkg/controller` of Kubernetes.

use crate::object::at;
use serde_json::{Value as Json, json};

/// A kind whose objects become ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Workload {
    Deployment,
    StatefulSet,
    DaemonSet,
    Job,
    Pod,
}

impl Workload {
    pub const ALL: [Self; 5] = [
        Self::Deployment,
        Self::StatefulSet,
        Self::DaemonSet,
        Self::Job,
        Self::Pod,
    ];

    pub fn group(self) -> &'static str {
        match self {
            Self::Deployment | Self::StatefulSet | Self::DaemonSet => "apps",
            Self::Job => "batch",
            Self::Pod => "",
        }
    }

    pub fn resource(self) -> &'static str {
        match self {
            Self::Deployment => "deployments",
            Self::StatefulSet => "statefulsets",
            Self::DaemonSet => "daemonsets",
            Self::Job => "jobs",
            Self::Pod => "pods",
        }
    }

    /// The writer of its status.
    pub fn manager(self) -> &'static str {
        match self {
            Self::Pod => "kubelet",
            _ => "kube-controller-manager",
        }
    }

    /// The status of an object that has begun.
    pub fn begun(self, object: &Json, now: &str) -> Json {
        match self {
            Self::Deployment => deployment(object, now, State::Begun),
            Self::StatefulSet => {
                let mut status = stateful_set(object, 0);
                // The revision that runs everywhere is only known to be the new one at the end.
                let current = at(object, &["status", "currentRevision"]).clone();
                if !current.is_null() {
                    status["currentRevision"] = current;
                }
                status
            }
            Self::DaemonSet => daemon_set(object, 0),
            Self::Job => json!({
                "startTime": now,
                "active": at(object, &["spec", "parallelism"]).as_i64().unwrap_or(1),
                "ready": 0,
                "terminating": 0,
                "uncountedTerminatedPods": {},
            }),
            Self::Pod => pod(object, now, State::Begun),
        }
    }

    /// The status of an object that is ready, or that is complete if it is a Job.
    pub fn ready(self, object: &Json, now: &str) -> Json {
        match self {
            Self::Deployment => deployment(object, now, State::Ready),
            Self::StatefulSet => stateful_set(object, replicas(object)),
            Self::DaemonSet => daemon_set(object, 1),
            Self::Job => {
                let parallelism = at(object, &["spec", "parallelism"]).as_i64().unwrap_or(1);
                let completions = at(object, &["spec", "completions"]).as_i64();
                let message = "Reached expected number of succeeded pods";
                let types = ["SuccessCriteriaMet", "Complete"];
                let mut status = job(object, now, types, "CompletionsReached", message);
                status["succeeded"] = completions.unwrap_or(parallelism).into();
                status["completionTime"] = now.into();
                if *at(object, &["spec", "completionMode"]) == "Indexed" {
                    status["completedIndexes"] = indexes(completions.unwrap_or(1)).into();
                }
                status
            }
            Self::Pod => pod(object, now, State::Ready),
        }
    }

    /// The status of an object that has failed. None of kinds whose status does not say so.
    pub fn failed(self, object: &Json, now: &str) -> Option<Json> {
        match self {
            Self::Deployment => Some(deployment(object, now, State::Failed)),
            Self::StatefulSet | Self::DaemonSet => None,
            Self::Job => {
                let message = "Job has reached the specified backoff limit";
                let types = ["FailureTarget", "Failed"];
                let mut status = job(object, now, types, "BackoffLimitExceeded", message);
                let limit = at(object, &["spec", "backoffLimit"]).as_i64().unwrap_or(6);
                status["failed"] = limit.saturating_add(1).into();
                Some(status)
            }
            Self::Pod => Some(pod(object, now, State::Failed)),
        }
    }
}

/// The progress of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Begun,
    Ready,
    Failed,
}

fn deployment(object: &Json, now: &str, state: State) -> Json {
    let (progressing, reason, message) = match state {
        State::Begun => ("True", "ReplicaSetUpdated", "is progressing"),
        State::Ready => ("True", "NewReplicaSetAvailable", "has successfully progressed"),
        State::Failed => ("False", "ProgressDeadlineExceeded", "has timed out progressing"),
    };
    let message = format!("ReplicaSet {:?} {message}.", revision(object));
    let available = match state {
        State::Ready => ("Available", "True", "MinimumReplicasAvailable", AVAILABLE),
        _ => ("Available", "False", "MinimumReplicasUnavailable", UNAVAILABLE),
    };
    let conditions = [available, ("Progressing", progressing, reason, &message)];
    let replicas = replicas(object);
    let mut status = json!({
        "observedGeneration": generation(object),
        "replicas": replicas,
        "updatedReplicas": replicas,
    });
    let counts: &[&str] = match state {
        State::Ready => &["readyReplicas", "availableReplicas"],
        _ => &["unavailableReplicas"],
    };
    for count in counts {
        status[count] = replicas.into();
    }
    status["conditions"] = with_updates(object, &conditions, now);
    status
}

/// A Job that has ended.
fn job(object: &Json, now: &str, types: [&str; 2], reason: &str, message: &str) -> Json {
    let mut status = at(object, &["status"]).clone();
    status["active"] = Json::Null;
    status["conditions"] = with_conditions(object, &types.map(|type_| (type_, "True", reason, message)), now);
    without_nulls(status)
}

fn pod(object: &Json, now: &str, state: State) -> Json {
    let (phase, ready, reason) = match state {
        State::Begun => ("Pending", "False", "ContainersNotReady"),
        State::Ready => ("Running", "True", ""),
        State::Failed => ("Failed", "False", "PodFailed"),
    };
    let of_containers = match state {
        State::Begun => json!({"waiting": {"reason": "ContainerCreating"}}),
        State::Ready => json!({"running": {"startedAt": now}}),
        State::Failed => {
            json!({"terminated": {"exitCode": 1, "reason": "Error", "startedAt": now, "finishedAt": now}})
        }
    };
    let conditions = [
        ("PodScheduled", "True", "", ""),
        ("Initialized", "True", "", ""),
        ("Ready", ready, reason, ""),
        ("ContainersReady", ready, reason, ""),
    ];
    let mut status = at(object, &["status"]).clone();
    status["phase"] = phase.into();
    if state == State::Begun {
        status["startTime"] = now.into();
    }
    status["conditions"] = with_conditions(object, &conditions, now);
    status["containerStatuses"] = containers(object, state == State::Ready, &of_containers);
    status
}

const AVAILABLE: &str = "Deployment has minimum availability.";
const UNAVAILABLE: &str = "Deployment does not have minimum availability.";

fn generation(object: &Json) -> i64 {
    at(object, &["metadata", "generation"]).as_i64().unwrap_or(0)
}

fn replicas(object: &Json) -> i64 {
    at(object, &["spec", "replicas"]).as_i64().unwrap_or(1)
}

/// The name of what runs the present spec. A real controller ends it with a hash of the template.
fn revision(object: &Json) -> String {
    format!("{}-{}", crate::object::meta(object, "name"), generation(object))
}

fn stateful_set(object: &Json, ready: i64) -> Json {
    let replicas = replicas(object);
    json!({
        "observedGeneration": generation(object),
        "replicas": replicas,
        "readyReplicas": ready,
        "availableReplicas": ready,
        "currentReplicas": replicas,
        "updatedReplicas": replicas,
        "currentRevision": revision(object),
        "updateRevision": revision(object),
        "collisionCount": 0,
    })
}

/// As if there were one node.
fn daemon_set(object: &Json, ready: i64) -> Json {
    json!({
        "observedGeneration": generation(object),
        "desiredNumberScheduled": 1,
        "currentNumberScheduled": 1,
        "updatedNumberScheduled": 1,
        "numberMisscheduled": 0,
        "numberReady": ready,
        "numberAvailable": ready,
        "numberUnavailable": 1 - ready,
    })
}

/// `0-4`, or `0` where there is one.
fn indexes(completions: i64) -> String {
    match completions {
        ..=1 => "0".to_owned(),
        more => format!("0-{}", more - 1),
    }
}

/// A condition: type, status, reason and message.
type Condition<'a> = (&'a str, &'a str, &'a str, &'a str);

/// The conditions of an object. Those whose status stays keep the time of their last transition.
fn with_conditions(object: &Json, conditions: &[Condition<'_>], now: &str) -> Json {
    let old = at(object, &["status", "conditions"]).as_array();
    let condition = |(type_, status, reason, message): &Condition<'_>| {
        let before = old.into_iter().flatten().find(|it| it["type"] == *type_);
        let since = before
            .filter(|it| it["status"] == *status)
            .map_or_else(|| now.into(), |it| it["lastTransitionTime"].clone());
        let mut condition = json!({"type": type_, "status": status, "lastTransitionTime": since});
        for (key, text) in [("reason", reason), ("message", message)] {
            if !text.is_empty() {
                condition[key] = (*text).into();
            }
        }
        condition
    };
    conditions.iter().map(condition).collect()
}

/// Conditions of a Deployment, which also say when they were updated.
fn with_updates(object: &Json, conditions: &[Condition<'_>], now: &str) -> Json {
    let mut conditions = with_conditions(object, conditions, now);
    for condition in conditions.as_array_mut().into_iter().flatten() {
        condition["lastUpdateTime"] = now.into();
    }
    conditions
}

/// The statuses of the containers of a pod, all in the same state.
fn containers(pod: &Json, ready: bool, state: &Json) -> Json {
    let containers = at(pod, &["spec", "containers"]).as_array().into_iter().flatten();
    let status = |container: &Json| {
        json!({
            "name": container["name"],
            "image": container["image"],
            "imageID": container["image"],
            "ready": ready,
            "started": ready,
            "restartCount": 0,
            "state": state,
        })
    };
    containers.map(status).collect()
}

fn without_nulls(mut status: Json) -> Json {
    if let Some(fields) = status.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    status
}
