//! Timeouts that interrupt a handler which runs once.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::Effects;

pub(super) static RULE: Rule = Rule {
    name: "timeout-interrupts-once",
    severity: Severity::Warning,
    summary: "a timeout may interrupt a `once` handler",
    explanation: "A timeout interrupts a running handler. An interrupted `once` handler does not run again, and it is unknown how far it
got. The handler of the state that `resume` names finds that out, so the state is a good target.

Bad:

    Charge: {effects: once, resume: LookUp, next: [Charged], timeout: {after: 5m, to: Failed}}

Good:

    Charge: {effects: once, resume: LookUp, next: [Charged], timeout: {after: 5m, to: LookUp}}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        let Some(timeout) = state
            .timeout
            .as_ref()
            .filter(|_| state.effects.value == Effects::Once)
        else {
            continue;
        };
        // The state named by `resume` determines how far the handler got, so it is a safe target.
        if state
            .resume
            .is_some_and(|resume| resume.value == timeout.to.value)
        {
            continue;
        }
        let message = format!(
            "the timeout may interrupt the handler of `{}`, which runs only once",
            state.name.value
        );
        let finding = Finding::new(&RULE, timeout.span, message)
            .related(state.effects.span, "once here")
            .help("name the state of `resume` in `to`: its handler finds out what was done");
        found.push(RuleHit::of(id, finding));
    }
    found
}
