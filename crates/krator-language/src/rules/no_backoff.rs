//! Retries and polls that are too frequent.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::Period;

pub(super) static RULE: Rule = Rule {
    name: "no-backoff",
    severity: Severity::Warning,
    summary: "a `retry` with a constant delay or a maximum below 1 s, or a `poll` below 100 ms",
    explanation: "When a service is down, every object retries at the same time. If the delay does not grow, these retries can keep the
service from recovering. The runtime polls at most once per second, so a shorter `poll` has no effect.

Bad:

    retry: {initial: 100ms, factor: 1}

Good:

    retry: {initial: 100ms, factor: 2}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut found: BTreeMap<_, RuleHit> = BTreeMap::new();
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
                // States that inherit the policy of the machine share one finding.
                let entry = found.entry(span).or_insert_with(|| {
                    let finding = Finding::new(
                        &RULE,
                        span,
                        "failures are retried more than once per second, without an increasing delay",
                    )
                    .help("increase the delay: `factor: 2`, up to a `max` of some minutes");
                    RuleHit {
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
            let finding = Finding::new(&RULE, poll.span, "the runtime polls at most once per second")
                .help("write `1s` or more");
            found.insert(poll.span, RuleHit::of(id, finding));
        }
    }
    found.into_values().collect()
}
