//! Deletion that interrupts a handler which runs once.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::Effects;

pub(super) static RULE: Rule = Rule {
    name: "delete-interrupts-once",
    severity: Severity::Warning,
    summary: "deletion may interrupt a `once` handler",
    explanation: "Deletion interrupts a running handler unless the state has `onDelete: wait`. An interrupted `once` handler does not run
again, so it is unknown how far it got. If deletion waits for the handler, the state needs a timeout as well: otherwise
a handler that hangs blocks the deletion.

Bad:

    Charge: {effects: once, resume: LookUp, next: [Charged]}

Good:

    Charge: {effects: once, resume: LookUp, onDelete: wait, next: [Charged], timeout: {after: 5m, to: LookUp}}",
};

pub(super) const CHECK: Check = Check {
    unless: &[&super::deletion_escape::RULE],
    ..Check::of_kind(&RULE, find)
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
                &RULE,
                state.effects.span,
                format!("deletion may interrupt the handler of `{name}`, which runs only once"),
            );
            found.push(RuleHit::of(
                id,
                finding.help("make deletion wait for the handler: `onDelete: wait`"),
            ));
        } else if state.timeout.is_none() && !state.lacks_edges {
            let finding = Finding::new(
                &RULE,
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
