//! Conflicts of an apply with other managers, after `conflict.go` of `k8s.io/apimachinery`.

use super::entries::{ManagerKey, UPDATE};
use crate::field_set::{PathElement, display_path};
use crate::refusal::{Cause, Refusal};

/// A field of another manager that an apply would change.
#[derive(Debug, Clone)]
pub(super) struct Conflict {
    pub(super) manager: ManagerKey,
    pub(super) path: Vec<PathElement>,
}

/// The reason why an apply fails.
pub(super) enum Failure {
    /// The apply changes fields of other managers.
    Conflicts(Vec<Conflict>),
    /// Any other error.
    Refused(Refusal),
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Self::Refused(super::failed(why))
    }
}

/// The response to an apply with these conflicts.
pub(super) fn refusal(mut conflicts: Vec<Conflict>) -> Refusal {
    conflicts.sort_by_cached_key(|conflict| conflict.manager.identifier());
    let cause = |conflict: &Conflict| Cause {
        reason: "FieldManagerConflict".to_owned(),
        message: format!("conflict with {}", name(&conflict.manager)),
        field: display_path(&conflict.path),
    };
    Refusal::apply_conflict(conflicts.iter().map(cause).collect(), message(&conflicts))
}

fn message(conflicts: &[Conflict]) -> String {
    if let [Conflict { manager, path }] = conflicts {
        let path = display_path(path);
        return format!(
            "Apply failed with 1 conflict: conflict with {}: {path}",
            name(manager)
        );
    }
    let mut lines = Vec::new();
    for of_one in conflicts.chunk_by(|a, b| a.manager == b.manager) {
        for (index, conflict) in of_one.iter().enumerate() {
            if index == 0 {
                lines.push(format!("conflicts with {}:", name(&conflict.manager)));
            }
            lines.push(format!("- {}", display_path(&conflict.path)));
        }
    }
    format!(
        "Apply failed with {} conflicts: {}",
        conflicts.len(),
        lines.join("\n")
    )
}

fn name(manager: &ManagerKey) -> String {
    let mut name = format!("{:?}", manager.manager);
    if !manager.subresource.is_empty() {
        name.push_str(&format!(" with subresource {:?}", manager.subresource));
    }
    if manager.operation == UPDATE {
        name.push_str(&format!(" using {}", manager.api_version));
    }
    name
}
