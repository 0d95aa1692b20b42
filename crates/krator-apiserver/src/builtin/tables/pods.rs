//! Rows of pods and events.

use super::{age, has_condition, number, text_or};
use crate::builtin::json::{flag, get, int, list, text};
use serde_json::{Value as Json, json};

/// The status of a pod in `kubectl get pods`.
struct Summary {
    reason: String,
    ready: usize,
    restarts: i64,
    /// The end of the latest container run that was followed by a restart.
    last_restart: Option<String>,
}

impl Summary {
    fn count_restarts(&mut self, status: &Json) {
        self.restarts += number(status, "restartCount");
        let ended = text(status, "lastState.terminated.finishedAt");
        // Timestamps in UTC are ordered like their texts.
        if !ended.is_empty() && self.last_restart.as_deref().is_none_or(|last| last < ended) {
            self.last_restart = Some(ended.to_owned());
        }
    }
}

pub(in super::super) fn pod(pod: &Json, now: i64) -> Vec<Json> {
    let restartable = |container: &&Json| text(container, "restartPolicy") == "Always";
    let total = list(pod, "spec.containers").len()
        + list(pod, "spec.initContainers")
            .iter()
            .filter(restartable)
            .count();
    let summary = summarize(pod);
    let restarts = match &summary.last_restart {
        Some(time) if summary.restarts != 0 => {
            format!("{} ({} ago)", summary.restarts, age(Some(&json!(time)), now))
        }
        _ => summary.restarts.to_string(),
    };
    let ip = list(pod, "status.podIPs").first().map_or("", |ip| text(ip, "ip"));
    vec![
        json!(format!("{}/{total}", summary.ready)),
        json!(summary.reason),
        json!(restarts),
        json!(if ip.is_empty() { "<none>" } else { ip }),
        json!(text_or(pod, "spec.nodeName", "<none>")),
        json!(text_or(pod, "status.nominatedNodeName", "<none>")),
        json!(readiness_gates(pod)),
    ]
}

fn readiness_gates(pod: &Json) -> String {
    let gates = list(pod, "spec.readinessGates");
    if gates.is_empty() {
        return "<none>".to_owned();
    }
    let conditions = list(pod, "status.conditions");
    let ready = gates
        .iter()
        .filter(|gate| has_condition(conditions, text(gate, "conditionType")));
    format!("{}/{}", ready.count(), gates.len())
}

fn summarize(pod: &Json) -> Summary {
    let phase = text(pod, "status.phase");
    let mut summary = Summary {
        reason: text_or(pod, "status.reason", phase).to_owned(),
        ready: 0,
        restarts: 0,
        last_restart: None,
    };
    let conditions = list(pod, "status.conditions");
    let is_gated = |condition: &Json| {
        text(condition, "type") == "PodScheduled" && text(condition, "reason") == "SchedulingGated"
    };
    if conditions.iter().any(is_gated) {
        summary.reason = "SchedulingGated".to_owned();
    }
    let initializing = init_containers(pod, &mut summary);
    if !initializing || has_condition(conditions, "Initialized") {
        summary.restarts = 0;
        summary.last_restart = None;
        for status in list(pod, "status.initContainerStatuses")
            .iter()
            .filter(|status| is_sidecar(pod, status))
        {
            summary.count_restarts(status);
        }
        regular_containers(pod, &mut summary);
    }
    if get(pod, "metadata.deletionTimestamp").is_some() {
        if text(pod, "status.reason") == "NodeLost" {
            summary.reason = "Unknown".to_owned();
        } else if !matches!(phase, "Succeeded" | "Failed") {
            summary.reason = "Terminating".to_owned();
        }
    }
    summary
}

/// Whether the status is of a sidecar: an init container that is always restarted.
fn is_sidecar(pod: &Json, status: &Json) -> bool {
    let containers = list(pod, "spec.initContainers");
    let found = containers
        .iter()
        .find(|container| text(container, "name") == text(status, "name"));
    found.is_some_and(|container| text(container, "restartPolicy") == "Always")
}

/// The reason why a container ended.
fn ended(terminated: &Json) -> String {
    match (text(terminated, "reason"), number(terminated, "signal")) {
        ("", 0) => format!("ExitCode:{}", number(terminated, "exitCode")),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

/// Whether an init container blocks the other containers; if so, sets the reason to its state.
fn init_containers(pod: &Json, summary: &mut Summary) -> bool {
    let total = list(pod, "spec.initContainers").len();
    for (index, status) in list(pod, "status.initContainerStatuses").iter().enumerate() {
        summary.count_restarts(status);
        let terminated = get(status, "state.terminated");
        let waiting = text(status, "state.waiting.reason");
        match terminated {
            Some(terminated) if number(terminated, "exitCode") == 0 => continue,
            _ if is_sidecar(pod, status) && flag(status, "started") => {
                summary.ready += usize::from(flag(status, "ready"));
                continue;
            }
            Some(terminated) => summary.reason = format!("Init:{}", ended(terminated)),
            None if !matches!(waiting, "" | "PodInitializing") => summary.reason = format!("Init:{waiting}"),
            None => summary.reason = format!("Init:{index}/{total}"),
        }
        return true;
    }
    false
}

fn regular_containers(pod: &Json, summary: &mut Summary) {
    let mut has_running = false;
    let mut error = None;
    for status in list(pod, "status.containerStatuses").iter().rev() {
        summary.count_restarts(status);
        let waiting = text(status, "state.waiting.reason");
        if !waiting.is_empty() {
            summary.reason = waiting.to_owned();
        } else if let Some(terminated) = get(status, "state.terminated") {
            summary.reason = ended(terminated);
            if number(terminated, "exitCode") != 0 {
                error = Some(summary.reason.clone());
            }
        } else if flag(status, "ready") && get(status, "state.running").is_some() {
            has_running = true;
            summary.ready += 1;
        }
    }
    if summary.reason == "Completed" {
        if has_running && has_condition(list(pod, "status.conditions"), "Ready") {
            summary.reason = "Running".to_owned();
        } else if let Some(error) = error {
            summary.reason = error;
        } else if has_running {
            summary.reason = "NotReady".to_owned();
        }
    }
}

pub(in super::super) fn event(event: &Json, now: i64) -> Vec<Json> {
    let first = get(event, "firstTimestamp").or_else(|| get(event, "eventTime"));
    let series = get(event, "series");
    let last = match series {
        Some(series) => get(series, "lastObservedTime"),
        None => get(event, "lastTimestamp").or(first),
    };
    let count = match series {
        Some(series) => number(series, "count"),
        None => int(event, "count").filter(|count| *count != 0).unwrap_or(1),
    };
    let kind = text(event, "involvedObject.kind").to_lowercase();
    let target = match text(event, "involvedObject.name") {
        "" => kind,
        name => format!("{kind}/{name}"),
    };
    let component = text_or(event, "source.component", text(event, "reportingComponent"));
    let source = match text_or(event, "source.host", text(event, "reportingInstance")) {
        "" => component.to_owned(),
        host => format!("{component}, {host}"),
    };
    vec![
        json!(age(last, now)),
        json!(text(event, "type")),
        json!(text(event, "reason")),
        json!(target),
        json!(text(event, "involvedObject.fieldPath")),
        json!(source),
        json!(text(event, "message").trim()),
        json!(age(first, now)),
        json!(count),
    ]
}
