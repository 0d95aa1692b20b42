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
    summary: "`deploy.namespaces` together with a kind whose objects have no namespace",
    explanation: "`deploy.namespaces` limits an operator to the objects in certain namespaces, and generates Roles there. It does not
apply to objects without a namespace: the operator gets a ClusterRole for all objects of such a kind, and operators that
are installed for different namespaces share these objects. If that is intended, `allow` the rule and give the reason.

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
            .related(namespace.span, "the operator is limited to namespaces here")
            .help("`allow` the rule and give the reason, or remove the kind or `namespaces`");
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
