//! The rules for the kinds of Kubernetes itself, whose controllers report their progress in specific fields.
use super::{Condition, Fields, Readiness, current, failed, in_progress};
use jiff::{SignedDuration, Timestamp};

/// The time for which a pod may be without a node before that counts as a failure.
const SCHEDULING: SignedDuration = SignedDuration::from_secs(15);
/// The value of a Deployment's deadline that means no deadline.
const NO_DEADLINE: i64 = i32::MAX as i64;

/// The readiness of an object of a kind with specific rules; `None` for other kinds.
pub(super) fn of_known_kind(
    object: Fields<'_>,
    conditions: &[Condition<'_>],
    now: Timestamp,
) -> Option<Readiness> {
    Some(match (object.group(), object.text("/kind")?) {
        ("", "ConfigMap" | "Secret") | ("batch", "CronJob") => current("Resource is always ready"),
        ("", "Service") => service(object),
        ("", "Pod") => pod(object, conditions, now),
        ("", "PersistentVolumeClaim") => claim(object),
        ("apps" | "extensions", "Deployment") => deployment(object, conditions),
        ("apps" | "extensions", "ReplicaSet") => replica_set(object, conditions),
        ("apps" | "extensions", "DaemonSet") => daemon_set(object),
        ("apps", "StatefulSet") => stateful_set(object),
        ("batch", "Job") => job(object, conditions),
        // The controller sets `observedGeneration` only after it has computed the allowed disruptions.
        ("policy", "PodDisruptionBudget") => current("AllowedDisruptions has been computed."),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => definition(conditions),
        _ => return None,
    })
}

/// The readiness of an object that may run to completion: while it runs, it is in progress.
pub(super) fn finished(object: Fields<'_>, readiness: Readiness) -> Readiness {
    let Readiness::Current(message) = readiness else {
        return readiness;
    };
    let conditions = object.conditions();
    let is_complete = || {
        let mut conditions = conditions.iter();
        conditions.any(|condition| (condition.kind, condition.status) == ("Complete", "True"))
    };
    match (object.group(), object.text("/kind"), object.text("/status/phase")) {
        ("batch", Some("Job"), _) if !is_complete() => in_progress(message),
        ("", Some("Pod"), Some("Failed")) => failed(message),
        ("", Some("Pod"), phase) if phase != Some("Succeeded") => in_progress(message),
        _ => current(message),
    }
}

/// The first rule with fewer than the wanted number: the name of the count, the count, and the wanted number.
fn too_few<const N: usize>(rules: [(&str, i64, i64); N]) -> Option<Readiness> {
    let unmet = rules.into_iter().find(|(_, are, wanted)| wanted > are);
    unmet.map(|(what, are, wanted)| in_progress(format!("{what}: {are}/{wanted}")))
}

fn too_many(are: i64, wanted: i64) -> Option<Readiness> {
    (are > wanted).then(|| in_progress(format!("Pending termination: {}", are - wanted)))
}

fn wanted_replicas(object: Fields<'_>) -> i64 {
    object.number("/spec/replicas").unwrap_or(1)
}

fn deployment(object: Fields<'_>, conditions: &[Condition<'_>]) -> Readiness {
    // Without a deadline the controller does not set the condition `Progressing`.
    let deadline = object.number("/spec/progressDeadlineSeconds");
    let mut progressing = deadline.unwrap_or(NO_DEADLINE) == NO_DEADLINE;
    let mut available = false;
    for condition in conditions {
        match condition.kind {
            "Progressing" if condition.reason == "ProgressDeadlineExceeded" => {
                return failed("Progress deadline exceeded");
            }
            "Progressing" => {
                progressing |= condition.status == "True" && condition.reason == "NewReplicaSetAvailable";
            }
            "Available" => available |= condition.status == "True",
            _ => {}
        }
    }
    let wanted = wanted_replicas(object);
    let (replicas, updated) = (object.count("replicas"), object.count("updatedReplicas"));
    too_few([("Replicas", replicas, wanted), ("Updated", updated, wanted)])
        .or_else(|| too_many(replicas, wanted))
        .or_else(|| {
            too_few([
                ("Available", object.count("availableReplicas"), updated),
                ("Ready", object.count("readyReplicas"), wanted),
            ])
        })
        .unwrap_or_else(|| match (progressing, available) {
            (false, _) => in_progress("ReplicaSet not Available"),
            (true, false) => in_progress("Deployment not Available"),
            (true, true) => current(format!("Deployment is available. Replicas: {replicas}")),
        })
}

fn replica_set(object: Fields<'_>, conditions: &[Condition<'_>]) -> Readiness {
    let is_failure =
        |condition: &Condition<'_>| condition.kind == "ReplicaFailure" && condition.status == "True";
    if conditions.iter().any(is_failure) {
        return in_progress("Replica Failure condition. Check Pods");
    }
    let (wanted, replicas) = (wanted_replicas(object), object.count("replicas"));
    too_few([
        ("Labelled", object.count("fullyLabeledReplicas"), wanted),
        ("Available", object.count("availableReplicas"), wanted),
        ("Ready", object.count("readyReplicas"), wanted),
    ])
    .or_else(|| too_many(replicas, wanted))
    .unwrap_or_else(|| current(format!("ReplicaSet is available. Replicas: {replicas}")))
}

