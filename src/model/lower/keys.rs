//! Reading a mapping key by key, so that what is unknown, missing or of the wrong type becomes a finding.

use std::marker::PhantomData;
use std::time::Duration;

use crate::catalog::Rule;
use crate::catalog::keys::{Absent, SectionKey, Type};
use crate::catalog::{INVALID_DURATION, INVALID_NAME, MISSING_KEY, UNKNOWN_KEY, WRONG_TYPE};
use crate::finding::{Finding, Source, Span, Spanned, closest};
use crate::model::parse_duration;
use crate::names::NotAName;
use crate::spec::{Entry, Mapping, Node, NodeKind};
use crate::text::shown;

/// Collects the findings of lowering.
pub(super) struct Sink<'a> {
    pub source: &'a Source,
    pub findings: Vec<Finding>,
    /// The keys that are written and not served yet, each with the place of its value.
    unserved: Vec<(Spanned<&'static str>, Span)>,
    suggestions_left: usize,
    /// Whether the last suggestion is one of several that are equally near. It belongs to the finding that is reported next.
    has_rival: bool,
}

impl<'a> Sink<'a> {
    pub fn new(source: &'a Source) -> Self {
        // A suggestion compares every candidate, so a hostile file could make it compare millions of times.
        Sink {
            source,
            findings: Vec::new(),
            unserved: Vec::new(),
            suggestions_left: 100,
            has_rival: false,
        }
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

    /// The keys that are written and not served yet, in the order of the text. A key inside the value of another one is
    /// left out.
    pub fn take_unserved(&mut self) -> Vec<Spanned<&'static str>> {
        let mut keys = std::mem::take(&mut self.unserved);
        keys.sort_unstable_by_key(|(key, _)| key.span);
        let mut end = 0;
        keys.retain(|(key, value)| {
            let is_outside = key.span.start >= end;
            end = end.max(value.end);
            is_outside
        });
        keys.into_iter().map(|(key, _)| key).collect()
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

/// A mapping of one section of the language, read key by key.
pub(super) struct Keys<'a, K> {
    span: Span,
    mapping: &'a Mapping,
    used: Vec<bool>,
    section: PhantomData<K>,
}

impl<'a, K: SectionKey> Keys<'a, K> {
    /// The keys of a node, or a finding that it is not a mapping.
    pub fn of(node: &'a Node, sink: &mut Sink<'_>) -> Option<Self> {
        let NodeKind::Mapping(mapping) = &node.kind else {
            sink.wrong_type(node, &format!("{} as a mapping", K::section().called));
            return None;
        };
        Some(Keys {
            span: node.span,
            mapping,
            used: vec![false; mapping.entries.len()],
            section: PhantomData,
        })
    }

    pub fn span(&self) -> Span {
        self.span
    }

    pub fn has(&self, key: K) -> bool {
        self.position(key).is_some()
    }

    /// Where a key is written, if it is.
    pub fn key_span(&self, key: K) -> Option<Span> {
        self.position(key).map(|at| self.mapping.entries[at].key_span)
    }

    fn position(&self, key: K) -> Option<usize> {
        let name = key.key().name;
        self.mapping.entries.iter().position(|entry| entry.key == name)
    }

    /// The entry of a key, whatever its value. A missing one is not a finding.
    pub fn entry(&mut self, key: K) -> Option<&'a Entry> {
        let at = self.position(key)?;
        self.used[at] = true;
        Some(&self.mapping.entries[at])
    }

