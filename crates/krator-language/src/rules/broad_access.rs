//! Permissions that are broader than they look.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::{LookIn, ObjectKind};

pub(super) static RULE: Rule = Rule {
    name: "broad-access",
    severity: Severity::Warning,
    summary: "access to all Secrets of the cluster, or a verb that allows the operator to raise its own permissions",
    explanation: "An operator that may read every Secret of the cluster is an attractive target, and so is one that may `escalate`, `bind`
or `impersonate`. If the operator only works in some namespaces, list them in `deploy: {namespaces: [..]}`: krator then
generates Roles instead of ClusterRoles. If it does need the access, `allow` the rule and give the reason.

Bad:

    access: [{kind: core/v1.Secret, verbs: [get, list]}]

Good:

    access: [{kind: core/v1.Secret, verbs: [get, list]}]
    deploy: {namespaces: [moose]}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let kind = subject.kind;
    let is_secret = |kind: &ObjectKind| kind.group.is_empty() && kind.kind.as_str() == "Secret";
    let in_cluster = subject.description.deploy.namespaces.is_empty();
    let mut found = Vec::new();
    let mut report = |span, message: String| {
        let finding = Finding::new(&RULE, span, message)
            .help("limit it to namespaces: `deploy: {namespaces: [..]}`, or `allow` it and give the reason");
        found.push(RuleHit::of_document(finding));
    };
    for owned in kind
        .owns
        .iter()
        .filter(|owned| in_cluster && is_secret(&owned.kind))
    {
        report(
            owned.kind.span,
            "owning Secrets requires permission to read and write every Secret of the cluster".to_owned(),
        );
    }
    for watch in kind
        .watches
        .iter()
        .filter(|watch| in_cluster && is_secret(&watch.kind))
    {
        // A fixed namespace gives access to the Secrets of that namespace only.
        let is_bounded = watch
            .namespace
            .as_ref()
            .is_some_and(|namespace| matches!(namespace.value, LookIn::Name(_)));
        if !is_bounded {
            report(
                watch.kind.span,
                "watching Secrets requires permission to read every Secret of the cluster".to_owned(),
            );
        }
    }
    for access in &kind.access {
        if in_cluster && is_secret(&access.kind) {
            report(
                access.kind.span,
                "this grants access to every Secret of the cluster".to_owned(),
            );
        }
        for verb in access
            .verbs
            .iter()
            .filter(|verb| matches!(verb.as_str(), "escalate" | "bind" | "impersonate"))
        {
            report(
                verb.span,
                format!(
                    "`{}` allows the operator to obtain permissions that it was not granted",
                    verb.value
                ),
            );
        }
    }
    found
}
