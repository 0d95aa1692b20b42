//! The problems of a description: one [`Finding`] for each, with its place in the text.
//!
//! A mistake of the user is a value here, never an `Err`, so that all of them can be reported together. This module is
//! independent of Kubernetes and state graphs: rules create findings, and this module shows them.

mod conflict;
mod json;
mod path;
mod source;
mod suggest;
mod text;

pub use conflict::conflict_markers;
pub use json::Place;
pub use json::{FindingReport, reports, to_sarif};
pub use path::path_to_text;
pub use path::{EdgeKind, PathStep};
pub use source::{Position, Source};
pub(crate) use suggest::closest;
pub use suggest::nearest;
pub use text::{Style, to_text};

use crate::catalog::{Rule, Severity};
use crate::text::shown;

/// A range of the description's text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
}

impl Span {
    /// The bytes from `start` up to `end`, which is not included.
    pub(crate) const fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }

    /// The smallest span that contains both.
    pub(crate) fn to(self, other: Span) -> Span {
        Span {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

/// A value and the place in the text that it comes from. The span of a default is that of the key or name that the
/// default belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// The place in the text.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// A value at its place.
    pub fn new(value: T, span: Span) -> Self {
        Spanned { value, span }
    }

    /// Another value at the same place.
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned {
            value: change(self.value),
            span: self.span,
        }
    }
}

impl<T> std::ops::Deref for Spanned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// An edit that fixes a finding by replacing the text at `span`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The text to replace.
    pub span: Span,
    /// The new text.
    pub replacement: String,
    /// The effect of the edit, as a lower-case phrase.
    pub message: String,
    /// Whether the edit certainly matches the user's intention, so that it can be made without confirmation.
    pub is_certain: bool,
}

/// One problem, as a rule reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that reports it.
    pub rule: &'static Rule,
    /// The mistake, as a lower-case phrase.
    pub message: String,
    /// The place at which the description has to change.
    pub span: Span,
    /// A remark next to that place.
    pub label: Option<String>,
    /// Other relevant places, each with a remark.
    pub related: Vec<(Span, String)>,
    /// The states of a path through the graph that shows the problem.
    pub path: Vec<String>,
    /// The edges between these states, if the rule reports specific ones.
    pub steps: Vec<PathStep>,
    /// Consequences and background.
    pub notes: Vec<String>,
    /// A remedy for the user.
    pub help: Option<String>,
    /// An edit that solves the problem.
    pub fix: Option<Fix>,
}

impl Finding {
    /// A finding at a place. The methods below add its other parts.
    pub fn new(rule: &'static Rule, span: Span, message: impl Into<String>) -> Self {
        Finding {
            rule,
            message: message.into(),
            span,
            label: None,
            related: Vec::new(),
            path: Vec::new(),
            steps: Vec::new(),
            notes: Vec::new(),
            help: None,
            fix: None,
        }
    }

    /// Adds a remark next to the place.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Adds another place with a remark.
    pub(crate) fn related(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related.push((span, label.into()));
        self
    }

    /// Shows a path through the graph.
    pub(crate) fn path(mut self, states: Vec<String>) -> Self {
        self.path = states;
        self
    }

    /// Sets the edges of the path.
    pub(crate) fn steps(mut self, steps: Vec<PathStep>) -> Self {
        self.steps = steps;
        self
    }

    /// Sets the remedy for the user.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Offers to replace the text at the place by `name`, if any.
    pub(crate) fn did_you_mean(mut self, name: Option<&str>) -> Self {
        if let Some(name) = name {
            self.fix = Some(Fix {
                span: self.span,
                replacement: name.to_owned(),
                message: format!("did you mean `{}`?", shown(name)),
                is_certain: true,
            });
        }
        self
    }

    /// Marks the edit as uncertain, so that it is made only with the user's consent.
    pub(crate) fn perhaps(mut self) -> Self {
        if let Some(fix) = &mut self.fix {
            fix.is_certain = false;
        }
        self
    }

    /// Offers an edit, which is certain; `message` is its effect.
    pub(crate) fn fix(mut self, span: Span, replacement: impl Into<String>, message: &str) -> Self {
        self.fix = Some(Fix {
            span,
            replacement: replacement.into(),
            message: message.to_owned(),
            is_certain: true,
        });
        self
    }
}

/// Sorts findings by place, and by severity at the same place, and removes duplicates.
pub fn sort(findings: &mut Vec<Finding>) {
    findings.sort_by(|a, b| {
        (a.span.start, a.rule.severity, a.rule.name, a.span.end, &a.message).cmp(&(
            b.span.start,
            b.rule.severity,
            b.rule.name,
            b.span.end,
            &b.message,
        ))
    });
    findings.dedup();
}

/// Whether one of the findings is an error.
pub fn has_errors(findings: &[Finding]) -> bool {
    findings
        .iter()
        .any(|finding| finding.rule.severity == Severity::Error)
}