    /// The value of a key. It is a finding that the key has no value, and that a required key is missing.
    pub fn get(&mut self, key: K, sink: &mut Sink<'_>) -> Option<&'a Node> {
        if key.key().absent == Absent::Required {
            return self.need(key, sink);
        }
        self.value(key, sink)
    }

    /// The value of a key that is required here, whether or not it is required everywhere.
    pub fn need(&mut self, key: K, sink: &mut Sink<'_>) -> Option<&'a Node> {
        if !self.has(key) {
            let message = format!("{} has no `{}`", K::section().called, key.key().name);
            sink.report(Finding::new(&MISSING_KEY, self.head(), message).label("required here"));
        }
        self.value(key, sink)
    }

    fn value(&mut self, key: K, sink: &mut Sink<'_>) -> Option<&'a Node> {
        let entry = self.entry(key)?;
        if entry.value.is_null() {
            let message = format!("`{}` has no value", key.key().name);
            sink.error(&WRONG_TYPE, entry.key_span, message);
            return None;
        }
        Some(&entry.value)
    }

    /// What `parse` makes of the value of a key.
    pub fn read<T>(
        &mut self,
        key: K,
        sink: &mut Sink<'_>,
        parse: impl FnOnce(&'a Node, &mut Sink<'_>) -> Option<T>,
    ) -> Option<T> {
        let node = self.get(key, sink)?;
        parse(node, sink)
    }

    /// What `parse` makes of the value of a key, and an empty list where the key is missing.
    pub fn read_all<T>(
        &mut self,
        key: K,
        sink: &mut Sink<'_>,
        parse: impl FnOnce(&'a Node, &mut Sink<'_>) -> Vec<T>,
    ) -> Vec<T> {
        self.get(key, sink)
            .map(|node| parse(node, sink))
            .unwrap_or_default()
    }

    /// The integer of a key, in the range of the table.
    pub fn integer<T: TryFrom<i64>>(&mut self, key: K, sink: &mut Sink<'_>) -> Option<Spanned<T>> {
        self.read(key, sink, |node, sink| integer(node, key, sink))
    }

    /// The word of a key; `words` are those of the table with what they mean.
    pub fn word<T: Copy>(
        &mut self,
        key: K,
        words: &[(&'static str, T)],
        sink: &mut Sink<'_>,
    ) -> Option<Spanned<T>> {
        self.read(key, sink, |node, sink| word(node, key, words, sink))
    }

    /// A short span that stands for the whole mapping: that of its first key.
    pub fn head(&self) -> Span {
        self.mapping
            .entries
            .first()
            .map_or(self.span, |entry| entry.key_span)
    }

    /// Takes the remaining keys of the section as read, so that only unknown keys are left to report.
    pub(crate) fn skip_known(&mut self) {
        for (entry, used) in self.mapping.entries.iter().zip(&mut self.used) {
            *used |= K::section().keys.iter().any(|key| key.name == entry.key);
        }
    }

    /// Reports every key that was not read, and takes down those that are not served yet.
    pub fn finish(self, sink: &mut Sink<'_>) {
        let section = K::section();
        for key in section.keys.iter().filter(|key| !key.is_served) {
            let written = self.mapping.entries.iter().find(|entry| entry.key == key.name);
            // The default is what an operator does anyway.
            let is_default = |node: &Node| match key.absent {
                Absent::Default(default) => node
                    .scalar()
                    .is_some_and(|scalar| scalar.text == default.trim_matches('`')),
                _ => false,
            };
            if let Some(entry) = written.filter(|entry| !is_default(&entry.value)) {
                sink.unserved
                    .push((Spanned::new(key.name, entry.key_span), entry.value.span));
            }
        }
        for (entry, _) in self
            .mapping
            .entries
            .iter()
            .zip(&self.used)
            .filter(|(_, used)| !**used)
        {
            let key = shown(&entry.key);
            let mut finding = Finding::new(
                &UNKNOWN_KEY,
                entry.key_span,
                format!("{} has no key `{key}`", section.called),
            );
            // A mapping in braces whose extra key has no value: `{to: Eat, when: hungry, tired}`.
            if self.mapping.flow && entry.value.is_null() && sink.source.at(entry.value.span).is_empty() {
                finding = finding
                    .label("an unquoted comma inside `{}` starts a new key")
                    .help("quote the whole string: `\"…, …\"`");
            } else {
                let known = || section.keys.iter().map(|key| key.name);
                let suggestion = sink.suggest(&entry.key, known());
                finding = if suggestion.is_some() {
                    finding.did_you_mean(suggestion)
                } else if section.called == "a type" && entry.key == "required" {
                    finding.help("a field is required unless it is `optional` or has a `default`")
                } else if let Some(key) = abbreviated(&entry.key, known()) {
                    finding.did_you_mean(Some(key)).perhaps()
                } else {
                    let known: Vec<&str> = known().collect();
                    finding.help(format!("known here: {}", known.join(", ")))
                };
            }
            sink.report(finding);
        }
    }
}

/// The shortest key that begins with what was written, as `minimum` does with `min`.
fn abbreviated(written: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let is_long_enough = written.len() >= 3;
    known
        .filter(|key| is_long_enough && key.starts_with(written))
        .min_by_key(|key| key.len())
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

/// Whether a list is written that has no items, for keys that need at least one.
pub(super) fn is_empty_list(node: &Node) -> bool {
    matches!(&node.kind, NodeKind::Sequence(items) if items.is_empty())
}

/// The items of a list, as many as the table allows for the key.
pub(super) fn limited_list<'a>(
    node: &'a Node,
    key: impl SectionKey,
    expected: &str,
    sink: &mut Sink<'_>,
) -> &'a [Node] {
    let items = list(node, expected, sink);
    match key.key().value {
        Type::List { max: Some(max), .. } if items.len() > max => {
            let message = format!("`{}` has at most {max} items", key.key().name);
            sink.error(&WRONG_TYPE, node.span, message);
            &items[..max]
        }
        _ => items,
    }
}

/// The entries of a mapping whose keys are names that the description chooses.
pub(super) fn entries<'a>(node: &'a Node, expected: &str, sink: &mut Sink<'_>) -> &'a [Entry] {
    match &node.kind {
        NodeKind::Mapping(mapping) => &mapping.entries,
        _ => {
            sink.wrong_type(node, expected);
            &[]
        }
    }
}

/// A string: any scalar but null.
pub(super) fn text(node: &Node, sink: &mut Sink<'_>) -> Option<Spanned<String>> {
    match node.scalar() {
        Some(scalar) if !scalar.is_null() => Some(Spanned::new(scalar.text.clone(), node.span)),
        _ => {
            sink.wrong_type(node, "a string");
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

/// An integer in the range that the table has for the key.
pub(super) fn integer<T: TryFrom<i64>>(
    node: &Node,
    key: impl SectionKey,
    sink: &mut Sink<'_>,
) -> Option<Spanned<T>> {
    let (min, max) = key.key().value.range()?;
    match node.scalar().and_then(|scalar| scalar.integer()) {
        Some(value) if (min..=max).contains(&value) => {
            Some(Spanned::new(T::try_from(value).ok()?, node.span))
        }
        Some(_) => {
            let message = format!("expected an integer from {min} to {max}");
            sink.error(&WRONG_TYPE, node.span, message);
            None
        }
        None => {
            sink.wrong_type(node, "an integer");
            None
        }
    }
}

/// A number in the range that the table has for the key.
pub(super) fn number(node: &Node, key: impl SectionKey, sink: &mut Sink<'_>) -> Option<Spanned<f64>> {
    let Type::Number(range) = key.key().value else {
        return None;
    };
    let Some(value) = node.scalar().and_then(|scalar| scalar.number()) else {
        sink.wrong_type(node, "a number");
        return None;
    };
    match range {
        Some((min, max)) if !(min..=max).contains(&value) => {
            let message = format!("expected a number from {min} to {max}");
            sink.error(&WRONG_TYPE, node.span, message);
            None
        }
        _ => Some(Spanned::new(value, node.span)),
    }
}

/// One of the words that the table has for the key; `words` pairs each with its meaning.
pub(super) fn word<T: Copy>(
    node: &Node,
    key: impl SectionKey,
    words: &[(&'static str, T)],
    sink: &mut Sink<'_>,
) -> Option<Spanned<T>> {
    debug_assert!(
        words.iter().map(|(word, _)| word).eq(key.key().value.words()),
        "`{}` has other words in the table",
        key.key().name
    );
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

/// Reads a name; `what` is the noun for messages: "state".
pub(super) fn name<T>(
    node: &Node,
    what: &str,
    parse: impl Fn(&str) -> Result<T, NotAName>,
    sink: &mut Sink<'_>,
) -> Option<Spanned<T>> {
    let written = text(node, sink)?;
    named(&written.value, written.span, what, parse, sink)
}

/// A reader of names, for [`Keys::read`].
pub(super) fn name_of<T>(
    what: &str,
    parse: impl Fn(&str) -> Result<T, NotAName>,
) -> impl FnOnce(&Node, &mut Sink<'_>) -> Option<Spanned<T>> {
    move |node, sink| name(node, what, parse, sink)
}

/// The names in a list.
pub(super) fn names<T>(
    node: &Node,
    what: &str,
    parse: impl Fn(&str) -> Result<T, NotAName>,
    sink: &mut Sink<'_>,
) -> Vec<Spanned<T>> {
    list(node, "a list of names", sink)
        .iter()
        .filter_map(|node| name(node, what, &parse, sink))
        .collect()
}

/// A name that is the text of a key.
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
            let message = format!("`{}` is not a duration", shown(&written.value));
            let mut finding = Finding::new(&INVALID_DURATION, written.span, message);
            finding = match written.value.parse::<u64>() {
                // They may be minutes just as well.
                Ok(seconds) => finding.did_you_mean(Some(&format!("{seconds}s"))).perhaps(),
                Err(_) => finding.help("durations are written as in Go: `1h30m`, `10s`, `750ms`"),
            };
            sink.report(finding);
            None
        }
    }
}
