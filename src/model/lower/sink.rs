//! The findings of lowering.

use crate::catalog::{Rule, WRONG_TYPE};
use crate::finding::{Finding, Source, Span, closest};
use crate::spec::Node;

/// Collects the findings of lowering.
pub(super) struct Sink<'a> {
    pub source: &'a Source,
    pub findings: Vec<Finding>,
    suggestions_left: usize,
    /// How many of the findings are about parts that no schema depends on.
    beside_schema: usize,
    /// Whether the last suggestion is one of several that are equally near. It belongs to the finding that is reported next.
    has_rival: bool,
}

impl<'a> Sink<'a> {
    pub fn new(source: &'a Source) -> Self {
        // A suggestion compares every candidate, so a hostile file could make it compare millions of times.
        Sink {
            source,
            findings: Vec::new(),
            suggestions_left: 100,
            beside_schema: 0,
            has_rival: false,
        }
    }

    /// Reads a part of the description that no schema depends on.
    pub fn beside_schema<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.findings.len();
        let value = read(self);
        self.beside_schema += self.findings.len() - before;
        value
    }

    /// Whether all findings are about parts that no schema depends on.
    pub fn has_sound_schemas(&self) -> bool {
        self.findings.len() == self.beside_schema
    }

    pub fn report(&mut self, mut finding: Finding) {
        let has_rival = std::mem::take(&mut self.has_rival);
        if let Some(fix) = &mut finding.fix {
            fix.is_certain &= !has_rival;
            fix.replacement = quoted_like(self.source.at(fix.span), std::mem::take(&mut fix.replacement));
        }
        self.findings.push(finding);
    }

    pub fn error(&mut self, rule: &'static Rule, span: Span, message: impl Into<String>) {
        self.findings.push(Finding::new(rule, span, message));
    }

    /// Whether there will be more suggestions.
    pub(crate) fn has_suggestions(&self) -> bool {
        self.suggestions_left > 0
    }

    pub(crate) fn suggest<'c>(
        &mut self,
        written: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> Option<&'c str> {
        self.suggestions_left = self.suggestions_left.checked_sub(1)?;
        let closest = closest(written, candidates)?;
        self.has_rival = !closest.is_only;
        Some(closest.name)
    }

    /// Reports that a value of another type was expected.
    pub(crate) fn wrong_type(&mut self, node: &Node, expected: &str) {
        self.error(
            &WRONG_TYPE,
            node.span,
            format!("expected {expected}, found {}", node.describe()),
        );
    }
}

/// What replaces a scalar keeps its quotes, without which it may be no scalar any more.
fn quoted_like(written: &str, replacement: String) -> String {
    match written.chars().next() {
        Some('"') => serde_json::Value::from(replacement).to_string(),
        Some('\'') => format!("'{}'", replacement.replace('\'', "''")),
        _ => replacement,
    }
}
