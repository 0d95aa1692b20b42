//! Cycles that no code and no time slows down.

use super::{Check, Found, Subject};
use crate::catalog::{HOT_LOOP, UNBOUNDED_LOOP};
use crate::finding::Finding;
use crate::graph::{EdgeKind, Step};
use crate::model::StateId;

pub(super) const CHECKS: &[Check] = &[
    Check {
        rule: &HOT_LOOP,
        needs_edges: false,
        unless: &[],
        find: hot_loops,
    },
    Check {
        rule: &UNBOUNDED_LOOP,
        needs_edges: false,
        unless: &[],
        find: unbounded_loops,
    },
];

fn hot_loops(subject: &Subject<'_>) -> Vec<Found> {
    let never_rests = |id: StateId| {
        let state = subject.kind.state(id);
        // A timeout that could not be read would have been one.
        !state.may_stay() && state.timeout.is_none() && state.limit.is_none() && !state.lacks_edges
    };
    // An edge of a state to itself has a finding of its own.
    let wanted = |step: Step| {
        matches!(
            step.edge.kind,
            EdgeKind::Next | EdgeKind::Limit | EdgeKind::Resume
        ) && step.from != step.to
    };
    let cycles = subject.graph.cycles(never_rests, wanted);
    cycles
        .into_iter()
        .map(|cycle| {
            let first = cycle[0];
            let message = format!(
                "an object that comes to `{}` goes round without a pause",
                subject.name(first)
            );
            let finding = Finding::new(&HOT_LOOP, subject.span(first), message)
                .label("no state of this cycle may stay, times out or has a `limit`")
                .path(subject.names(&cycle))
                .help("let one of them wait: `wait: {poll: 10s}`");
            Found {
                finding,
                states: cycle,
            }
        })
        .collect()
}

fn unbounded_loops(subject: &Subject<'_>) -> Vec<Found> {
    let wanted = |step: Step| {
        matches!(
            step.edge.kind,
            EdgeKind::Timeout | EdgeKind::Retry | EdgeKind::Limit
        )
    };
    let cycles = subject.graph.cycles(|_| true, wanted);
    cycles
        .into_iter()
        .map(|cycle| {
            let first = cycle[0];
            let message = format!(
                "an object can go round from `{}` for ever, and no code decides it",
                subject.name(first)
            );
            let finding = Finding::new(&UNBOUNDED_LOOP, subject.span(first), message)
                .label("a cycle of timeouts, retries and limits")
                .path(subject.names(&cycle))
                .help("let one of these edges lead out, to a state where a handler or a person decides");
            Found {
                finding,
                states: cycle,
            }
        })
        .collect()
}
