//! Permissions that are broader than they look.

use super::{Check, RuleHit, Subject};
use crate::catalog::BROAD_ACCESS;
use crate::finding::Finding;
use crate::model::{LookIn, ObjectKind};

pub(super) const CHECK: Check = Check::of_kind(&BROAD_ACCESS, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let kind = subject.kind;
    let is_secret = |kind: &ObjectKind| kind.group.is_empty() && kind.kind.as_str() == "Secret";
    let in_cluster = subject.description.deploy.namespaces.is_empty();
    let mut found = Vec::new();
    let mut report = |span, message: String| {
        let finding = Finding::new(&BROAD_ACCESS, span, message)
            .help("bound it by `deploy: {namespaces: [..]}`, or `allow` it with a reason");
        found.push(RuleHit::of_document(finding));
    };
    for owned in kind
        .owns
        .iter()
        .filter(|owned| in_cluster && is_secret(&owned.kind))
    {
        report(
            owned.kind.span,
            "owned secrets mean the right to read and write all secrets of the cluster".to_owned(),
        );
    }
    for watch in kind
        .watches
        .iter()
        .filter(|watch| in_cluster && is_secret(&watch.kind))
    {
        // Secrets of one namespace that is named are not those of the cluster.
        let is_bounded = watch
            .namespace
            .as_ref()
            .is_some_and(|namespace| matches!(namespace.value, LookIn::Name(_)));
        if !is_bounded {
            report(
                watch.kind.span,
                "watched secrets mean the right to read all secrets of the cluster".to_owned(),
            );
        }
    }
    for access in &kind.access {
        if in_cluster && is_secret(&access.kind) {
            report(
                access.kind.span,
                "this is a right to the secrets of the whole cluster".to_owned(),
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
                    "`{}` gives rights that the operator itself does not have",
                    verb.value
                ),
            );
        }
    }
    found
}
