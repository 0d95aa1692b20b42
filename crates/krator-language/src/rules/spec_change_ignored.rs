//! Resting states that ignore changes of the spec.

use super::{Check, RuleHit, Subject};
use crate::catalog::SPEC_CHANGE_IGNORED;
use crate::finding::Finding;
use crate::model::{OnSpecChange, StateKind};

pub(super) const CHECK: Check = Check::of_kind(&SPEC_CHANGE_IGNORED, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        let rests = matches!(state.kind.value, StateKind::Ready | StateKind::Failed);
        let ignores = state
            .on_any_spec_change()
            .all(|change| change.value == OnSpecChange::Ignore);
        if rests && ignores && !state.on_deletion_path {
            let message = format!("a change of the spec has no effect in `{}`", state.name.value);
            let finding = Finding::new(&SPEC_CHANGE_IGNORED, state.on_spec_change.span, message)
                .help("use `onSpecChange: wake`, or name a state");
            found.push(RuleHit::of(id, finding));
        }
    }
    found
}
