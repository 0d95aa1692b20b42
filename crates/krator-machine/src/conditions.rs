//! The conditions of a status, as kstatus (`kubectl wait`, Helm, Flux) reads them.
use crate::{
    graph::{Graph, PAUSED, StateKind},
    status::{Condition, MachineStatus, truncated},
};
use jiff::Timestamp;

/// The condition of objects that do not go on by themselves.
const STALLED: &str = "Stalled";
const UNKNOWN_STATE: &str = "UnknownState";
const UNDECODABLE: &str = "Undecodable";
/// The reason of `Stalled` for an object in a state without a written handler.
pub const NOT_WRITTEN: &str = "NotWritten";

/// The reason of `Reconciling` while the gate of the next state is closed.
pub const WAITS_FOR_GATE: &str = "WaitsForGate";
/// The reason why a gate never opens: its schedule or its time zone is wrong.
pub const INVALID_GATE: &str = "InvalidGate";

/// The reason why a timeout never leads on: its schedule or its time zone is wrong.
pub const INVALID_SCHEDULE: &str = "InvalidSchedule";

/// The condition whose generation is that of the last change of the spec that the machine has reacted to.
pub const RECONCILING: &str = "Reconciling";

/// Makes a condition that a handler sets.
pub fn set(
    kind: &str,
    status: Option<bool>,
    reason: impl Into<String>,
    message: impl Into<String>,
) -> Condition {
    let status = match status {
        Some(true) => "True",
        Some(false) => "False",
        None => "Unknown",
    };
    Condition::unstamped(kind, status, reason, truncated(&message.into()))
}

/// The condition of a paused object, which stays the same during the pause. Its generation is the one at which the
/// pause began, even if that was not reconciled: `kubectl wait` ignores conditions of earlier generations.
pub fn paused(graph: &Graph<'_>, former: &MachineStatus, generation: i64, time: Timestamp) -> Condition {
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

/// Withdraws the stored ask for a gate, for example because the object is paused.
pub fn give_up(graph: &Graph<'_>, status: &mut MachineStatus, time: Timestamp) {
    if status.ask.take().is_none() {
        return;
    }
    let (state, message) = (status.state.clone().unwrap_or_default(), status.message.clone());
    let kind = graph.find(&state).map(|state| graph.state(state).kind);
    let is_true = kind.is_some_and(|kind| holds(kind, RECONCILING));
    let waits =
        |condition: &&mut Condition| condition.kind == RECONCILING && condition.reason == WAITS_FOR_GATE;
    if let Some(condition) = status.conditions.iter_mut().find(waits) {
        if !is_true {
            (condition.status, condition.last_transition_time) = ("False".into(), time);
        }
        (condition.reason, condition.message) = (state, message.unwrap_or_default());
    }
}

/// The condition of an object whose stored state the machine does not know.
pub fn unknown_state(stored: &MachineStatus, generation: i64, time: Timestamp) -> Condition {
    let state = stored.state.as_deref().unwrap_or_default();
    let message = format!(
        "The state {state:?} is unknown to this operator. It runs no handler until the object is deleted."
    );
    left_alone(UNKNOWN_STATE, &message, generation, time)
}

/// The condition of an object that cannot be decoded because of the field at `path`. If `stored` has this
/// condition already, its transition time is kept.
pub fn undecodable(stored: &MachineStatus, path: &str, generation: i64, time: Timestamp) -> Condition {
    let message = format!(
        "This operator cannot decode {}. It runs no handler until the field is changed or the object is deleted.",
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

/// Whether this condition says that an operator did not know the stored state.
pub fn says_unknown_state(condition: &Condition) -> bool {
    condition.kind == STALLED && condition.reason == UNKNOWN_STATE
}

/// Whether this condition says that an operator could run no handler for the object.
pub fn says_left_alone(condition: &Condition) -> bool {
    says_unknown_state(condition) || condition.kind == STALLED && condition.reason == UNDECODABLE
}

/// Whether this condition says that the object is paused.
pub fn says_paused(condition: &Condition) -> bool {
    condition.kind == PAUSED && condition.status == "True"
}

/// Whether a standard condition is `True` in states of this kind.
pub fn holds(kind: StateKind, condition: &str) -> bool {
    match kind {
        StateKind::Working | StateKind::Final => condition == "Reconciling",
        StateKind::Ready => condition == "Ready",
        StateKind::Failed => condition == "Stalled",
    }
}
