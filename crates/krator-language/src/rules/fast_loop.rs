//! Cycles that need not take time, because an error or a timeout is followed at once by the next state.

use std::time::Duration;

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::graph::{EdgeKind, Step};
use crate::model::{Period, StateId};

pub(super) static RULE: Rule = Rule {
    name: "fast-loop",
    severity: Severity::Warning,
    summary: "a cycle with an edge of `retry`, or of a `timeout` below a second, in which no state takes time",
    explanation: "A permanent error leads to `retry.then` at once, and so does a `timeout` of less than a second to its state. If the way
back takes no time either, an object can follow the cycle as fast as the API server answers. After a hundred states the
runtime slows the object to one state per second, and each state is a write of the status.

Bad:

    Apply: {next: [Done], retry: {limit: 3, then: Broken}}
    Broken: {next: [Apply]}

Good:

    Apply: {next: [Done], retry: {limit: 3, then: Broken}}
    Broken: {next: [Apply], wait: {poll: 1m}}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

/// The runtime slows down an object that changes its state more often than this.
const PACE: Duration = Duration::from_secs(1);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let state = |id: StateId| subject.kind.state(id);
    let is_short = |id: StateId| {
        let after = state(id).timeout.as_ref().and_then(|timeout| timeout.after());
        after.is_some_and(|after| matches!(after.value, Period::Fixed(after) if after < PACE))
    };
    let need_not_rest = |id: StateId| {
        let state = state(id);
        let rests = state.may_stay() || state.timeout.is_some();
        (subject.is_passed(id) || is_short(id) || !rests) && !state.lacks_edges
    };
    let runs = |id: StateId| !subject.is_passed(id) && !state(id).may_stay();
    let is_hot = |step: Step| {
        let leaves_at_once = subject.is_passed(step.from) || runs(step.from);
        leaves_at_once && subject.is_taken_at_once(step)
    };
    let wanted = |step: Step| match step.edge.kind {
        EdgeKind::Timeout => is_short(step.from),
        // An error that is not retried.
        EdgeKind::Retry => runs(step.from),
        _ => is_hot(step),
    };
    let is_of_runtime = |step: Step| {
        matches!(
            step.edge.kind,
            EdgeKind::Timeout | EdgeKind::Retry | EdgeKind::Limit
        )
    };
    let consists_of = |cycle: &[StateId], kind: &dyn Fn(Step) -> bool| {
        let mut pairs = cycle.windows(2);
        pairs.all(|pair| {
            let mut steps = subject.graph.leaving(pair[0]);
            steps.any(|step| step.to == pair[1] && wanted(step) && kind(step))
        })
    };
    let is_timed = |id: &StateId| !subject.is_passed(*id) && state(*id).timeout.is_some();
    let is_found_by_others = |cycle: &[StateId]| {
        // By `hot-loop` and by `unbounded-loop`.
        consists_of(cycle, &is_hot) && !cycle.iter().any(is_timed) || consists_of(cycle, &is_of_runtime)
    };
    let mut cycles = subject.graph.cycles(need_not_rest, wanted);
    cycles.retain(|cycle| !is_found_by_others(cycle));
    cycles
        .into_iter()
        .map(|cycle| {
            let first = cycle[0];
            let message = format!(
                "from `{}`, an object can follow a cycle without a pause",
                subject.name(first)
            );
            let finding = Finding::new(&RULE, subject.span(first), message)
                .label("an error that is not retried, or a timeout of less than a second, leads to the next state at \
                        once")
                .help("make one of these states wait: `wait: {poll: 10s}`; the runtime slows such objects down, but \
                       does not stop them");
            RuleHit {
                finding: subject.with_path(finding, &cycle, wanted),
                states: cycle,
            }
        })
        .collect()
}
