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
        // If reading an edge failed, it may have been a timeout.
        !state.may_stay() && state.timeout.is_none() && state.limit.is_none() && !state.lacks_edges
    };
    // An edge from a state to itself is a finding of the rule self-edge.
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
                "an object that enters `{}` changes its state in an endless loop without a pause",
                subject.name(first)
            );
            let finding = Finding::new(&HOT_LOOP, subject.span(first), message)
                .label("no state of this cycle has a `wait`, a `timeout` or a `limit`")
                .path(subject.names(&cycle))
                .help("let one of the states wait: `wait: {poll: 10s}`");
            RuleHit {
                finding,
                states: cycle,
            }
        })
        .collect()
}
