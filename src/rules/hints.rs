//! Delays that spare nobody, and what is merely worth knowing.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Check, Found, Subject};
use crate::catalog::{CHOKE_POINT, DUPLICATE_PHASE, NO_BACKOFF, NO_TIMEOUT, SPEC_CHANGE_IGNORED};
use crate::finding::Finding;
use crate::graph::{EdgeKind, Step};
use crate::model::{OnSpecChange, Period, StateId, StateKind};

pub(super) const CHECKS: &[Check] = &[
    Check {
        rule: &NO_BACKOFF,
        needs_edges: false,
        unless: &[],
        find: no_backoff,
    },
    Check {
        rule: &DUPLICATE_PHASE,
        needs_edges: false,
        unless: &[],
        find: duplicate_phases,
    },
    Check {
        rule: &NO_TIMEOUT,
        needs_edges: false,
        unless: &[],
        find: no_timeouts,
    },
    Check {
        rule: &SPEC_CHANGE_IGNORED,
        needs_edges: false,
        unless: &[],
        find: spec_changes_ignored,
    },
    Check {
        rule: &CHOKE_POINT,
        needs_edges: true,
        unless: &[],
        find: choke_points,
    },
];

fn no_backoff(subject: &Subject<'_>) -> Vec<Found> {
    let mut found: BTreeMap<_, Found> = BTreeMap::new();
    for (id, state) in subject.kind.state_ids() {
        if let Some(retry) = &state.retry {
            let second = Duration::from_secs(1);
            let is_fixed = retry.factor.value <= 1.0 || retry.initial.value.is_zero();
            if is_fixed && retry.initial.value < second || retry.max.value < second {
                let span = if retry.max.value < second {
                    retry.max.span
                } else {
                    retry.initial.span
                };
                // One policy of the machine is one finding, whoever inherits it.
                let entry = found.entry(span).or_insert_with(|| {
                    let finding = Finding::new(
                        &NO_BACKOFF,
                        span,
                        "what fails is retried more than once a second for ever",
                    )
                    .help("let the delay grow: `factor: 2`, to a `max` of some minutes");
                    Found {
                        finding,
                        states: Vec::new(),
                    }
                });
                entry.states.push(id);
            }
        }
        let poll = state.wait.as_ref().and_then(|wait| wait.poll.as_ref());
        if let Some(poll) = poll
            && let Period::Fixed(period) = poll.value
            && period < Duration::from_millis(100)
        {
            let finding = Finding::new(&NO_BACKOFF, poll.span, "the runtime polls at most once a second")
                .help("write `1s` or more");
            found.insert(poll.span, Found::of(id, finding));
        }
    }
    found.into_values().collect()
}

fn duplicate_phases(subject: &Subject<'_>) -> Vec<Found> {
    let mut first: BTreeMap<&str, StateId> = BTreeMap::new();
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        if let Some(other) = first.get(state.phase.as_str()) {
            let phase = crate::text::shown(&state.phase.value);
            let message = format!(
                "`{}` and `{}` both show the phase `{phase}`",
                subject.name(*other),
                state.name.value
            );
            let finding = Finding::new(&DUPLICATE_PHASE, state.phase.span, message)
                .related(subject.kind.state(*other).phase.span, "first here");
            found.push(Found::of(id, finding));
        } else {
            first.insert(&state.phase.value, id);
        }
    }
    found
}

fn no_timeouts(subject: &Subject<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        if state.kind.value == StateKind::Working
            && state.may_stay()
            && state.timeout.is_none()
            && !state.lacks_edges
        {
            let message = format!("an object may wait in `{}` for ever", state.name.value);
            let finding =
                Finding::new(&NO_TIMEOUT, state.name.span, message).help("`timeout: {after: 1h, to: STATE}`");
            found.push(Found::of(id, finding));
        }
    }
    found
}

fn spec_changes_ignored(subject: &Subject<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        let rests = matches!(state.kind.value, StateKind::Ready | StateKind::Failed);
        if rests && state.on_spec_change.value == OnSpecChange::Ignore && !state.on_deletion_path {
            let message = format!("a change of the spec does nothing in `{}`", state.name.value);
            let finding = Finding::new(&SPEC_CHANGE_IGNORED, state.on_spec_change.span, message)
                .help("`onSpecChange: wake`, or a state");
            found.push(Found::of(id, finding));
        }
    }
    found
}

/// Dominators of what is ready: with one node behind all ready states, its dominators are the choke points.
fn choke_points(subject: &Subject<'_>) -> Vec<Found> {
    use petgraph::graph::{DiGraph, NodeIndex};
    let kind = subject.kind;
    let counts = |step: &Step| step.edge.kind != EdgeKind::Resume && !step.edge.kind.is_deletion();
    let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(kind.states.len() + 1, kind.states.len() * 8);
    for _ in &kind.states {
        graph.add_node(());
    }
    let goal = graph.add_node(());
    for step in subject.graph.steps().filter(counts) {
        graph.add_edge(NodeIndex::new(step.from.0), NodeIndex::new(step.to.0), ());
    }
    for (id, _) in kind
        .state_ids()
        .filter(|(_, state)| state.kind.value == StateKind::Ready)
    {
        graph.add_edge(NodeIndex::new(id.0), goal, ());
    }
    let initial = kind.machine.initial.value;
    let dominators = petgraph::algo::dominators::simple_fast(&graph, NodeIndex::new(initial.0));
    let Some(all) = dominators.strict_dominators(goal) else {
        return Vec::new();
    };
    let mut ids: Vec<StateId> = all.map(|node| StateId(node.index())).collect();
    ids.sort_unstable();
    ids.into_iter()
        .filter(|id| *id != initial && kind.state(*id).kind.value != StateKind::Ready)
        .map(|id| {
            let message = format!("every object passes `{}` before it is ready", subject.name(id));
            Found::of(id, Finding::new(&CHOKE_POINT, subject.span(id), message))
        })
        .collect()
}
