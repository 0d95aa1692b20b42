//! The rules on rights: traits that only krator may implement, and objects that the description gives no rights on.

use super::{CodeCheck, Located};
use crate::catalog::{HAND_WRITTEN_TRANSITION, NO_RIGHTS, UNNAMED_CLIENT};
use crate::code::access::{self, Rights};
use crate::code::facts::Need;
use crate::code::resolve::Target;
use crate::finding::Finding;

impl CodeCheck<'_, '_> {
    /// Finds implementations of traits that only krator may implement.
    pub(super) fn impls(&self) -> Vec<Located> {
        let mut found = Vec::new();
        for item in &self.facts.impls {
            // Only krator.yaml kinds are checked: a machine written by hand has to implement these traits itself.
            let is_ours = self.tree.canonical(&item.for_).is_some_and(|path| {
                self.kinds.iter().any(|kind| path.first() == Some(&kind.module))
                    && matches!(path.get(1).map(String::as_str), Some("states" | "generated"))
            });
            let name = match &item.of {
                Target::External(path) if path.len() == 2 && path[0] == "krator_runtime" => path[1].as_str(),
                Target::Item { module, name, .. } if self.tree.modules[*module].is_generated => name.as_str(),
                _ => continue,
            };
            let is_of_graph = matches!(name, "TransitionTo" | "MayStay" | "Final" | "Node" | "Machine")
                || name.starts_with("NextOf")
                || name.starts_with("WaitOf");
            let is_right = matches!(name, "Grants" | "Owns" | "Watches");
            if !is_ours || !(is_of_graph || is_right) {
                continue;
            }
            let message = format!("`{name}` is implemented by hand, beside krator.yaml");
            let help = match name {
                "Owns" | "Watches" | "Grants" => {
                    "name the kind under `owns`, `watches` or `access` in krator.yaml"
                }
                "MayStay" => "give the state a `wait` in krator.yaml",
                name if name.starts_with("WaitOf") => "give the state a `wait` in krator.yaml",
                "TransitionTo" => "add the state to `next` in krator.yaml",
                name if name.starts_with("NextOf") => "add the state to `next` in krator.yaml",
                _ => "change krator.yaml instead",
            };
            let finding = Finding::new(&HAND_WRITTEN_TRANSITION, item.at.span, message)
                .label("krator implements this, from the description")
                .help(format!("{help}, then run `krator gen`"));
            found.push((Some(item.at.file), finding));
        }
        found
    }

    /// Finds uses of objects that the description gives no rights on.
    pub(super) fn accesses(&self) -> Vec<Located> {
        let rights = access::rights(self.tree, &self.code.description.kinds);
        let mut found = Vec::new();
        for used in &self.facts.accesses {
            let reference = access::reference(&used.object)
                .unwrap_or_else(|| used.object.last().map_or("", String::as_str));
            let allows = |rights: &Rights| rights.allow(used.need, &used.object);
            let Some(kind) = used.kind else {
                // A plain `Api<K>` may be for the operator's own kinds, and every operator may write events.
                let is_event = reference == "events.k8s.io/v1.Event";
                let is_own = used.object.first().is_some_and(|first| first != "k8s_openapi");
                if !is_own && !is_event && !rights.values().any(allows) {
                    let message = format!("nothing in krator.yaml gives a right to `{reference}`");
                    let finding = Finding::new(&UNNAMED_CLIENT, used.at.span, message)
                        .label("the generated RBAC would refuse it")
                        .help("name the kind under `owns`, `watches` or `access`, and take `cx.api`");
                    found.push((Some(used.at.file), finding));
                }
                continue;
            };
            // If the generated module is not part of the crate, its rights are unknown, and another rule reports that.
            if rights.get(&kind.0).is_none_or(allows) {
                continue;
            }
            let (message, label, place) = match used.need {
                Need::Grants => (
                    "has no access to",
                    "no rights on it",
                    "`owns`, `watches` or `access`",
                ),
                Need::Owns => ("does not own", "not in `owns`", "`owns`"),
                Need::Watches => ("does not watch", "not in `watches`", "`watches`"),
            };
            let finding = Finding::new(
                &NO_RIGHTS,
                used.at.span,
                format!("the operator {message} `{reference}`"),
            )
            .label(label)
            .help(format!(
                "add the kind to {place} in krator.yaml, then run `krator gen`"
            ));
            found.push((Some(used.at.file), finding));
        }
        found
    }
}
