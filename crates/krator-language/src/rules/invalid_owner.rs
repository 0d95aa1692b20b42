//! Owned and watched kinds whose scope does not fit the scope of the resource.

use super::{Check, RuleHit, Subject};
use crate::catalog::INVALID_OWNER;
use crate::finding::Finding;
use crate::model::{Scope, WatchBy};

pub(super) const CHECK: Check = Check::of_kind(&INVALID_OWNER, find);

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
                    let finding = Finding::new(&INVALID_OWNER, owned.kind.span, message)
                        .label("cluster-scoped")
                        .related(resource.scope.span, "namespaced")
                        .help("give the resource `scope: Cluster`; or grant `access` to the kind, and let a handler delete the object");
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
                    let message = format!("it is not clear in which namespace the `{}` is", watch.kind.kind);
                    let finding = Finding::new(&INVALID_OWNER, watch.kind.span, message)
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
