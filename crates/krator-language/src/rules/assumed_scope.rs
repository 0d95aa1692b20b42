//! Other kinds whose scope is unknown.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::{Finding, Spanned};
use crate::model::{Kind, ObjectKind, Scope};

pub(super) static RULE: Rule = Rule {
    name: "assumed-scope",
    severity: Severity::Warning,
    summary: "the scope of another kind is not known",
    explanation: "The rights of the operator, the paths of its requests and the Rust type of the objects depend on whether the objects of
a kind have a namespace. The scope of Kubernetes' own kinds and of kinds with a file in `schemas` is known. Any other
kind is assumed to have the scope of the resource that names it; if that is wrong, its objects are not found. Set
`scope` at one of the places that name the kind.

Bad:

    resource: {group: animals.com, version: v1, kind: Moose}
    watches: [{kind: plants.com/v1.Forest, by: .spec.forest}]

Good:

    resource: {group: animals.com, version: v1, kind: Moose}
    watches: [{kind: plants.com/v1.Forest, scope: Cluster, by: .spec.forest}]",
};

pub(super) const CHECK: Check = Check {
    // The file of a kind in `schemas` may be unreadable.
    needs_sound_schemas: true,
    ..Check::of_kind(&RULE, find)
};

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let resource = &subject.kind.resource;
    let assumed = match resource.scope.value {
        Scope::Namespaced => "assumed to be namespaced",
        Scope::Cluster => "assumed to be cluster-scoped",
    };
    let hit = |other: &Spanned<ObjectKind>| {
        let message = format!("the scope of the kind `{}` is not known", other.kind);
        let finding = Finding::new(&RULE, other.span, message)
            .label(assumed)
            .related(resource.scope.span, "like this kind")
            .help(format!(
                "write `{{kind: {}, scope: Namespaced}}` or `scope: Cluster`, or name the file with its \
                 CustomResourceDefinition in `schemas`",
                other.reference()
            ));
        RuleHit::of_document(finding)
    };
    of_scope(subject.kind, None).into_iter().map(hit).collect()
}

/// The other kinds of a scope, each at the first place that names it.
pub(super) fn of_scope(kind: &Kind, scope: Option<Scope>) -> Vec<&Spanned<ObjectKind>> {
    let mut found: Vec<&Spanned<ObjectKind>> = Vec::new();
    for other in kind.other_kinds().filter(|other| other.scope == scope) {
        if !found.iter().any(|found| found.is_same_kind(other)) {
            found.push(other);
        }
    }
    found
}