fn stateful_set(object: Fields<'_>) -> Readiness {
    if object.text("/spec/updateStrategy/type") == Some("OnDelete") {
        return current("StatefulSet is using the ondelete update strategy");
    }
    let (wanted, replicas) = (wanted_replicas(object), object.count("replicas"));
    let unmet = too_few([
        ("Replicas", replicas, wanted),
        ("Ready", object.count("readyReplicas"), wanted),
    ]);
    if let Some(unmet) = unmet.or_else(|| too_many(replicas, wanted)) {
        return unmet;
    }
    let partition = object.number("/spec/updateStrategy/rollingUpdate/partition");
    // kstatus treats -1, which the API server refuses, as no partition.
    if let Some(partition) = partition.filter(|partition| *partition != -1) {
        let updated = object.count("updatedReplicas");
        return too_few([("updated", updated, wanted - partition)])
            .unwrap_or_else(|| current(format!("Partition rollout complete. updated: {updated}")));
    }
    if let Some(unmet) = too_few([("current", object.count("currentReplicas"), wanted)]) {
        return unmet;
    }
    let revision = |pointer: &str| object.text(pointer).unwrap_or_default();
    if revision("/status/currentRevision") != revision("/status/updateRevision") {
        return in_progress("Waiting for updated revision to match current");
    }
    current(format!(
        "All replicas scheduled as expected. Replicas: {replicas}"
    ))
}

fn daemon_set(object: Fields<'_>) -> Readiness {
    for (pointer, name) in [
        ("/metadata/generation", "metadata.generation"),
        ("/status/observedGeneration", "status.observedGeneration"),
    ] {
        if object.number(pointer).is_none() {
            return in_progress(format!("DaemonSet {name} not found"));
        }
    }
    let Some(wanted) = object.number("/status/desiredNumberScheduled") else {
        return in_progress("Missing .status.desiredNumberScheduled");
    };
    too_few([
        ("Current", object.count("currentNumberScheduled"), wanted),
        ("Updated", object.count("updatedNumberScheduled"), wanted),
        ("Available", object.count("numberAvailable"), wanted),
        ("Ready", object.count("numberReady"), wanted),
    ])
    .unwrap_or_else(|| current(format!("All replicas scheduled as expected. Replicas: {wanted}")))
}

fn job(object: Fields<'_>, conditions: &[Condition<'_>]) -> Readiness {
    let completions = object.number("/spec/completions");
    let completions = completions
        .or_else(|| object.number("/spec/parallelism"))
        .unwrap_or(1);
    let [succeeded, active, broken] = ["succeeded", "active", "failed"].map(|field| object.count(field));
    let ended = conditions
        .iter()
        .find_map(|condition| match (condition.kind, condition.status) {
            ("Complete", "True") => Some(current(format!(
                "Job Completed. succeeded: {succeeded}/{completions}"
            ))),
            ("Failed", "True") => Some(failed(format!("Job Failed. failed: {broken}/{completions}"))),
            _ => None,
        });
    match (ended, object.text("/status/startTime")) {
        (Some(ended), _) => ended,
        (None, None | Some("")) => in_progress("Job not started"),
        (None, Some(_)) => current(format!(
            "Job in progress. success:{succeeded}, active: {active}, failed: {broken}"
        )),
    }
}

fn pod(object: Fields<'_>, conditions: &[Condition<'_>], now: Timestamp) -> Readiness {
    let has = |kind: &str, status: &str| {
        let mut conditions = conditions.iter();
        conditions.find(|condition| (condition.kind, condition.status) == (kind, status))
    };
    match object.text("/status/phase").unwrap_or_default() {
        "Succeeded" => current("Pod has completed successfully"),
        "Failed" => current("Pod has completed, but not successfully"),
        "Running" if has("Ready", "True").is_some() => current("Pod is Ready"),
        "Running" => {
            let crashing =
                |container: &Fields<'_>| container.text("/state/waiting/reason") == Some("CrashLoopBackOff");
            let crashing: Vec<&str> = object
                .items("/status/containerStatuses")
                .filter(crashing)
                .filter_map(|container| container.text("/name"))
                .collect();
            if crashing.is_empty() {
                return in_progress("Pod is running but is not Ready");
            }
            failed(format!("Containers in CrashLoop state: {}", crashing.join(",")))
        }
        "Pending" => match has("PodScheduled", "False") {
            Some(unscheduled) if unscheduled.reason == "Unschedulable" => {
                let created = object.text("/metadata/creationTimestamp");
                let created = created.and_then(|created| created.parse::<Timestamp>().ok());
                if created.is_some_and(|created| now.duration_since(created) < SCHEDULING) {
                    return in_progress("Pod has not been scheduled");
                }
                failed("Pod could not be scheduled")
            }
            _ => in_progress("Pod is in the Pending phase"),
        },
        "" => in_progress("Pod phase not available"),
        // kstatus has no result here. The phase is `Unknown` when the node of the pod does not respond.
        phase => in_progress(format!("Pod is in the {phase} phase")),
    }
}

fn claim(object: Fields<'_>) -> Readiness {
    match object.text("/status/phase").unwrap_or("unknown") {
        "Bound" => current("PVC is Bound"),
        phase => in_progress(format!("PVC is not Bound. phase: {phase}")),
    }
}

fn service(object: Fields<'_>) -> Readiness {
    let has_address = object.text("/spec/clusterIP").is_some_and(|ip| !ip.is_empty());
    if object.text("/spec/type") == Some("LoadBalancer") && !has_address {
        return in_progress("ClusterIP not set. Service type: LoadBalancer");
    }
    current("Service is ready")
}

fn definition(conditions: &[Condition<'_>]) -> Readiness {
    conditions
        .iter()
        .find_map(|condition| match (condition.kind, condition.status) {
            ("NamesAccepted", "False") => Some(failed(condition.message)),
            ("Established", "False") if condition.reason != "Installing" => Some(failed(condition.message)),
            ("Established", "True") => Some(current("CRD is established")),
            _ => None,
        })
        .unwrap_or_else(|| in_progress("Install in progress"))
}
