//! Cycles without a delay.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::StateId;

pub(super) static RULE: Rule = Rule {
    name: "hot-loop",
    severity: Severity::Error,
    summary: "a cycle of `next`, `limit` and `resume` edges in which no state takes time",
    explanation: "An object in such a cycle changes its state as fast as the API server answers. At least one state of each cycle has to
wait, time out, or limit how often it is entered. When the limit is exceeded, an object goes to `then` without entering
the state. So if `then` leads back to the state, the cycle is endless, and another state in it has to wait or time out.

Bad:

    Roam: {next: [Eat]}
    Eat: {next: [Roam]}

Good:

    Roam: {next: [Eat], wait: {poll: 2s}}
    Eat: {next: [Roam]}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let never_rests = |id: StateId| {
        let state = subject.kind.state(id);
        // If an edge could not be read, it may be a timeout.
        (subject.is_passed(id) || !state.may_stay() && state.timeout.is_none()) && !state.lacks_edges
    };
    let cycles = subject
        .graph
        .cycles(never_rests, |step| subject.is_taken_at_once(step));
    cycles
        .into_iter()
        .map(|cycle| {
            let first = cycle[0];
            let message = format!(
                "an object that enters `{}` changes its state in an endless loop without a pause",
                subject.name(first)
            );
            let finding = Finding::new(&RULE, subject.span(first), message);
            let finding = subject.with_path(finding, &cycle, |step| subject.is_taken_at_once(step));
            let limited = cycle.iter().find(|id| subject.is_passed(**id));
            let finding = match limited.and_then(|id| subject.kind.state(*id).limit.as_ref()) {
                None => finding
                    .label("no state of this cycle has a `wait`, a `timeout` or a `limit`")
                    .help("make one of the states wait: `wait: {poll: 10s}`"),
                Some(limit) => finding
                    .label("no state in this cycle takes time once the limits are exceeded")
                    .related(
                        limit.then.span,
                        "when the limit is exceeded, an object continues here at once",
                    )
                    .help(
                        "name a state in `then` in which objects rest, for example one of the kind `failed`",
                    ),
            };
            RuleHit {
                finding,
                states: cycle,
            }
        })
        .collect()
}
