//! Protected states that an object is in only while it is being deleted, or leaves by being deleted.

use super::{Check, RuleHit, Subject};
use crate::catalog::MISPLACED_PROTECTION;
use crate::finding::Finding;
use crate::model::StateKind;

pub(super) const CHECK: Check = Check {
    needs_edges: true,
    ..Check::of_kind(&MISPLACED_PROTECTION, find)
};

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let protected = subject.kind.admission.protect.iter();
    protected
        .filter_map(|id| {
            let state = subject.kind.state(id.value);
            let (why, help) = if state.on_deletion_path {
                (
                    "is on the deletion path: its objects are being deleted already",
                    "protect the states before it",
                )
            } else if state.kind.value == StateKind::Final {
                (
                    "is `final`: the operator itself deletes its objects",
                    "remove it, or give the state another kind",
                )
            } else {
                return None;
            };
            let message = format!("the protected state `{}` {why}", subject.name(id.value));
            let finding = Finding::new(&MISPLACED_PROTECTION, id.span, message).help(help);
            Some(RuleHit::of_document(finding))
        })
        .collect()
}
