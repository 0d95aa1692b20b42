//! The conditions of a status, as kstatus (`kubectl wait`, Helm, Flux) reads them.
use crate::{Condition, Graph, Kind, MachineStatus, Policy, graph::CORE_CONDITIONS};
use jiff::Timestamp;

/// What the machine knows beside its graph.
pub(crate) struct Now<'a> {
    /// The state was entered since the former status was written.
    pub entered: bool,
    /// The last run failed.
    pub retrying: bool,
    pub message: &'a str,
    /// What handlers have set and is not written yet.
    pub set: &'a [SetCondition],
    pub observed: i64,
    pub time: Timestamp,
}

/// A condition as a handler sets it.
#[derive(Clone, Debug)]
pub(crate) struct SetCondition {
    pub kind: &'static str,
    pub status: &'static str,
    pub reason: String,
    pub message: String,
}

/// The conditions to be written over those of `former`: Ready, Reconciling and Stalled, always and in this order,
/// then the description's, which keep their status until a state is entered that sets them. Types that the
/// description does not name belong to others and are left out.
pub(crate) fn render(graph: &Graph, policy: &Policy, former: &MachineStatus, now: Now<'_>) -> Vec<Condition> {
    let by_type = |kind: &str| former.conditions.iter().find(|c| c.kind == kind);
    let retrying = now.retrying && policy.kind != Kind::Failed;
    let reason = if retrying { "Retrying" } else { policy.name };
    let stamped = |kind: &str, status: &str, reason: &str, message: &str| {
        let since = by_type(kind)
            .filter(|c| c.status == status)
            .map_or(now.time, |c| c.last_transition_time);
        Condition {
            kind: kind.to_owned(),
            status: status.to_owned(),
            reason: reason.to_owned(),
            message: message.to_owned(),
            last_transition_time: since,
            observed_generation: Some(now.observed.max(0)),
        }
    };
    let set_here = |kind: &str| {
        policy
            .conditions
            .iter()
            .find(|(k, _)| *k == kind)
            .map(|(_, status)| *status)
    };

    let mut conditions = Vec::with_capacity(CORE_CONDITIONS.len());
    for kind in CORE_CONDITIONS {
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
        conditions.push(stamped(kind, status, reason, now.message));
    }

    for kind in graph.own_conditions() {
        let on_entry = set_here(kind).filter(|_| now.entered && policy.checkpoint);
        let by_handler = now.set.iter().rev().find(|set| set.kind == kind);
        let condition = match (on_entry, by_handler, by_type(kind)) {
            (Some(status), _, _) => stamped(kind, status, policy.name, now.message),
            (None, Some(set), _) => stamped(kind, set.status, &set.reason, &set.message),
            (None, None, Some(former)) => former.clone(),
            (None, None, None) => stamped(kind, "Unknown", "Unset", ""),
        };
        conditions.push(condition);
    }
    conditions
}

/// The table of the language: which condition is True in a state of which kind.
fn holds(kind: Kind, condition: &str) -> bool {
    match kind {
        Kind::Working | Kind::Final => condition == "Reconciling",
        Kind::Ready => condition == "Ready",
        Kind::Failed => condition == "Stalled",
    }
}
