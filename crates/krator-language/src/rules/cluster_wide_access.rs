//! Kinds for which an operator of some namespaces has permissions in the whole cluster.

use super::assumed_scope::of_scope;
use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::{Finding, Span};
use crate::model::Scope;
use crate::names::KindName;

pub(super) static RULE: Rule = Rule {
    name: "cluster-wide-access",
    severity: Severity::Warning,
    summary: "`deploy.namespaces` beside a kind whose objects have no namespace",
    explanation: "`deploy.namespaces` limits an operator to the objects in some namespaces, and its rights to Roles there. Objects without a
namespace are not limited by it: the operator gets a ClusterRole for all objects of such a kind, and two operators that were
installed for different namespaces share them. If that is meant, `allow` the rule and give the reason.

Bad:

    watches: [{kind: core/v1.Node, all: true}]
    deploy: {namespaces: [moose]}

Good:

    watches: [{kind: core/v1.Node, all: true}]
    deploy: {namespaces: [moose]}
    allow: {cluster-wide-access: a moose wants to know how much room the nodes have}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let Some(namespace) = subject.description.deploy.namespaces.first() else {
        return Vec::new();
    };
    let hit = |kind: &KindName, span: Span| {
        let message = format!("`deploy.namespaces` does not limit `{kind}`, whose objects have no namespace");
        let finding = Finding::new(&RULE, span, message)
            .label("the operator has these rights in the whole cluster")
            .related(namespace.span, "for an operator that works in some namespaces")
            .help("`allow` the rule and give the reason, or leave the kind or `namespaces` out");
        RuleHit::of_document(finding)
    };
    let resource = &subject.kind.resource;
    let own = (resource.scope.value == Scope::Cluster).then(|| hit(&resource.kind, resource.scope.span));
    let others = of_scope(subject.kind, Some(Scope::Cluster)).into_iter();
    // The operator's own kinds are reported at their own documents.
    let others = others.filter(|other| other.described.is_none());
    own.into_iter()
        .chain(others.map(|other| hit(&other.kind, other.span)))
        .collect()
}
