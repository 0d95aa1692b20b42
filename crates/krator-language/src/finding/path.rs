//! The steps of a path through the state graph that a finding shows.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Finding, Source, Span};

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathStep {
    /// The state that it leaves.
    pub from: String,
    /// The state that it enters.
    pub to: String,
    /// The cause of the edge.
    pub by: EdgeKind,
    /// The place at which the description names the target.
    pub span: Span,
}

/// The reason for which an object takes an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum EdgeKind {
    /// The handler returns the target state.
    Next,
    /// The object has been in the state for too long.
    Timeout,
    /// The handler has failed too many times.
    Retry,
    /// The state has been entered too many times.
    Limit,
    /// The object is deleted, and the target is the machine's `deletion`.
    Deletion,
    /// The object is deleted, and the state's `onDelete` names another target.
    OnDelete,
    /// The spec of the object changes.
    SpecChange,
    /// The operator restarts while the state's handler may have been running.
    Resume,
}

impl EdgeKind {
    /// Whether objects take the edge because they are deleted.
    pub fn is_deletion(self) -> bool {
        matches!(self, EdgeKind::Deletion | EdgeKind::OnDelete)
    }
}

/// The name of the edge in messages.
impl fmt::Display for EdgeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EdgeKind::Next => "next",
            EdgeKind::Timeout => "timeout",
            EdgeKind::Retry => "retry",
            EdgeKind::Limit => "limit",
            EdgeKind::Deletion => "deletion",
            EdgeKind::OnDelete => "onDelete",
            EdgeKind::SpecChange => "spec change",
            EdgeKind::Resume => "resume",
        })
    }
}

/// The path of a finding in one line, with the edge and the line of each step; `None` if it has no path.
pub fn path_to_text(source: &Source, finding: &Finding) -> Option<String> {
    let first = finding.path.first()?;
    if finding.steps.is_empty() {
        return Some(format!("path: {}", finding.path.join(" -> ")));
    }
    let step = |step: &PathStep| {
        let line = source.position(step.span.start).line;
        format!(" -> {} ({}, line {line})", step.to, step.by)
    };
    Some(
        finding
            .steps
            .iter()
            .map(step)
            .fold(format!("path: {first}"), |path, step| path + &step),
    )
}
