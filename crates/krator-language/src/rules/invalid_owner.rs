//! Owned and watched kinds whose scope does not fit the scope of the resource.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::{Scope, WatchBy};

pub(super) static RULE: Rule = Rule {
    name: "invalid-owner",
    severity: Severity::Error,
    summary: "an owned or watched kind whose scope does not fit the scope of the resource",
    explanation: "A namespaced object cannot own a cluster-scoped one: the garbage collector would delete the owned object. A
cluster-scoped object has no namespace, so `by` alone does not determine the namespace of a namespaced object, and
`namespace` is required.

Bad:

    resource: {group: animals.com, version: v1, kind: Moose}
    owns: [core/v1.Namespace]

Good:

    resource: {group: animals.com, version: v1, kind: Moose, scope: Cluster}
    owns: [core/v1.Namespace]
    watches: [{kind: core/v1.Secret, by: .spec.secretName, namespace: .spec.secretNamespace}]",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let resource = &subject.kind.resource;
    let mut found = Vec::new();
    match resource.scope.value {
        Scope::Namespaced => {
            for owned in &subject.kind.owns {
                if owned.kind.scope == Some(Scope::Cluster) {
                    let message = format!(
                        "`{}` is namespaced, so it cannot own the kind `{}`",
                        resource.kind.value, owned.kind.kind
                    );
                    let finding = Finding::new(&RULE, owned.kind.span, message)
                        .label("cluster-scoped")
                        .related(resource.scope.span, "namespaced")
                        .help("give the resource `scope: Cluster`; or grant `access` to the kind, and delete the \
                               object in a handler");
                    found.push(RuleHit::of_document(finding));
                }
            }
        }
        Scope::Cluster => {
            for watch in &subject.kind.watches {
                let needs_namespace = watch.kind.scope == Some(Scope::Namespaced)
                    && matches!(watch.by, WatchBy::Path(_))
                    && watch.namespace.is_none();
                if needs_namespace {
                    let message = format!("the namespace of the `{}` is not known", watch.kind.kind);
                    let finding = Finding::new(&RULE, watch.kind.span, message)
                        .label("namespaced")
                        .related(resource.scope.span, "cluster-scoped")
                        .help("set `namespace` to the name of a namespace, or to a field that contains it: `namespace: .spec.…`");
                    found.push(RuleHit::of_document(finding));
                }
            }
        }
    }
    found
}
