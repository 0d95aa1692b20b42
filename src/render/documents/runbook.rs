//! `docs/runbook.md`: for each state, its meaning, its exits, and advice for the person on call.

use serde_json::{Value as Json, json};

use super::markdown::paragraph;
use crate::graph::{EdgeKind, StateGraph, Step};
use crate::model::{
    Description, Effects, Kind, ObjectKind, Period, RetryLimit, Scope, State, StateId, StateKind, Wait,
    WatchSource, format_duration,
};
use crate::render::diagram;
use crate::render::manifests::alert::{Alert, OPERATOR, kind_section, state_section};
use crate::render::manifests::alerts::alerts;
use crate::render::templates::Template;

/// The document.
pub fn runbook(description: &Description) -> String {
    let alerts = alerts(description);
    let kinds: Vec<Json> = description
        .kinds
        .iter()
        .map(|kind| of_kind(kind, &alerts))
        .collect();
    Template::Runbook.render(&json!({
        "operator": description.operator.as_str(),
        "namespace": description.namespace,
        "alerts": of_section(&alerts, OPERATOR),
        "elected": description.deploy.leader_election.value,
        "kinds": kinds,
    }))
}

fn of_section(alerts: &[Alert], section: &str) -> Vec<Json> {
    let alerts = alerts.iter().filter(|alert| alert.section == section);
    let alerts = alerts.map(
        |alert| json!({"name": alert.name, "summary": paragraph(&alert.summary), "advice": alert.advice}),
    );
    alerts.collect()
}

fn of_kind(kind: &Kind, alerts: &[Alert]) -> Json {
    let graph = StateGraph::of(kind);
    let resource = &kind.resource;
    let states: Vec<Json> = kind
        .state_ids()
        .map(|(id, state)| {
            let section = state_section(kind, state);
            json!({
                "heading": section,
                "name": state.name.as_str(),
                "doc": state.doc.as_ref().map(|doc| paragraph(&doc.value)).unwrap_or_default(),
                "means": means(state),
                "waits": waits(kind, state),
                "ways": ways(kind, &graph, id),
                "alerts": of_section(alerts, &section),
                "advice": advice(kind, &graph, id),
                "last_resort": state.on_deletion_path,
            })
        })
        .collect();
    json!({
        "heading": kind_section(kind),
        "kind": resource.kind.as_str(),
        "resource": resource.definition(),
        "group": resource.group.as_str(),
        "approvals": kind.needs_approvals(),
        "namespaced": resource.scope.value == Scope::Namespaced,
        "deletion": kind.machine.deletion.is_some(),
        "alerts": of_section(alerts, &kind_section(kind)),
        "states": states,
    })
}

/// The meaning of the state for an object.
fn means(state: &State) -> &'static str {
    match (state.kind.value, state.on_deletion_path) {
        (StateKind::Final, true) => "The end of the deletion: the object goes when this is done.",
        (StateKind::Final, false) => "The end: when this is done, the operator deletes the object.",
        (_, true) => {
            "The object is being deleted. It stays until a final state has ended, because of its finalizer."
        }
        (StateKind::Working, _) => "The operator is at work, and the object is not ready.",
        (StateKind::Ready, _) => "The object is as its spec requests.",
        (StateKind::Failed, _) => "The operator cannot continue without a change from outside.",
    }
}

/// The triggers of the handler while an object is in the state.
fn waits(kind: &Kind, state: &State) -> String {
    let Some(wait) = &state.wait else {
        return "Nothing: its handler runs to its end, and is retried after an error.".to_owned();
    };
    let mut for_what = Vec::new();
    if let Some(poll) = &wait.poll {
        for_what.push(match &poll.value {
            Period::Fixed(time) => format!("a time: its handler runs every {}", format_duration(*time)),
            Period::Field(field) => format!("a time: its handler runs when `{}` says so", field.path),
        });
    }
    let watched = watched(kind, wait);
    if !watched.is_empty() {
        for_what.push(format!("changes of {}", watched.join(", ")));
    }
    match for_what.is_empty() {
        true => "A change of its spec.".to_owned(),
        false => {
            let text = for_what.join(", and ");
            text[..1].to_uppercase() + &text[1..] + "."
        }
    }
}

