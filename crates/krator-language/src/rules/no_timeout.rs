//! States in which an object may wait forever.

use super::{Check, RuleHit, Subject};
use crate::catalog::NO_TIMEOUT;
use crate::finding::Finding;
use crate::model::StateKind;

pub(super) const CHECK: Check = Check::of_kind(&NO_TIMEOUT, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        if state.kind.value == StateKind::Working
            && state.may_stay()
            && state.timeout.is_none()
            // There it is a warning of the rule deletion-no-bailout.
            && !state.on_deletion_path
            && !state.lacks_edges
        {
            let message = format!("an object may wait in `{}` forever", state.name.value);
            let finding = Finding::new(&NO_TIMEOUT, state.name.span, message)
                .help("limit the time: `timeout: {after: 1h, to: STATE}`");
            found.push(RuleHit::of(id, finding));
        }
    }
    found
}
