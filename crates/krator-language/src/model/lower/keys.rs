//! Reads a mapping key by key, and reports keys that are unknown, missing or of the wrong type.

use std::marker::PhantomData;

use super::nodes::{Input, InputEntry, integer, list, number, word};
use crate::catalog::keys::{Absent, SectionKey};
use crate::catalog::{FORMER_NAME, MISSING_KEY, UNKNOWN_KEY, WRONG_TYPE, former_names};
use crate::finding::{Finding, Span, Spanned};
use crate::spec::{Mapping, NodeKind};
use crate::text::shown;

/// A mapping of one section of the language, read key by key.
pub(super) struct Keys<'a, K> {
    input: Input<'a>,
    mapping: &'a Mapping,
    used: Vec<bool>,
    section: PhantomData<K>,
}

impl<'a, K: SectionKey> Keys<'a, K> {
    /// The keys of a node. Reports a node that is not a mapping.
    pub fn of(node: Input<'a>) -> Option<Self> {
        let NodeKind::Mapping(mapping) = &node.node.kind else {
            return node.mismatch(&format!("{} as a mapping", K::section().called));
        };
        Some(Keys {
            input: node,
            mapping,
            used: vec![false; mapping.entries.len()],
            section: PhantomData,
        })
    }

    pub fn span(&self) -> Span {
        self.input.span
    }

    pub fn has(&self, key: K) -> bool {
        self.position(key).is_some()
    }

    /// The place of a key, if it is written.
    pub fn key_span(&self, key: K) -> Option<Span> {
        self.position(key).map(|at| self.mapping.entries[at].key_span)
    }

    fn position(&self, key: K) -> Option<usize> {
        let name = key.key().name;
        let named = |name: &str| self.mapping.entries.iter().position(|entry| entry.key == name);
        named(name).or_else(|| {
            let mut entries = self.mapping.entries.iter();
            entries.position(|entry| former_names::key(K::section().called, &entry.key) == Some(name))
        })
    }

    /// The entry of a key, with any value. A missing entry is not a finding.
    pub fn entry(&mut self, key: K) -> Option<InputEntry<'a>> {
        let at = self.position(key)?;
        let entry = &self.mapping.entries[at];
        if !self.used[at] && entry.key != key.key().name {
            let finding = former_name(entry.key_span, &entry.key, key.key().name);
            self.input.sink.report(finding);
        }
        self.used[at] = true;
        Some(self.input.entry(entry))
    }

    /// The value of a key. Reports a key without a value, and a required key that is missing.
    pub fn get(&mut self, key: K) -> Option<Input<'a>> {
        if key.key().absent == Absent::Required {
            return self.need(key);
        }
        self.value(key)
    }

    /// The value of a key that is required at this place, whether or not the table requires it.
    pub fn need(&mut self, key: K) -> Option<Input<'a>> {
        if !self.has(key) {
            let message = format!("{} has no `{}`", K::section().called, key.key().name);
            self.input
                .sink
                .report(Finding::new(&MISSING_KEY, self.head(), message).label("required here"));
        }
        self.value(key)
    }

    fn value(&mut self, key: K) -> Option<Input<'a>> {
        let entry = self.entry(key)?;
        if entry.value.is_null() {
            let message = format!("`{}` has no value", key.key().name);
            return self
                .input
                .sink
                .refuse(Finding::new(&WRONG_TYPE, entry.key_span, message));
        }
        Some(entry.value)
    }

    /// Parses a mapping and reports the keys that `parse` has not read.
    pub fn mapping<T>(node: Input<'a>, parse: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let mut keys = Keys::of(node)?;
        let value = parse(&mut keys);
        keys.finish();
        value
    }

    /// Parses each mapping in a list.
    pub fn list<T>(node: Input<'a>, expected: &str, mut parse: impl FnMut(&mut Self) -> Option<T>) -> Vec<T> {
        let items = list(node, expected).into_iter();
        items.filter_map(|item| Keys::mapping(item, &mut parse)).collect()
    }

    /// Parses the value of a key.
    pub fn read<T>(&mut self, key: K, parse: impl FnOnce(Input<'a>) -> Option<T>) -> Option<T> {
        let node = self.get(key)?;
        parse(node)
    }

    /// Parses the value of a key; an empty list if the key is missing.
    pub fn read_all<T>(&mut self, key: K, parse: impl FnOnce(Input<'a>) -> Vec<T>) -> Vec<T> {
        self.get(key).map(parse).unwrap_or_default()
    }

    /// The integer of a key, in the range of the table.
    pub fn integer<T: TryFrom<i64>>(&mut self, key: K) -> Option<Spanned<T>> {
        self.read(key, |node| integer(node, key))
    }

    /// The number of a key, in the range of the table.
    pub fn number(&mut self, key: K) -> Option<Spanned<f64>> {
        self.read(key, |node| number(node, key))
    }

    /// The word of a key; `words` are those of the table with their meanings.
    pub fn word<T: Copy>(&mut self, key: K, words: &[(&'static str, T)]) -> Option<Spanned<T>> {
        self.read(key, |node| word(node, key, words))
    }

    /// A short span that represents the whole mapping: that of its first key.
    pub fn head(&self) -> Span {
        self.mapping
            .entries
            .first()
            .map_or(self.input.span, |entry| entry.key_span)
    }

    /// Marks the remaining keys of the section as read, so that only unknown keys are reported.
    pub(crate) fn skip_known(&mut self) {
        for (entry, used) in self.mapping.entries.iter().zip(&mut self.used) {
            *used |= K::section().keys.iter().any(|key| key.name == entry.key);
        }
    }

    /// Reports every key that was not read.
    pub fn finish(self) {
        let section = K::section();
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
            if self.mapping.flow
                && entry.value.is_null()
                && self.input.sink.source.at(entry.value.span).is_empty()
            {
                finding = finding
                    .label("an unquoted comma inside `{}` starts a new key")
                    .help("quote the whole string: `\"…, …\"`");
            } else {
                let known = || section.keys.iter().map(|key| key.name);
                let suggestion = self.input.sink.suggest(&entry.key, known());
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
            self.input.sink.report(finding);
        }
    }
}

/// A finding for a former name of the language, with a fix to the present name.
pub(super) fn former_name(span: Span, former: &str, now: &str) -> Finding {
    let message = format!("`{former}` is a former name of `{now}`");
    Finding::new(&FORMER_NAME, span, message).fix(span, now, "use the current name")
}

/// The shortest key that begins with the written text, such as `minimum` for `min`.
fn abbreviated(written: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let is_long_enough = written.len() >= 3;
    known
        .filter(|key| is_long_enough && key.starts_with(written))
        .min_by_key(|key| key.len())
}
