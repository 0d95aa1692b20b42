//! Cycles that no code and no time slows down.

use super::{Check, Found, Subject};
use crate::finding::{Finding, Rule, Severity};
use crate::graph::{EdgeKind, Step};
use crate::model::StateId;

/// See its summary.
pub static HOT_LOOP: Rule = Rule {
    name: "hot-loop",
    severity: Severity::Error,
    summary: "a cycle of `next`, `limit` and `resume` edges in which no state may stay, times out or has a `limit`",
    explanation: "An object in such a cycle goes round as fast as the API server answers, and never rests. At least one state of each
cycle waits, times out, or counts its entries.

Bad:

    Roam: {next: [Eat]}
    Eat: {next: [Roam]}

Good:

    Roam: {next: [Eat], wait: {poll: 2s}}
    Eat: {next: [Roam]}",
};

/// See its summary.
pub static UNBOUNDED_LOOP: Rule = Rule {
    name: "unbounded-loop",
    severity: Severity::Warning,
    summary: "a cycle of edges that only the runtime takes",
    explanation: "Timeouts, retries and limits lead round in a circle: an object can go round for ever, and no code ever decides that
it should.

Bad:

    Pull: {next: [Done], timeout: {after: 5m, to: Backoff}}
    Backoff: {next: [Pull], wait: {}, timeout: {after: 1m, to: Pull}}

Good:

    Pull: {next: [Done], timeout: {after: 5m, to: Backoff}, limit: {times: 5, then: Failed}}
    Backoff: {next: [Pull], wait: {poll: 1m}}",
};

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
