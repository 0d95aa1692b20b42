//! Resting states that ignore changes of the spec.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::{OnSpecChange, StateKind};

pub(super) static RULE: Rule = Rule {
    name: "spec-change-ignored",
    severity: Severity::Info,
    summary: "a `ready` or `failed` state ignores changes of the spec",
    explanation:
        "When a user changes the spec, nothing happens until something else moves the object to another state.

    Ready: {kind: ready, onSpecChange: ignore}

Better:

    Ready: {kind: ready, onSpecChange: Updating}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        let rests = matches!(state.kind.value, StateKind::Ready | StateKind::Failed);
        let ignores = state
            .on_any_spec_change()
            .all(|change| change.value == OnSpecChange::Ignore);
        if rests && ignores && !state.on_deletion_path {
            let message = format!("a change of the spec has no effect in `{}`", state.name.value);
            let finding = Finding::new(&RULE, state.on_spec_change.span, message)
                .help("use `onSpecChange: wake`, or name a state");
            found.push(RuleHit::of(id, finding));
        }
    }
    found
}
