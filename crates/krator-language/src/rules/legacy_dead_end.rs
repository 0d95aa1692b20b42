//! `legacy` states that stored objects cannot leave.

use super::{Check, RuleHit, Subject};
use crate::catalog::LEGACY_DEAD_END;
use crate::finding::Finding;
use crate::model::StateKind;

pub(super) const CHECK: Check = Check::of_kind(&LEGACY_DEAD_END, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        let Some(legacy) = state.legacy else { continue };
        let leaves = subject
            .graph
            .leaving(id)
            .any(|step| step.to != id && !step.edge.kind.is_deletion());
        if state.kind.value == StateKind::Final || state.lacks_edges || leaves {
            continue;
        }
        let message = format!("objects that are still in `{}` cannot leave it", state.name.value);
        let finding = Finding::new(&LEGACY_DEAD_END, state.name.span, message)
            .related(legacy, "`legacy` here")
            .help("give it a `next`");
        found.push(RuleHit::of(id, finding));
    }
    found
}
