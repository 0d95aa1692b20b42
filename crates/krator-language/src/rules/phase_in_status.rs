//! Kinds that keep a phase, which API conventions advise against.

use super::{Check, RuleHit, Subject};
use crate::catalog::PHASE_IN_STATUS;
use crate::finding::Finding;

pub(super) const CHECK: Check = Check::of_kind(&PHASE_IN_STATUS, find);

/// Reported once, at the first state that has a phase.
fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let first = subject.kind.states.iter().find_map(|state| state.phase.as_ref());
    let hit = |span| {
        let message = format!(
            "`{}` keeps a phase in its status",
            subject.kind.resource.kind.value
        );
        let finding = Finding::new(&PHASE_IN_STATUS, span, message)
            .help("leave `phase` out of all states: `.status.state` and conditions say more");
        RuleHit::of_document(finding)
    };
    first.map(|phase| hit(phase.span)).into_iter().collect()
}
