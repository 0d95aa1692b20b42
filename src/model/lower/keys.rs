//! Reading a mapping key by key, so that what is unknown, missing or of the wrong type becomes a finding.

use std::time::Duration;

use crate::catalog::Rule;
use crate::catalog::{INVALID_DURATION, INVALID_NAME, MISSING_KEY, UNKNOWN_KEY, WRONG_TYPE};
use crate::finding::{Finding, Source, Span, Spanned, nearest};
use crate::model::parse_duration;
use crate::names::NotAName;
use crate::spec::{Entry, Mapping, Node, NodeKind};
use crate::text::shown;

/// Where findings go while the model is built.
pub(super) struct Sink<'a> {
    pub source: &'a Source,
    pub findings: Vec<Finding>,
    suggestions_left: usize,
}

impl<'a> Sink<'a> {
    pub fn new(source: &'a Source) -> Self {
        // A suggestion looks at every candidate: a hostile file could ask for millions of them.
        Sink {
            source,
            findings: Vec::new(),
            suggestions_left: 100,
        }
    }

    pub fn report(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    pub fn error(&mut self, rule: &'static Rule, span: Span, message: impl Into<String>) {
        self.findings.push(Finding::new(rule, span, message));
    }

    /// Whether there will be more suggestions.
    pub fn has_suggestions(&self) -> bool {
        self.suggestions_left > 0
    }

    pub fn suggest<'c>(
        &mut self,
        written: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> Option<&'c str> {
        self.suggestions_left = self.suggestions_left.checked_sub(1)?;
        nearest(written, candidates)
    }

    /// Says that something else was expected.
    pub fn wrong_type(&mut self, node: &Node, expected: &str) {
        self.error(
            &WRONG_TYPE,
            node.span,
            format!("expected {expected}, found {}", node.describe()),
        );
    }
}

/// A mapping that is read key by key.
pub(super) struct Keys<'a> {
    what: &'static str,
    span: Span,
    mapping: &'a Mapping,
    used: Vec<bool>,
    asked: Vec<&'static str>,
}

impl<'a> Keys<'a> {
    /// The keys of a node, or a finding that it is no mapping. `what` names it in messages: "a state".
    pub fn of(node: &'a Node, what: &'static str, sink: &mut Sink<'_>) -> Option<Self> {
        let NodeKind::Mapping(mapping) = &node.kind else {
            sink.wrong_type(node, &format!("{what} as a mapping"));
            return None;
        };
        Some(Keys {
            what,
            span: node.span,
            mapping,
            used: vec![false; mapping.entries.len()],
            asked: Vec::new(),
        })
    }

    pub fn span(&self) -> Span {
        self.span
    }

    pub fn has(&self, key: &str) -> bool {
        self.mapping.entries.iter().any(|entry| entry.key == key)
    }

    /// The entry of a key, whatever its value.
    pub fn entry(&mut self, key: &'static str) -> Option<&'a Entry> {
        self.asked.push(key);
        let at = self.mapping.entries.iter().position(|entry| entry.key == key)?;
        self.used[at] = true;
        Some(&self.mapping.entries[at])
    }

    /// The value of a key; a key without value is a finding.
    pub fn get(&mut self, key: &'static str, sink: &mut Sink<'_>) -> Option<&'a Node> {
        let entry = self.entry(key)?;
        if entry.value.is_null() {
            sink.error(&WRONG_TYPE, entry.key_span, format!("`{key}` has no value"));
            return None;
        }
        Some(&entry.value)
    }

    /// The value of a key that must be there.
    pub fn need(&mut self, key: &'static str, sink: &mut Sink<'_>) -> Option<&'a Node> {
        if !self.has(key) {
            self.asked.push(key);
            let message = format!("{} has no `{key}`", self.what);
            sink.report(Finding::new(&MISSING_KEY, self.head(), message).label("required here"));
        }
        self.get(key, sink)
    }

    /// A short span to speak of the whole mapping: its first key.
    pub fn head(&self) -> Span {
        self.mapping
            .entries
            .first()
            .map_or(self.span, |entry| entry.key_span)
    }

    /// Keys that no key of the language is; for schemas, whose extensions are open.
    pub fn unused(&mut self, matches: impl Fn(&str) -> bool) -> Vec<&'a Entry> {
        let mut found = Vec::new();
        for (at, entry) in self.mapping.entries.iter().enumerate() {
            if !self.used[at] && matches(&entry.key) {
                self.used[at] = true;
                found.push(entry);
            }
        }
        found
    }

    /// Reports every key that was not asked for.
    pub fn finish(self, sink: &mut Sink<'_>) {
        for (entry, used) in self.mapping.entries.iter().zip(&self.used) {
            if *used {
                continue;
            }
            let key = shown(&entry.key);
            let mut finding = Finding::new(
                &UNKNOWN_KEY,
                entry.key_span,
                format!("{} has no key `{key}`", self.what),
            );
            // A mapping in braces whose extra key has no value: `{to: Eat, when: hungry, tired}`.
            if self.mapping.flow && entry.value.is_null() && sink.source.at(entry.value.span).is_empty() {
                finding = finding
                    .label("an unquoted comma inside `{}` starts a new key")
                    .help("quote the whole text: `\"…, …\"`");
            } else {
                let suggestion = sink.suggest(&entry.key, self.asked.iter().copied());
                if suggestion.is_none() {
                    finding = finding.help(format!("known here: {}", self.asked.join(", ")));
                }
                finding = finding.did_you_mean(suggestion);
            }
            sink.report(finding);
        }
    }
}

