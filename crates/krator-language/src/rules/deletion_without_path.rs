//! Children that should outlive a deletion path that does not exist.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::{ChildDeletion, Owned};

pub(super) static RULE: Rule = Rule {
    name: "deletion-without-path",
    severity: Severity::Error,
    summary: "`deletion: last` or `keep` without a deletion path",
    explanation: "Children with `deletion: last` are deleted when the deletion path of their owner has ended, and those with `keep` are
released then. Without `machine.deletion` there is no deletion path and no finalizer, so the owner is gone before the
operator observes the deletion. Add a deletion path (a single `final` state is enough), or leave `deletion` out.

Bad:

    machine: {initial: Roam}
    owns: [{kind: apps/v1.StatefulSet, deletion: last}]

Good:

    machine: {initial: Roam, deletion: Released}
    owns: [{kind: apps/v1.StatefulSet, deletion: last}]
    states: {Released: {kind: final}}",
};

pub(super) const CHECK: Check = Check {
    needs_edges: true,
    ..Check::of_kind(&RULE, find)
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
            "`{}` has no deletion path, so a `{}` cannot outlive it",
            kind.resource.kind.value, owned.kind.kind
        );
        let finding = Finding::new(&RULE, owned.deletion.span, message)
            .label("needs a deletion path")
            .help("name the state that a deleted object enters, as in `machine: {deletion: Released}`");
        RuleHit::of_document(finding)
    };
    outliving.map(hit).collect()
}
