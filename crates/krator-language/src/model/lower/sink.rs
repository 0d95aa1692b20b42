//! The findings of lowering.

use std::cell::{Cell, RefCell};

use crate::catalog::{Rule, Severity, WRONG_TYPE};
use crate::finding::{Finding, Source, Span, closest};
use crate::spec::Node;

/// Collects the findings of lowering.
pub(super) struct Sink<'a> {
    pub source: &'a Source,
    findings: RefCell<Vec<Finding>>,
    /// The number of errors among them.
    errors: Cell<usize>,
    suggestions_left: Cell<usize>,
    /// The number of errors about parts that no schema depends on.
    beside_schema: Cell<usize>,
    /// Whether the last suggestion is one of several that are equally similar. It belongs to the next reported finding.
    has_rival: Cell<bool>,
}

impl<'a> Sink<'a> {
    pub fn new(source: &'a Source) -> Self {
        // A suggestion compares all candidates, so a hostile file could cause millions of comparisons.
        Sink {
            source,
            findings: RefCell::default(),
            errors: Cell::new(0),
            suggestions_left: Cell::new(100),
            beside_schema: Cell::new(0),
            has_rival: Cell::new(false),
        }
    }

    /// Reads a part of the description that no schema depends on.
    pub fn beside_schema<T>(&self, read: impl FnOnce() -> T) -> T {
        let before = self.count();
        let value = read();
        self.beside_schema.update(|beside| beside + self.count() - before);
        value
    }

    /// The findings.
    pub fn into_findings(self) -> Vec<Finding> {
        self.findings.into_inner()
    }

    /// The number of errors so far. Warnings are not counted, because their values could be read.
    pub fn count(&self) -> usize {
        self.errors.get()
    }

    /// Whether all errors are about parts that no schema depends on.
    pub fn has_sound_schemas(&self) -> bool {
        self.count() == self.beside_schema.get()
    }

    pub fn report(&self, mut finding: Finding) {
        let has_rival = self.has_rival.take();
        if let Some(fix) = &mut finding.fix {
            fix.is_certain &= !has_rival;
            fix.replacement = quoted_like(self.source.at(fix.span), std::mem::take(&mut fix.replacement));
        }
        self.push(finding);
    }

    fn push(&self, finding: Finding) {
        let is_error = finding.rule.severity == Severity::Error;
        self.errors.update(|errors| errors + usize::from(is_error));
        self.findings.borrow_mut().push(finding);
    }

    /// Reports a finding that prevents a value, and returns `None`.
    pub fn refuse<T>(&self, finding: Finding) -> Option<T> {
        self.report(finding);
        None
    }

    pub fn error(&self, rule: &'static Rule, span: Span, message: impl Into<String>) {
        self.push(Finding::new(rule, span, message));
    }

    /// Whether more suggestions are possible.
    pub(crate) fn has_suggestions(&self) -> bool {
        self.suggestions_left.get() > 0
    }

    pub(crate) fn suggest<'c>(
        &self,
        written: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> Option<&'c str> {
        self.suggestions_left
            .set(self.suggestions_left.get().checked_sub(1)?);
        let closest = closest(written, candidates)?;
        self.has_rival.set(!closest.is_only);
        Some(closest.name)
    }

    /// Reports that a value of another type was expected.
    pub(crate) fn wrong_type(&self, node: &Node, expected: &str) {
        self.error(
            &WRONG_TYPE,
            node.span,
            format!("expected {expected}, found {}", node.describe()),
        );
    }
}

/// Quotes a replacement like the scalar, because it may need the quotes.
fn quoted_like(written: &str, replacement: String) -> String {
    match written.chars().next() {
        Some('"') => serde_json::Value::from(replacement).to_string(),
        Some('\'') => format!("'{}'", replacement.replace('\'', "''")),
        _ => replacement,
    }
}
