//! Rights that are broader than they look, and replicas that would work against each other.

use super::{Check, Found, Subject};
use crate::catalog::{BROAD_ACCESS, UNELECTED_REPLICAS};
use crate::finding::Finding;
use crate::model::{Description, LookIn, ObjectKind};

pub(super) const CHECKS: &[Check] = &[Check {
    rule: &BROAD_ACCESS,
    needs_edges: false,
    unless: &[],
    find: broad_access,
}];

/// Looks at the whole description: there is one Deployment, however many kinds.
pub(super) fn unelected_replicas(description: &Description) -> Vec<Finding> {
    let deploy = &description.deploy;
    let is_elected = deploy.leader_election.is_some_and(|election| election.value) || deploy.shards.is_some();
    if deploy.replicas.value <= 1 || is_elected {
        return Vec::new();
    }
    let message = format!(
        "{} replicas would all work on every object",
        deploy.replicas.value
    );
    vec![
        Finding::new(&UNELECTED_REPLICAS, deploy.replicas.span, message)
            .help("let them elect a leader: `leaderElection: true`, or split the objects: `shards: 2`"),
    ]
}

fn broad_access(subject: &Subject<'_>) -> Vec<Found> {
    let kind = subject.kind;
    let is_secret = |kind: &ObjectKind| kind.group.is_empty() && kind.kind.as_str() == "Secret";
    let in_cluster = !subject.namespaces;
    let mut found = Vec::new();
    let mut report = |span, message: String| {
        let finding = Finding::new(&BROAD_ACCESS, span, message)
            .help("bound it by `deploy: {namespaces: [..]}`, or `allow` it with a reason");
        found.push(Found::of_document(finding));
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
