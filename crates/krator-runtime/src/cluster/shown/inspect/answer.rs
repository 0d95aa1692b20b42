//! The JSON of `/state`.
use super::{FoundObject, Kind, Shown, Sources, graph::edges, query::Query};
use crate::{
    graph::StateKind,
    status::{Condition, EntryId, MachineStatus},
};
use jiff::Timestamp;
use serde::Serialize;
use std::sync::Arc;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    operator: &'a str,
    version: &'a str,
    runtime: &'a str,
    time: Timestamp,
    /// Whether this process acts, or waits for the Lease.
    leads: bool,
    ready: bool,
    /// Conditions that the process still waits for.
    problems: Vec<String>,
    kinds: Vec<KindAnswer<'a>>,
    #[serde(flatten)]
    details: Details<'a>,
}

/// The part of the answer that only some queries ask for.
#[derive(Default, Serialize)]
pub(super) struct Details<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objects: Option<Objects<'a>>,
    /// `null` if there is no such object (any more).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<Option<ObjectAnswer<'a>>>,
    /// The latest one is the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transitions: Option<Vec<Transition>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct KindAnswer<'a> {
    group: &'a str,
    kind: &'a str,
    states: Vec<StateAnswer<'a>>,
    edges: Vec<super::graph::Edge>,
    /// The number of objects whose stored state is unknown.
    parked: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StateAnswer<'a> {
    name: &'a str,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<&'a str>,
    initial: bool,
    on_deletion_path: bool,
    /// If nobody has written the handler: its file, which is empty if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_written: Option<&'a str>,
    /// The number of objects in the state.
    objects: i64,
}

#[derive(Serialize)]
pub(super) struct Objects<'a> {
    /// How many there are, also those beyond the limit.
    total: usize,
    /// By namespace and name.
    items: Vec<ObjectAnswer<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ObjectAnswer<'a> {
    namespace: &'a str,
    name: &'a str,
    /// `null` if the stored state is unknown.
    state: Option<&'a str>,
    /// The stored state, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    stored_state: Option<&'a str>,
    /// When it entered the state; absent until that is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<EntryId>,
    deleting: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_error: Option<LastError<'a>>,
    conditions: &'a [Condition],
}

/// The error of the last run, while it is retried.
#[derive(Serialize)]
struct LastError<'a> {
    /// How often the handler has failed in a row.
    attempts: u32,
    message: &'a str,
}

/// An entry of an object into a state.
#[derive(Clone, Serialize)]
pub(super) struct Transition {
    pub namespace: String,
    pub name: String,
    /// `null` for a new object.
    pub from: Option<&'static str>,
    pub to: &'static str,
    pub cause: &'static str,
    pub entry: EntryId,
    pub time: Timestamp,
    pub message: String,
}

pub(super) fn render(
    sources: &Sources,
    kinds: &[Arc<Kind>],
    details: Details<'_>,
) -> serde_json::Result<String> {
    let problems = sources.health.unready();
    serde_json::to_string(&Answer {
        operator: sources.operator,
        version: sources.version,
        runtime: env!("CARGO_PKG_VERSION"),
        time: sources.clock.time(),
        leads: *sources.leads.borrow(),
        ready: problems.is_empty(),
        problems,
        kinds: kinds.iter().map(|kind| of_kind(kind)).collect(),
        details,
    })
}

fn of_kind(kind: &Kind) -> KindAnswer<'_> {
    let initial = kind.graph.state(kind.graph.initial()).name;
    let states = kind.graph.states().iter().zip(kind.metrics.objects_by_state());
    KindAnswer {
        group: &kind.group,
        kind: &kind.kind,
        states: states
            .map(|(policy, objects)| StateAnswer {
                name: policy.name,
                kind: name_of(policy.kind),
                phase: policy.phase,
                initial: policy.name == initial,
                on_deletion_path: policy.deletion_path,
                not_written: (!policy.written).then_some(policy.file),
                objects,
            })
            .collect(),
        edges: edges(kind.graph),
        parked: kind.metrics.parked_objects(),
    }
}

/// The objects that were found, as many as are asked for.
pub(super) fn objects<'a>(kind: &'a Kind, found: &'a [FoundObject], query: &Query<'_>) -> Objects<'a> {
    let mut found: Vec<(Shown<'a>, &'a FoundObject)> = found
        .iter()
        .map(|found| (found.object.shown(), found))
        .filter(|(shown, _)| shown.name.contains(query.search))
        .collect();
    found.sort_unstable_by_key(|(shown, _)| (shown.namespace, shown.name));
    Objects {
        total: found.len(),
        items: found
            .iter()
            .take(query.limit)
            .map(|(_, found)| object(kind, found))
            .collect(),
    }
}

pub(super) fn object<'a>(kind: &'a Kind, found: &'a FoundObject) -> ObjectAnswer<'a> {
    let shown = found.object.shown();
    let stored = |read: fn(&'a MachineStatus) -> Option<&'a str>| shown.status.and_then(read);
    let state = found.at.map(|at| kind.graph.state(at).name);
    // The status of a state without a checkpoint may not be written yet; what is stored is about a former one then.
    let stored_state = stored(|status| status.state.as_deref());
    let is_stored = found.at.is_some() && stored_state.and_then(|name| kind.graph.find(name)) == found.at;
    let current = shown.status.filter(|_| is_stored || found.at.is_none());
    let message = stored(|status| status.message.as_deref());
    ObjectAnswer {
        namespace: shown.namespace,
        name: shown.name,
        state,
        stored_state: stored_state.filter(|_| !is_stored),
        since: current.and_then(|status| status.state_entered_time),
        entry: current.and_then(|status| status.entry),
        deleting: shown.deleting,
        message,
        last_error: current
            .and_then(|status| status.attempts)
            .filter(|attempts| *attempts > 0)
            .map(|attempts| LastError {
                attempts,
                message: message.unwrap_or_default(),
            }),
        conditions: shown.status.map_or(&[], |status| &status.conditions),
    }
}

fn name_of(kind: StateKind) -> &'static str {
    match kind {
        StateKind::Working => "working",
        StateKind::Ready => "ready",
        StateKind::Failed => "failed",
        StateKind::Final => "final",
    }
}
