//! Cycles that nothing slows down.

use super::{Check, RuleHit, Subject};
use crate::catalog::HOT_LOOP;
use crate::finding::Finding;
use crate::graph::{EdgeKind, Step};
use crate::model::StateId;

pub(super) const CHECK: Check = Check::of_kind(&HOT_LOOP, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
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
            RuleHit {
                finding,
                states: cycle,
            }
        })
        .collect()
}
