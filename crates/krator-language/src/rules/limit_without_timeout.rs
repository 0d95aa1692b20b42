//! States in which an object may keep the place of a limit forever.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::StateKind;

pub(super) static RULE: Rule = Rule {
    name: "limit-without-timeout",
    severity: Severity::Warning,
    summary: "an object may keep the place of a limit forever",
    explanation: "While an object is in a state of a limit, other objects may have to wait. A `working` state whose handler may stay needs
a timeout, so that an object that hangs does not block all others. To stop after failures, add a `failed` state to the
limit.

Bad:

    limits: [{name: rollout, states: [Upgrade], atMost: 3}]
    states:
      Upgrade: {next: [Run], wait: {watch: owned}}

Good:

    limits: [{name: rollout, states: [Upgrade], atMost: 3}]
    states:
      Upgrade: {next: [Run], wait: {watch: owned}, timeout: {after: 30m, to: Failed}}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let kind = subject.kind;
    let counted = kind.limits.iter().flat_map(|limit| {
        let states = limit.states.iter();
        states.map(move |counted| (limit, counted, kind.state(counted.value)))
    });
    let hangs = counted.filter(|(_, _, state)| {
        let is_at_work = state.kind.value == StateKind::Working && state.may_stay();
        is_at_work && state.timeout.is_none() && !state.lacks_edges
    });
    hangs
        .map(|(limit, counted, state)| {
            let message = format!(
                "an object may stay in `{}` forever and keep its place of the limit `{}`",
                state.name.value, limit.name.value
            );
            let finding = Finding::new(&RULE, state.name.span, message)
                .related(counted.span, "counted here")
                .help("limit the time: `timeout: {after: 1h, to: STATE}`");
            RuleHit::of(counted.value, finding)
        })
        .collect()
}
