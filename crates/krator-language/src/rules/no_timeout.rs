//! States in which an object may wait forever.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::StateKind;

pub(super) static RULE: Rule = Rule {
    name: "no-timeout",
    severity: Severity::Info,
    summary: "a `working` state in which an object may wait forever",
    explanation:
        "The handler may stay, and if the event that it waits for never happens, the object stays in the state forever.

    Creating: {next: [Ready], wait: {watch: owned}}

A timeout gives the object a way out:

    Creating: {next: [Ready], wait: {watch: owned}, timeout: {after: 10m, to: Failed}}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        if state.kind.value == StateKind::Working
            && state.may_stay()
            && state.timeout.is_none()
            // On the deletion path it is a warning of the rule deletion-no-bailout.
            && !state.on_deletion_path
            && !state.lacks_edges
        {
            let message = format!("an object may wait in `{}` forever", state.name.value);
            let finding = Finding::new(&RULE, state.name.span, message)
                .help("limit the time: `timeout: {after: 1h, to: STATE}`");
            found.push(RuleHit::of(id, finding));
        }
    }
    found
}
