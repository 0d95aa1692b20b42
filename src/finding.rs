//! What krator has to say about a description: one [`Finding`] a problem, each with its place in the text.
//!
//! What a user got wrong is a value here, never an `Err`; all of it is collected and shown together. This module
//! knows nothing of Kubernetes or of state graphs: rules say what, it says where and in which form.

mod json;
mod source;
mod suggest;
mod text;

pub use json::{to_json, to_sarif};
pub use source::{Position, Source};
pub use suggest::nearest;
pub use text::{Style, to_text};

use crate::catalog::{Rule, Severity};
use crate::text::shown;

/// A stretch of the description's text, in bytes, `end` exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset behind the last byte.
    pub end: usize,
}

impl Span {
    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

/// A value and where the text says so; a default's span is that of what it follows from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Its place in the text.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// A value at its place.
    pub fn new(value: T, span: Span) -> Self {
        Spanned { value, span }
    }

    /// The same place, another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Spanned<U> {
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

/// An edit that mends a finding: replace what is at `span`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// What is replaced.
    pub span: Span,
    /// By what.
    pub replacement: String,
    /// What the edit does, as a lower-case phrase.
    pub message: String,
}

/// One thing that is wrong or doubtful.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that it breaks.
    pub rule: &'static Rule,
    /// A lower-case phrase.
    pub message: String,
    /// The place to change.
    pub span: Span,
    /// What is said beside the place.
    pub label: Option<String>,
    /// Further places, each with what is said beside it.
    pub related: Vec<(Span, String)>,
    /// States of a way through the graph, in order.
    pub path: Vec<String>,
    /// What follows from it.
    pub notes: Vec<String>,
    /// What could be done.
    pub help: Option<String>,
    /// An edit that can be applied.
    pub fix: Option<Fix>,
}

impl Finding {
    /// A finding at a place; the other parts are added by the methods below.
    pub fn new(rule: &'static Rule, span: Span, message: impl Into<String>) -> Self {
        Finding {
            rule,
            message: message.into(),
            span,
            label: None,
            related: Vec::new(),
            path: Vec::new(),
            notes: Vec::new(),
            help: None,
            fix: None,
        }
    }

    /// Says something beside the place.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Points to a further place.
    pub fn related(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related.push((span, label.into()));
        self
    }

    /// Shows a way through the graph.
    pub fn path(mut self, states: Vec<String>) -> Self {
        self.path = states;
        self
    }

    /// Says what follows from it.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Says what could be done.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Offers `name` instead of what stands at the place, when there is one.
    pub fn did_you_mean(mut self, name: Option<&str>) -> Self {
        if let Some(name) = name {
            self.fix = Some(Fix {
                span: self.span,
                replacement: name.to_owned(),
                message: format!("did you mean `{}`?", shown(name)),
            });
        }
        self
    }
}

/// The findings of one kind and order: by place, errors first, doubles once.
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

/// Whether any of the findings is an error.
pub fn has_errors(findings: &[Finding]) -> bool {
    findings
        .iter()
        .any(|finding| finding.rule.severity == Severity::Error)
}
