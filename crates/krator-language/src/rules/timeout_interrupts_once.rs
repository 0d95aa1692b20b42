//! Timeouts that interrupt a handler which runs once.

use super::{Check, RuleHit, Subject};
use crate::catalog::TIMEOUT_INTERRUPTS_ONCE;
use crate::finding::Finding;
use crate::model::Effects;

pub(super) const CHECK: Check = Check::of_kind(&TIMEOUT_INTERRUPTS_ONCE, find);

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
        // The state that `resume` names finds out how far the handler got, so it is a safe target.
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
        let finding = Finding::new(&TIMEOUT_INTERRUPTS_ONCE, timeout.span, message)
            .related(state.effects.span, "once here")
            .help("let it lead to the state that `resume` names, which finds out what was done");
        found.push(RuleHit::of(id, finding));
    }
    found
}
