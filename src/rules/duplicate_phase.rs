//! States that users cannot tell apart by their phase.

use std::collections::BTreeMap;

use super::{Check, RuleHit, Subject};
use crate::catalog::DUPLICATE_PHASE;
use crate::finding::Finding;
use crate::model::StateId;
use crate::text::shown;

pub(super) const CHECK: Check = Check::of_kind(&DUPLICATE_PHASE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut first: BTreeMap<&str, StateId> = BTreeMap::new();
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        if let Some(other) = first.get(state.phase.as_str()) {
            let phase = shown(&state.phase.value);
            let message = format!(
                "`{}` and `{}` have the same phase, `{phase}`",
                subject.name(*other),
                state.name.value
            );
            let finding = Finding::new(&DUPLICATE_PHASE, state.phase.span, message)
                .related(subject.kind.state(*other).phase.span, "first here");
            found.push(RuleHit::of(id, finding));
        } else {
            first.insert(&state.phase.value, id);
        }
    }
    found
}
