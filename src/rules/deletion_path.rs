//! Shared by the rules about the deletion path: the edges that form it, and how many findings show a path.

use crate::graph::{EdgeKind, Step};

/// The number of findings of a rule that show a path: each path costs a search, and thousands of findings are not
/// easier to understand with one each.
pub(super) const MAX_PATHS: usize = 20;

/// Whether an object that is being deleted may take the edge.
pub(super) fn is_path_edge(step: Step) -> bool {
    matches!(
        step.edge.kind,
        EdgeKind::Next | EdgeKind::Timeout | EdgeKind::Retry | EdgeKind::Limit | EdgeKind::Resume
    )
}
