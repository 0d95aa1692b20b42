//! Handlers that run only once and lead to a state for which the object may have to wait.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::Effects;

pub(super) static RULE: Rule = Rule {
    name: "once-asks-twice",
    severity: Severity::Error,
    summary: "a `once` handler leads to a state with a gate",
    explanation: "An object before a closed gate waits in its state, and its handler runs again when the gate opens. With `effects: once`
the handler cannot run again. Put a state between the two, whose handler only chooses the second one.

Bad:

    Pay: {effects: once, resume: Check, next: [Ship]}
    Ship: {next: [Roam], gate: {during: {schedule: 0 8 * * MON-FRI, duration: 9h}}}

Good:

    Pay: {effects: once, resume: Check, next: [Paid]}
    Paid: {next: [Ship], wait: {poll: 1h}}
    Ship: {next: [Roam], gate: {during: {schedule: 0 8 * * MON-FRI, duration: 9h}}}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    super::unstored_gate::asking(subject)
        .filter(|(_, state, ..)| state.effects.value == Effects::Once)
        .map(|(id, state, next, gate)| {
            let target = subject.kind.state(next.to.value);
            let message = format!(
                "the handler of `{}` runs once, and `{}` has a gate",
                state.name.value, target.name.value
            );
            let finding = Finding::new(&RULE, next.to.span, message)
                .help("put a state between the two, whose handler may run again");
            RuleHit::of(id, finding.related(gate, "the gate"))
        })
        .collect()
}
