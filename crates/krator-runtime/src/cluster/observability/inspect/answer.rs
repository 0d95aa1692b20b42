//! The JSON of `/state`.
use super::{FoundObject, Kind, Shown, Sources, graph::edges, query::Query};
use crate::{graph::StateId, status::EntryId};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// An entry of an object into a state.
#[derive(Clone, Serialize)]
pub(super) struct Transition {
    pub namespace: String,
    pub name: String,
    /// `null` for a new object.
    pub from: Option<&'static str>,
    pub to: &'static str,
    pub cause: String,
    pub entry: EntryId,
    pub time: Timestamp,
    pub message: String,
}

/// The answer to a query, with the details that it asks for.
pub(super) fn render(sources: &Sources, kinds: &[Arc<Kind>], details: Vec<(&str, Value)>) -> String {
    let problems = sources.health.unready();
    let kinds = kinds.iter().map(|kind| of_kind(kind));
    let mut answer = json!({
        "operator": sources.operator,
        "version": sources.version,
        "runtime": env!("CARGO_PKG_VERSION"),
        "time": sources.clock.time(),
        // Whether this process acts, or waits for the Lease.
        "leads": *sources.leads.borrow(),
        "ready": problems.is_empty(),
        // Conditions that the process still waits for.
        "problems": problems,
        "kinds": kinds.collect::<Vec<_>>(),
    });
    for (name, detail) in details {
        answer[name] = detail;
    }
    answer.to_string()
}

/// Adds a field, unless there is nothing to say.
fn add(to: &mut Value, name: &str, value: Option<impl Serialize>) {
    if let Some(value) = value {
        to[name] = json!(value);
    }
}

fn of_kind(kind: &Kind) -> Value {
    let initial = kind.graph.state(kind.graph.initial).name;
    let states = kind.graph.states.iter().zip(kind.metrics.objects_by_state());
    let states = states.map(|(policy, objects)| {
        let mut state = json!({
            "name": policy.name,
            "kind": policy.kind,
            "initial": policy.name == initial,
            "onDeletionPath": policy.deletion_path,
            "objects": objects,
        });
        add(&mut state, "phase", policy.phase);
        // The file of the handler, which is empty if it is not known.
        add(&mut state, "notWritten", (!policy.written).then_some(policy.file));
        state
    });
    let limits = kind
        .metrics
        .limits()
        .map(|(name, [taken, waiting])| json!({"name": name, "taken": taken, "waiting": waiting}));
    json!({
        "group": kind.group,
        "kind": kind.kind,
        "states": states.collect::<Vec<_>>(),
        "limits": limits.collect::<Vec<_>>(),
        "edges": edges(kind.graph),
        // The number of objects whose stored state is unknown.
        "parked": kind.metrics.parked_objects(),
    })
}

/// The objects that were found, as many as are asked for, and how many there are.
pub(super) fn objects(kind: &Kind, found: &[FoundObject], query: &Query<'_>) -> Value {
    let found = found.iter().filter_map(|found| Some((found.look()?, found.at)));
    let mut found: Vec<_> = found
        .filter(|(shown, _)| shown.metadata.name.contains(query.search))
        .collect();
    found.sort_unstable_by(|(one, _), (other, _)| one.metadata.cmp(&other.metadata));
    let items = found.iter().take(query.limit);
    let items: Vec<Value> = items.map(|(shown, at)| object(kind, *at, shown)).collect();
    json!({"total": found.len(), "items": items})
}

pub(super) fn object(kind: &Kind, at: Option<StateId>, shown: &Shown) -> Value {
    // The status of a state without a checkpoint may not be written yet; what is stored is about a former one then.
    let status = shown.status.as_ref();
    let stored_state = status.and_then(|status| status.state.as_deref());
    let is_stored = at.is_some() && stored_state.and_then(|name| kind.graph.find(name)) == at;
    let current = status.filter(|_| is_stored || at.is_none());
    let message = status.and_then(|status| status.message.as_deref());
    let mut object = json!({
        "namespace": shown.metadata.namespace,
        "name": shown.metadata.name,
        // `null` if the stored state is unknown.
        "state": at.map(|at| kind.graph.state(at).name),
        "deleting": shown.metadata.deleting,
        "conditions": status.map_or(&[][..], |status| &status.conditions),
    });
    add(&mut object, "storedState", stored_state.filter(|_| !is_stored));
    // Absent until it is stored.
    let since = current.and_then(|status| status.state_entered_time);
    add(&mut object, "since", since);
    add(&mut object, "entry", current.and_then(|status| status.entry));
    add(&mut object, "message", message);
    // While the last run is retried.
    let attempts = current.and_then(|status| status.attempts);
    let last_error = |attempts| json!({"attempts": attempts, "message": message.unwrap_or_default()});
    let attempts = attempts.filter(|attempts| *attempts > 0);
    add(&mut object, "lastError", attempts.map(last_error));
    object
}
