//! Deletion that interrupts a handler which runs once.

use super::{Check, RuleHit, Subject};
use crate::catalog::{DELETE_INTERRUPTS_ONCE, DELETION_ESCAPE};
use crate::finding::Finding;
use crate::model::Effects;

pub(super) const CHECK: Check = Check {
    unless: &[&DELETION_ESCAPE],
    ..Check::of_kind(&DELETE_INTERRUPTS_ONCE, find)
};

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        if state.effects.value != Effects::Once || state.on_delete.to.is_none() {
            continue;
        }
        let name = &state.name.value;
        if !state.on_delete.waits {
            let finding = Finding::new(
                &DELETE_INTERRUPTS_ONCE,
                state.effects.span,
                format!("deletion may interrupt the handler of `{name}`, which runs only once"),
            );
            found.push(RuleHit::of(
                id,
                finding.help("let deletion wait for the handler: `onDelete: wait`"),
            ));
        } else if state.timeout.is_none() && !state.lacks_edges {
            let finding = Finding::new(
                &DELETE_INTERRUPTS_ONCE,
                state.on_delete.span,
                format!("deletion waits for the handler of `{name}`, even if it hangs"),
            );
            found.push(RuleHit::of(
                id,
                finding.help("limit the time: `timeout: {after: 1h, to: STATE}`"),
            ));
        }
    }
    found
}
