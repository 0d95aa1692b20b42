//! The deletion path: that it ends, that it keeps apart from ordinary life, that errors cannot hold it up.

use super::{Check, Found, Subject};
use crate::catalog::{DELETION_ESCAPE, DELETION_NO_BAILOUT, NO_PATH_TO_FINAL};
use crate::finding::Finding;
use crate::graph::{EdgeKind, Step};
use crate::model::{RetryLimit, StateId, StateKind};

pub(super) const ESCAPE: &[Check] = &[Check {
    rule: &DELETION_ESCAPE,
    needs_edges: false,
    unless: &[],
    find: deletion_escape,
}];

pub(super) const CHECKS: &[Check] = &[Check {
    rule: &DELETION_NO_BAILOUT,
    needs_edges: true,
    unless: &[&DELETION_ESCAPE, &NO_PATH_TO_FINAL],
    find: no_bailout,
}];

/// How many findings show a way: each costs a search.
const MOST_WAYS: usize = 20;

/// The edges that the deletion path follows.
fn is_path_edge(step: Step) -> bool {
    matches!(
        step.edge.kind,
        EdgeKind::Next | EdgeKind::Timeout | EdgeKind::Retry | EdgeKind::Limit | EdgeKind::Resume
    )
}

fn deletion_escape(subject: &Subject<'_>) -> Vec<Found> {
    let kind = subject.kind;
    let initial = kind.machine.initial;
    let entries = &kind.machine.deletion_entries;
    if entries.is_empty() {
        return Vec::new();
    }
    if entries.contains(&initial.value) && !kind.lacks_edges {
        let message = format!(
            "`{}` is where new objects begin, and where deleted ones go",
            subject.name(initial.value)
        );
        return vec![Found::of(
            initial.value,
            Finding::new(&DELETION_ESCAPE, initial.span, message),
        )];
    }
    let is_final = |id: StateId| kind.state(id).kind.value == StateKind::Final;
    let ordinary =
        |step: Step| !step.edge.kind.is_deletion() && !entries.contains(&step.from) && !is_final(step.from);
    let life = subject.graph.reached([initial.value], ordinary);
    let way_to = |id: StateId, found: usize| {
        // Thousands of findings need no way each.
        if found > MOST_WAYS {
            return Vec::new();
        }
        let way = subject.graph.way([initial.value], |state| state == id, ordinary);
        subject.names(&way.unwrap_or_default())
    };

    let mut found = Vec::new();
    let mut blamed = vec![false; kind.states.len()];
    for step in subject.graph.steps() {
        let leads_in =
            ordinary(step) && life[step.from.0] && entries.contains(&step.to) && !is_final(step.to);
        if leads_in && !std::mem::replace(&mut blamed[step.to.0], true) {
            let message = format!(
                "ordinary life leads to `{}`, where the deletion path begins",
                subject.name(step.to)
            );
            let finding = Finding::new(&DELETION_ESCAPE, step.edge.span, message)
                .label("leads there without a deletion")
                .path(way_to(step.to, found.len()))
                .help("only deletion leads onto the deletion path; give ordinary life states of its own");
            found.push(Found::of(step.from, finding));
        }
    }
    // Along the path up to the first state that is also in ordinary life: what follows, follows from that.
    let is_shared = |id: StateId| life[id.0] && !entries.contains(&id) && !is_final(id);
    let starts = entries.iter().copied();
    let path = subject
        .graph
        .reached(starts, |step| is_path_edge(step) && !is_shared(step.from));
    for step in subject.graph.steps() {
        let crosses = is_path_edge(step) && path[step.from.0] && !is_shared(step.from) && is_shared(step.to);
        if crosses && !std::mem::replace(&mut blamed[step.to.0], true) {
            let message = format!(
                "`{}` is on the deletion path and in ordinary life",
                subject.name(step.to)
            );
            let finding = Finding::new(&DELETION_ESCAPE, step.edge.span, message)
                .label(format!(
                    "the deletion path leads there from `{}`",
                    subject.name(step.from)
                ))
                .related(subject.span(step.to), "ordinary life comes here too")
                .path(way_to(step.to, found.len()))
                .help(
                    "after a restart nobody could tell whether the object is being deleted; use two states",
                );
            found.push(Found::of(step.from, finding));
        }
    }
    found
}

pub(super) fn no_path_to_final(subject: &Subject<'_>) -> Vec<Found> {
    let kind = subject.kind;
    if kind.machine.deletion.is_none() {
        return Vec::new();
    }
    let wanted = |step: Step| is_path_edge(step) && step.edge.kind != EdgeKind::Resume;
    let finals = kind
        .state_ids()
        .filter(|(_, state)| state.kind.value == StateKind::Final)
        .map(|(id, _)| id);
    let reaching = subject.graph.reaching(finals, wanted);
    let is_stuck = |id: StateId| kind.state(id).on_deletion_path && !reaching[id.0];
    // Only the knots at the bottom: what leads into them is stuck because they are.
    let mut component_of = vec![usize::MAX; kind.states.len()];
    let components = subject.graph.components(is_stuck, wanted);
    for (at, component) in components.iter().enumerate() {
        for id in component {
            component_of[id.0] = at;
        }
    }
    let mut found = Vec::new();
    for (at, component) in components.iter().enumerate() {
        let leads_on = component
            .iter()
            .flat_map(|id| subject.graph.leaving(*id))
            .any(|step| wanted(step) && component_of[step.to.0] != at);
        // A `working` state without any way on has its own finding.
        let has_own = component.iter().all(|id| {
            let state = kind.state(*id);
            state.kind.value == StateKind::Working && state.next.is_empty() && state.timeout.is_none()
        });
        if leads_on || has_own {
            continue;
        }
        let id = component[0];
        let starts = kind.machine.deletion_entries.iter().copied();
        let way = (found.len() <= MOST_WAYS)
            .then(|| subject.graph.way(starts, |state| state == id, is_path_edge))
            .flatten()
            .unwrap_or_default();
        let message = format!("a deleted object that comes to `{}` never goes", subject.name(id));
        let finding = Finding::new(&NO_PATH_TO_FINAL, subject.span(id), message)
            .label("no `final` state can be reached from here")
            .path(subject.names(&way))
            .help("lead it to a state of `kind: final` by `next`, `timeout`, `retry` or `limit`");
        found.push(Found::of(id, finding));
    }
    found
}

fn no_bailout(subject: &Subject<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for (id, state) in subject
        .kind
        .state_ids()
        .filter(|(_, state)| state.on_deletion_path)
    {
        let Some(retry) = state
            .retry
            .as_ref()
            .filter(|retry| retry.limit.value == RetryLimit::Unlimited)
        else {
            continue;
        };
        if state.timeout.is_some() {
            continue;
        }
        let message = format!(
            "a handler of `{}` that keeps failing holds a deleted object for ever",
            state.name.value
        );
        let mut finding = Finding::new(&DELETION_NO_BAILOUT, state.name.span, message)
            .label("neither a retry limit nor a timeout")
            .help("say when to give up: `retry: {limit: 5, then: STATE}`; the machine's `then` is not inherited here");
        if retry.limit.span != state.name.span && !state.kind.span.eq(&retry.limit.span) {
            finding = finding.related(retry.limit.span, "retries by this policy");
        }
        found.push(Found::of(id, finding));
    }
    found
}