/// The items of a list.
pub(super) fn list<'a>(node: &'a Node, expected: &str, sink: &mut Sink<'_>) -> &'a [Node] {
    match &node.kind {
        NodeKind::Sequence(items) => items,
        NodeKind::Scalar(scalar) if !scalar.is_null() => {
            let message = format!("expected {expected}, found {}", node.describe());
            let finding = Finding::new(&WRONG_TYPE, node.span, message);
            sink.report(finding.did_you_mean(Some(&format!("[{}]", sink.source.at(node.span)))));
            &[]
        }
        _ => {
            sink.wrong_type(node, expected);
            &[]
        }
    }
}

/// The entries of a mapping whose keys are names of the user's.
pub(super) fn entries<'a>(node: &'a Node, expected: &str, sink: &mut Sink<'_>) -> &'a [Entry] {
    match &node.kind {
        NodeKind::Mapping(mapping) => &mapping.entries,
        _ => {
            sink.wrong_type(node, expected);
            &[]
        }
    }
}

/// A text: any scalar that is something.
pub(super) fn text(node: &Node, sink: &mut Sink<'_>) -> Option<Spanned<String>> {
    match node.scalar() {
        Some(scalar) if !scalar.is_null() => Some(Spanned::new(scalar.text.clone(), node.span)),
        _ => {
            sink.wrong_type(node, "a text");
            None
        }
    }
}

/// A boolean.
pub(super) fn boolean(node: &Node, sink: &mut Sink<'_>) -> Option<Spanned<bool>> {
    match node.scalar().and_then(|scalar| scalar.boolean()) {
        Some(value) => Some(Spanned::new(value, node.span)),
        None => {
            sink.wrong_type(node, "`true` or `false`");
            None
        }
    }
}

/// A whole number in a range.
pub(super) fn whole(node: &Node, least: i64, most: i64, sink: &mut Sink<'_>) -> Option<Spanned<i64>> {
    match node.scalar().and_then(|scalar| scalar.integer()) {
        Some(value) if (least..=most).contains(&value) => Some(Spanned::new(value, node.span)),
        Some(_) => {
            sink.error(
                &WRONG_TYPE,
                node.span,
                format!("expected a whole number from {least} to {most}"),
            );
            None
        }
        None => {
            sink.wrong_type(node, "a whole number");
            None
        }
    }
}

/// A whole number that fits 32 bits and is not negative.
pub(super) fn count(node: &Node, least: u32, sink: &mut Sink<'_>) -> Option<Spanned<u32>> {
    // The upper bound is that of the API's own counters, so the conversion cannot fail.
    let value = whole(node, i64::from(least), i64::from(i32::MAX), sink)?;
    Some(value.map(|value| u32::try_from(value).unwrap_or(u32::MAX)))
}

/// A word of a fixed set.
pub(super) fn word<T: Copy>(
    node: &Node,
    words: &[(&'static str, T)],
    sink: &mut Sink<'_>,
) -> Option<Spanned<T>> {
    let written = node.scalar().map(|scalar| scalar.text.as_str());
    if let Some((_, value)) = words.iter().find(|(word, _)| Some(*word) == written) {
        return Some(Spanned::new(*value, node.span));
    }
    let all: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
    let expected = format!("expected one of {}", all.join(", "));
    let finding = match written {
        Some(written) if !node.is_null() => {
            let suggestion = sink.suggest(written, words.iter().map(|(word, _)| *word));
            Finding::new(
                &WRONG_TYPE,
                node.span,
                format!("{expected}, found `{}`", shown(written)),
            )
            .did_you_mean(suggestion)
        }
        _ => Finding::new(
            &WRONG_TYPE,
            node.span,
            format!("{expected}, found {}", node.describe()),
        ),
    };
    sink.report(finding);
    None
}

/// A name of some sort; `what` names the sort: "state".
pub(super) fn name<T>(
    node: &Node,
    what: &str,
    parse: impl Fn(&str) -> Result<T, NotAName>,
    sink: &mut Sink<'_>,
) -> Option<Spanned<T>> {
    let written = text(node, sink)?;
    named(&written.value, written.span, what, parse, sink)
}

/// A name of some sort that is the text of a key.
pub(super) fn named<T>(
    written: &str,
    span: Span,
    what: &str,
    parse: impl Fn(&str) -> Result<T, NotAName>,
    sink: &mut Sink<'_>,
) -> Option<Spanned<T>> {
    match parse(written) {
        Ok(name) => Some(Spanned::new(name, span)),
        Err(error) => {
            let message = format!("`{}` is not a valid {what} name", shown(written));
            sink.report(
                Finding::new(&INVALID_NAME, span, message).help(format!("expected {}", error.expected)),
            );
            None
        }
    }
}

/// A duration.
pub(super) fn duration(node: &Node, sink: &mut Sink<'_>) -> Option<Spanned<Duration>> {
    let written = text(node, sink)?;
    match parse_duration(&written.value) {
        Some(duration) => Some(written.map(|_| duration)),
        None => {
            let message = format!("`{}` is no duration", shown(&written.value));
            let mut finding = Finding::new(&INVALID_DURATION, written.span, message);
            finding = match written.value.parse::<u64>() {
                Ok(seconds) => finding.did_you_mean(Some(&format!("{seconds}s"))),
                Err(_) => finding.help("durations are written as in Go: `1h30m`, `10s`, `750ms`"),
            };
            sink.report(finding);
            None
        }
    }
}
