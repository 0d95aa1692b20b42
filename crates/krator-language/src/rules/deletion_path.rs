//! Shared by the rules about the deletion path: its edges, the states before it, and the number of findings with a
//! path.

use super::Subject;
use crate::graph::{EdgeKind, Step};
use crate::model::{Kind, StateKind};

/// The maximum number of findings of a rule with a path: each path costs a search, and paths for thousands of findings
/// do not make them easier to understand.
pub(super) const MAX_PATHS: usize = 20;

/// Whether an object that is being deleted may take the edge.
pub(super) fn is_path_edge(step: Step) -> bool {
    matches!(
        step.edge.kind,
        EdgeKind::Next | EdgeKind::Timeout | EdgeKind::Retry | EdgeKind::Limit | EdgeKind::Resume
    )
}

/// Whether an object that is not being deleted may take the edge.
pub(super) fn is_ordinary(kind: &Kind, step: Step) -> bool {
    !step.edge.kind.is_deletion()
        && !kind.machine.deletion_entries.contains(&step.from)
        && kind.state(step.from).kind.value != StateKind::Final
}

/// For each state, whether an object enters it without being deleted.
pub(super) fn ordinary_life(subject: &Subject<'_>) -> Vec<bool> {
    let kind = subject.kind;
    subject
        .graph
        .reached([kind.machine.initial.value], |step| is_ordinary(kind, step))
}
