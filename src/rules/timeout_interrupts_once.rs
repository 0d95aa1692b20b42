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
        // The state that looks at the world is where a handler cut short belongs.
        if state
            .resume
            .is_some_and(|resume| resume.value == timeout.to.value)
        {
            continue;
        }
        let message = format!(
            "the timeout may cut the handler of `{}` short, which runs once",
            state.name.value
        );
        let finding = Finding::new(&TIMEOUT_INTERRUPTS_ONCE, timeout.span, message)
            .related(state.effects.span, "once here")
            .help("let it lead to the state that `resume` names, which looks at the world");
        found.push(RuleHit::of(id, finding));
    }
    found
}
