//! Retries and polls that are too frequent.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Check, RuleHit, Subject};
use crate::catalog::NO_BACKOFF;
use crate::finding::Finding;
use crate::model::Period;

pub(super) const CHECK: Check = Check::of_kind(&NO_BACKOFF, find);

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
                        &NO_BACKOFF,
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
            let finding = Finding::new(
                &NO_BACKOFF,
                poll.span,
                "the runtime polls at most once per second",
            )
            .help("write `1s` or more");
            found.insert(poll.span, RuleHit::of(id, finding));
        }
    }
    found.into_values().collect()
}
