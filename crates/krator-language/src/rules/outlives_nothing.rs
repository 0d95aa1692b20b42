//! Children that are to outlive a deletion path that does not exist.

use super::{Check, RuleHit, Subject};
use crate::catalog::OUTLIVES_NOTHING;
use crate::finding::Finding;
use crate::model::{ChildDeletion, Owned};

pub(super) const CHECK: Check = Check {
    needs_edges: true,
    ..Check::of_kind(&OUTLIVES_NOTHING, find)
};

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let kind = subject.kind;
    if kind.machine.deletion.is_some() {
        return Vec::new();
    }
    let outliving = kind
        .owns
        .iter()
        .filter(|owned| owned.deletion.value != ChildDeletion::Owner);
    let hit = |owned: &Owned| {
        let message = format!(
            "`{}` has no deletion path that a `{}` could outlive",
            kind.resource.kind.value, owned.kind.kind
        );
        let finding = Finding::new(&OUTLIVES_NOTHING, owned.deletion.span, message)
            .label("nothing ends it")
            .help("name the state that a deleted object enters, as in `machine: {deletion: Released}`");
        RuleHit::of_document(finding)
    };
    outliving.map(hit).collect()
}
