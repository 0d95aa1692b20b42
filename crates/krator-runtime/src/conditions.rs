//! The conditions of a status, as kstatus (`kubectl wait`, Helm, Flux) reads them.
use crate::{
    graph::{Graph, PAUSED, Policy, STANDARD_CONDITIONS, StateKind},
    status::{Condition, MachineStatus, truncated},
};
use jiff::Timestamp;

/// The condition of objects that do not go on by themselves.
const STALLED: &str = "Stalled";
const UNKNOWN_STATE: &str = "UnknownState";
const UNDECODABLE: &str = "Undecodable";
const NOT_WRITTEN: &str = "NotWritten";

/// The condition whose generation is that of the last change of the spec that the machine has reacted to.
pub(crate) const RECONCILING: &str = "Reconciling";

/// The inputs of the conditions beside the graph and the state.
pub(crate) struct Inputs<'a> {
    /// Whether the state was entered since the former status was written.
    pub entered: bool,
    /// Whether the last run failed and is retried.
    pub retrying: bool,
    pub message: &'a str,
    /// Conditions that were set before the state was entered, and are not written yet.
    pub set_before: &'a [Condition],
    /// Conditions that handlers have set in the state since the former status was written.
    pub set: &'a [Condition],
    /// The generation of the object.
    pub generation: i64,
    /// Whether the object is paused from now on.
    pub paused: bool,
    /// The generation that the conditions are about, unless the handler is not written: that is so for every generation.
    pub observed: i64,
    /// The generation that the condition `Reconciling` is about, if it is a later one.
    pub entered_for: i64,
    pub time: Timestamp,
}

/// The conditions that replace those of `former`: always `Ready`, `Reconciling` and `Stalled`, in this order,
/// followed by those of the description. The latter keep their status until something sets them. Conditions that the
/// description does not name belong to others and are left out.
pub(crate) fn render(
    graph: &Graph<'_>,
    policy: &Policy<'_>,
    former: &MachineStatus,
    inputs: Inputs<'_>,
) -> Vec<Condition> {
    let by_type = |kind: &str| {
        let mut known = former.conditions.iter().filter(|c| !says_left_alone(c));
        known.find(|c| c.kind == kind)
    };
    let not_written = policy.not_written();
    // A state whose handler nobody has written looks like a failed one.
    let shown_kind = not_written.as_ref().map_or(policy.kind, |_| StateKind::Failed);
    let retrying = inputs.retrying && shown_kind != StateKind::Failed;
    let (reason, message) = match &not_written {
        Some(message) => (NOT_WRITTEN, message.as_str()),
        None if retrying => ("Retrying", inputs.message),
        None => (policy.name, inputs.message),
    };
    let stamped = |kind: &str, status: &str, reason: &str, message: &str| {
        let since = by_type(kind)
            .filter(|c| c.status == status)
            .map_or(inputs.time, |c| c.last_transition_time);
        Condition {
            last_transition_time: since,
            observed_generation: Some(inputs.observed.max(0)),
            ..Condition::unstamped(kind, status, reason, message)
        }
    };
    let set_here = |kind: &str| {
        policy
            .conditions
            .iter()
            .find(|(k, _)| *k == kind)
            .map(|(_, status)| *status)
    };

    let mut conditions = Vec::with_capacity(STANDARD_CONDITIONS.len());
    for kind in STANDARD_CONDITIONS {
        let of_kind = if retrying {
            kind == "Reconciling"
        } else {
            holds(shown_kind, kind)
        };
        let status = match set_here(kind) {
            Some("keep") if !retrying => by_type(kind).map_or("Unknown", |c| &c.status),
            Some(status) if !retrying => status,
            _ if of_kind => "True",
            _ => "False",
        };
        let mut condition = stamped(kind, status, reason, message);
        if kind == RECONCILING {
            let observed = inputs.observed.max(inputs.entered_for).max(0);
            condition.observed_generation = Some(observed);
        } else if not_written.is_some() {
            // `kubectl wait` passes over conditions of former generations.
            condition.observed_generation = Some(inputs.generation.max(0));
        }
        conditions.push(condition);
    }

    for kind in graph.own_conditions() {
        let last = |set: &[Condition]| set.iter().rev().find(|set| set.kind == kind).cloned();
        let on_entry = || set_here(kind).filter(|_| inputs.entered);
        let condition = if let Some(set) = last(inputs.set) {
            stamped(kind, &set.status, &set.reason, &set.message)
        } else if let Some(status) = on_entry() {
            stamped(kind, status, policy.name, inputs.message)
        } else if let Some(set) = last(inputs.set_before) {
            stamped(kind, &set.status, &set.reason, &set.message)
        } else if let Some(former) = by_type(kind) {
            former.clone()
        } else {
            stamped(kind, "Unknown", "Unset", "")
        };
        conditions.push(condition);
    }
    if inputs.paused {
        conditions.push(paused(graph, former, inputs.generation, inputs.time));
    }
    conditions
}

