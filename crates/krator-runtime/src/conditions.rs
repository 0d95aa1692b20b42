//! The conditions of a status, as kstatus (`kubectl wait`, Helm, Flux) reads them.
use crate::{
    graph::{Graph, Policy, STANDARD_CONDITIONS, StateKind},
    status::{Condition, MachineStatus},
};
use jiff::Timestamp;

/// The condition whose generation is that of the last change of the spec that the machine has reacted to.
pub(crate) const RECONCILING: &str = "Reconciling";

/// What the conditions depend on beside the graph and the state.
pub(crate) struct Inputs<'a> {
    /// Whether the state was entered since the former status was written.
    pub entered: bool,
    /// Whether the last run failed and is retried.
    pub retrying: bool,
    pub message: &'a str,
    /// What handlers have set since the former status was written.
    pub set: &'a [SetCondition],
    /// The generation that the conditions are about.
    pub observed: i64,
    /// The generation that the condition `Reconciling` is about, if it is a later one.
    pub entered_for: i64,
    pub time: Timestamp,
}

/// A condition as a handler sets it.
#[derive(Clone, Debug)]
pub(crate) struct SetCondition {
    pub kind: String,
    pub status: String,
    pub reason: String,
    pub message: String,
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
    let by_type = |kind: &str| former.conditions.iter().find(|c| c.kind == kind);
    let retrying = inputs.retrying && policy.kind != StateKind::Failed;
    let reason = if retrying { "Retrying" } else { policy.name };
    let stamped = |kind: &str, status: &str, reason: &str, message: &str| {
        let since = by_type(kind)
            .filter(|c| c.status == status)
            .map_or(inputs.time, |c| c.last_transition_time);
        Condition {
            kind: kind.to_owned(),
            status: status.to_owned(),
            reason: reason.to_owned(),
            message: message.to_owned(),
            last_transition_time: since,
            observed_generation: Some(inputs.observed.max(0)),
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
            holds(policy.kind, kind)
        };
        let status = match set_here(kind) {
            Some("keep") if !retrying => by_type(kind).map_or("Unknown", |c| c.status.as_str()),
            Some(status) if !retrying => status,
            _ if of_kind => "True",
            _ => "False",
        };
        let mut condition = stamped(kind, status, reason, inputs.message);
        if kind == RECONCILING {
            let observed = inputs.observed.max(inputs.entered_for).max(0);
            condition.observed_generation = Some(observed);
        }
        conditions.push(condition);
    }

    for kind in graph.own_conditions() {
        let on_entry = set_here(kind).filter(|_| inputs.entered && policy.checkpoint);
        let by_handler = inputs.set.iter().rev().find(|set| set.kind == kind);
        let condition = match (on_entry, by_handler, by_type(kind)) {
            (Some(status), _, _) => stamped(kind, status, policy.name, inputs.message),
            (None, Some(set), _) => stamped(kind, &set.status, &set.reason, &set.message),
            (None, None, Some(former)) => former.clone(),
            (None, None, None) => stamped(kind, "Unknown", "Unset", ""),
        };
        conditions.push(condition);
    }
    conditions
}

/// Whether a standard condition is `True` in states of this kind.
fn holds(kind: StateKind, condition: &str) -> bool {
    match kind {
        StateKind::Working | StateKind::Final => condition == "Reconciling",
        StateKind::Ready => condition == "Ready",
        StateKind::Failed => condition == "Stalled",
    }
}