fn watched(kind: &Kind, wait: &Wait) -> Vec<String> {
    let named = |kind: &ObjectKind| format!("`{}`", kind.reference());
    let owned = || kind.owns.iter().map(|owned| named(&owned.kind));
    let others = || kind.watches.iter().map(|watch| named(&watch.kind));
    let mut all = Vec::new();
    for source in &wait.watch {
        match &source.value {
            WatchSource::Itself => all.push("the object itself".to_owned()),
            WatchSource::Owned => all.extend(owned()),
            WatchSource::Watched => all.extend(others()),
            WatchSource::Kind(kind) => all.push(named(kind)),
        }
    }
    all.dedup();
    all
}

/// The exits of a state, and the reasons why an object takes them.
fn ways(kind: &Kind, graph: &StateGraph, state: StateId) -> Vec<Json> {
    let leaving = graph.leaving(state);
    let ways = leaving.map(|step| {
        let label = diagram::label(kind, step).map(|label| paragraph(&label));
        let why = match step.edge.kind {
            EdgeKind::Next => match label {
                Some(label) => format!("The handler goes there: {label}."),
                None => "The handler goes there.".to_owned(),
            },
            EdgeKind::Timeout => format!("{} in the state.", sentence(label)),
            EdgeKind::Retry => format!("{}.", sentence(label)),
            EdgeKind::Limit => format!("Without it, it is {}.", label.unwrap_or_default()),
            EdgeKind::Deletion | EdgeKind::OnDelete => "The object is deleted.".to_owned(),
            EdgeKind::SpecChange => format!("{}.", sentence(label)),
            EdgeKind::Resume => "The operator restarts while the handler may have been running.".to_owned(),
        };
        json!({"to": kind.state(step.to).name.as_str(), "why": why})
    });
    ways.collect()
}

fn sentence(label: Option<String>) -> String {
    let label = label.unwrap_or_default();
    let mut letters = label.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => label,
    }
}

/// Advice for an object that stays in the state.
fn advice(kind: &Kind, graph: &StateGraph, id: StateId) -> Vec<String> {
    let state = kind.state(id);
    let mut advice = Vec::new();
    let leaves_by = |wanted: fn(&Step) -> bool| graph.leaving(id).any(|step| wanted(&step));
    match state.kind.value {
        StateKind::Ready => advice.push("Nothing needs to be done: this is the desired state.".to_owned()),
        StateKind::Failed if leaves_by(|step| step.edge.kind == EdgeKind::SpecChange) => {
            advice.push("Correct the spec and apply it: the object then leaves this state.".to_owned());
        }
        StateKind::Failed if !state.next.is_empty() => {
            advice.push(
                "Fix the cause in its message. The handler runs again and continues by itself.".to_owned(),
            );
        }
        StateKind::Failed => {
            advice.push(
                "Only a deletion leads out: delete the object, and create it again when the cause is fixed."
                    .to_owned(),
            );
        }
        StateKind::Working | StateKind::Final => {}
    }
    if let Some(retry) = &state.retry
        && state.has_work() | (state.kind.value == StateKind::Final)
    {
        let ends = match (retry.limit.value, &retry.then) {
            (RetryLimit::Times(times), Some(then)) => {
                let then = kind.state(then.value).name.as_str();
                format!(". After {times} retries the object goes to `{then}`.")
            }
            (RetryLimit::Times(times), None) => {
                format!(". After {times} retries the object is released anyway.")
            }
            (RetryLimit::Unlimited, _) => ", without end.".to_owned(),
        };
        advice.push(format!(
            "When the handler fails, the message of the object has the error. The handler is retried after {}, and \
             then at growing intervals of at most {}{ends}",
            format_duration(retry.initial.value),
            format_duration(retry.max.value),
        ));
    }
    if state.effects.value == Effects::Once {
        advice.push(
            "Its handler runs at most once for each entry, so it is unknown whether its effects have happened. Find \
             that out before you repeat them."
                .to_owned(),
        );
    }
    if state.kind.value == StateKind::Working && state.timeout.is_none() && state.may_stay() {
        advice.push("It has no timeout: an object may wait here forever.".to_owned());
    }
    if state.on_deletion_path {
        advice.push(
            "If the state cannot end, because what it cleans up is gone for good, the last resort is to remove the \
             finalizer, without any cleanup:"
                .to_owned(),
        );
    }
    advice
}
