//! Cycles that an object can follow forever without a decision of a handler.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::graph::{EdgeKind, Step};

pub(super) static RULE: Rule = Rule {
    name: "unbounded-loop",
    severity: Severity::Warning,
    summary: "a cycle of `timeout`, `retry` and `limit` edges",
    explanation: "The runtime takes these edges without a decision of a handler, so an object can follow the cycle forever.

Bad:

    Pull: {next: [Done], timeout: {after: 5m, to: Backoff}}
    Backoff: {next: [Pull], wait: {}, timeout: {after: 1m, to: Pull}}

Good:

    Pull: {next: [Done], timeout: {after: 5m, to: Backoff}, limit: {times: 5, then: Failed}}
    Backoff: {next: [Pull], wait: {poll: 1m}}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let wanted = |step: Step| {
        match step.edge.kind {
            // A schedule is intended to repeat.
            EdgeKind::Timeout => {
                let timeout = subject.kind.state(step.from).timeout.as_ref();
                timeout.is_none_or(|timeout| timeout.after().is_some())
            }
            kind => matches!(kind, EdgeKind::Retry | EdgeKind::Limit),
        }
    };
    let cycles = subject.graph.cycles(|_| true, wanted);
    cycles
        .into_iter()
        .map(|cycle| {
            let first = cycle[0];
            let message = format!(
                "from `{}`, an object can follow a cycle forever without a decision of a handler",
                subject.name(first)
            );
            let finding = Finding::new(&RULE, subject.span(first), message)
                .label("the cycle consists of timeouts, retries and limits")
                .help("make one of these edges lead to a state outside the cycle, where a handler or a user decides");
            RuleHit {
                finding: subject.with_path(finding, &cycle, wanted),
                states: cycle,
            }
        })
        .collect()
}
