//! Protected states that objects are only in while they are being deleted, or leave because of the deletion.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::StateKind;

pub(super) static RULE: Rule = Rule {
    name: "misplaced-protection",
    severity: Severity::Error,
    summary: "`protect` names a state of the deletion path, or a `final` state",
    explanation: "`admission.protect` refuses deletions. An object on the deletion path is being deleted already, and one in a `final` state is
deleted by the operator, which would be refused.

Bad:

    machine: {initial: Roam, deletion: Released}
    admission: {protect: {states: [Released]}}
    states: {Roam: {kind: ready}, Released: {kind: final}}

Good:

    machine: {initial: Roam, deletion: Released}
    admission: {protect: {states: [Roam]}}
    states: {Roam: {kind: ready}, Released: {kind: final}}",
};

pub(super) const CHECK: Check = Check {
    needs_edges: true,
    ..Check::of_kind(&RULE, find)
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
            let finding = Finding::new(&RULE, id.span, message).help(help);
            Some(RuleHit::of_document(finding))
        })
        .collect()
}