/// The condition of a paused object. Nothing changes it for as long as the pause lasts. It is about the generation at
/// which the pause began, whether or not that was dealt with: `kubectl wait` passes over conditions of earlier ones.
pub(crate) fn paused(
    graph: &Graph<'_>,
    former: &MachineStatus,
    generation: i64,
    time: Timestamp,
) -> Condition {
    let known = former.conditions.iter().find(|c| says_paused(c)).cloned();
    known.unwrap_or_else(|| {
        let group = graph.group();
        let message = format!("No handler runs while the annotation {group}/paused is set.");
        Condition {
            last_transition_time: time,
            observed_generation: Some(generation),
            ..Condition::unstamped(PAUSED, "True", "Annotated", message)
        }
    })
}

/// The condition of an object whose stored state the machine does not know.
pub(crate) fn unknown_state(stored: &MachineStatus, generation: i64, time: Timestamp) -> Condition {
    let state = stored.state.as_deref().unwrap_or_default();
    let message = format!(
        "This operator does not know the state {state:?}, so it leaves the object alone until it is deleted."
    );
    left_alone(UNKNOWN_STATE, &message, generation, time)
}

/// The condition of an object that has no value of its type in Rust, because of the field at `path`. One that `stored` has
/// already keeps its time.
#[cfg(feature = "kube")]
pub(crate) fn undecodable(stored: &MachineStatus, path: &str, generation: i64, time: Timestamp) -> Condition {
    let message = format!(
        "This operator cannot decode {}, so it leaves the object alone until that is changed or the object is deleted.",
        path.escape_debug()
    );
    let condition = left_alone(UNDECODABLE, &message, generation, time);
    let same = |other: &&Condition| {
        Condition {
            last_transition_time: time,
            ..(*other).clone()
        } == condition
    };
    stored.conditions.iter().find(same).cloned().unwrap_or(condition)
}

/// The condition of an object for which no handler can run.
fn left_alone(reason: &str, message: &str, generation: i64, time: Timestamp) -> Condition {
    Condition {
        last_transition_time: time,
        observed_generation: Some(generation),
        ..Condition::unstamped(STALLED, "True", reason, truncated(message))
    }
}

/// Whether it is the condition of an object whose stored state an operator did not know.
pub(crate) fn says_unknown_state(condition: &Condition) -> bool {
    condition.kind == STALLED && condition.reason == UNKNOWN_STATE
}

/// Whether it is the condition of an object for which an operator could run no handler.
fn says_left_alone(condition: &Condition) -> bool {
    says_unknown_state(condition) || condition.kind == STALLED && condition.reason == UNDECODABLE
}

/// Whether it is the condition of a paused object.
pub(crate) fn says_paused(condition: &Condition) -> bool {
    condition.kind == PAUSED && condition.status == "True"
}

/// Whether a standard condition is `True` in states of this kind.
fn holds(kind: StateKind, condition: &str) -> bool {
    match kind {
        StateKind::Working | StateKind::Final => condition == "Reconciling",
        StateKind::Ready => condition == "Ready",
        StateKind::Failed => condition == "Stalled",
    }
}
