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
    /// What takes the edge.
    pub by: TakenBy,
    /// The place at which the description names the target.
    pub span: Span,
}

/// What takes an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TakenBy {
    /// The handler.
    Next,
    /// The time that an object may spend in the state.
    Timeout,
    /// A failure of the handler.
    Retry,
    /// The number of entries into a state.
    Limit,
    /// The deletion of the object.
    Deletion,
    /// The deletion of the object, where the state says so itself.
    OnDelete,
    /// A change of the spec.
    SpecChange,
    /// A new process.
    Resume,
}

/// For people.
impl fmt::Display for TakenBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TakenBy::Next => "next",
            TakenBy::Timeout => "timeout",
            TakenBy::Retry => "retry",
            TakenBy::Limit => "limit",
            TakenBy::Deletion => "deletion",
            TakenBy::OnDelete => "onDelete",
            TakenBy::SpecChange => "spec change",
            TakenBy::Resume => "resume",
        })
    }
}

/// The path of a finding in one line, with the edge and the line of each step; `None` if it has no path.
pub(crate) fn path_to_text(source: &Source, finding: &Finding) -> Option<String> {
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
