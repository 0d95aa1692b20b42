//! Reads single values: lists, entries, names and scalars. Values of the wrong type become findings.

use std::ops::Deref;
use std::time::Duration;

use super::sink::Sink;
use crate::catalog::keys::{SectionKey, Type};
use crate::catalog::{INVALID_DURATION, INVALID_NAME, Rule, WRONG_TYPE};
use crate::finding::{Finding, Span, Spanned};
use crate::model::parse_duration;
use crate::names::{NotAName, capitalized};
use crate::spec::{Entry, Node, NodeKind};
use crate::text::shown;

/// A value of the text, with the sink for findings about it.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub node: &'a Node,
    pub sink: &'a Sink<'a>,
}

impl Deref for Input<'_> {
    type Target = Node;

    fn deref(&self) -> &Node {
        self.node
    }
}

/// An entry of a mapping, with the sink for findings about it.
#[derive(Clone, Copy)]
pub(super) struct InputEntry<'a> {
    pub key: &'a str,
    pub key_span: Span,
    pub value: Input<'a>,
}

impl<'a> Input<'a> {
    /// Another value, with the same sink.
    fn with(self, node: &'a Node) -> Self {
        Input { node, ..self }
    }

    pub fn entry(self, entry: &'a Entry) -> InputEntry<'a> {
        InputEntry {
            key: &entry.key,
            key_span: entry.key_span,
            value: self.with(&entry.value),
        }
    }

    pub fn report(self, finding: Finding) {
        self.sink.report(finding);
    }

    /// Reports a finding about the whole value.
    pub fn error(self, rule: &'static Rule, message: impl Into<String>) {
        self.sink.error(rule, self.span, message);
    }

    pub fn wrong_type(self, expected: &str) {
        self.sink.wrong_type(&self, expected);
    }

    /// Reports a finding that prevents a value, and returns `None`.
    pub fn refuse<T>(self, finding: Finding) -> Option<T> {
        self.sink.refuse(finding)
    }

    /// Reports that a value of another type was expected, and returns `None`.
    pub fn mismatch<T>(self, expected: &str) -> Option<T> {
        self.wrong_type(expected);
        None
    }

    /// Whether it is the path of a field, for keys that also take other values.
    pub fn is_path(self) -> bool {
        self.scalar().is_some_and(|scalar| scalar.text.starts_with('.'))
    }

    /// The entries of a mapping; empty for other values.
    pub fn entries(self) -> Vec<InputEntry<'a>> {
        match &self.node.kind {
            NodeKind::Mapping(mapping) => mapping.entries.iter().map(|entry| self.entry(entry)).collect(),
            _ => Vec::new(),
        }
    }
}

impl InputEntry<'_> {
    /// The key as a name; `what` is the noun for messages: "state".
    pub fn name<T>(self, what: &str, parse: impl Fn(&str) -> Result<T, NotAName>) -> Option<Spanned<T>> {
        named(self.key, self.key_span, what, parse, self.value.sink)
    }
}

/// The items of a list.
pub(super) fn list<'a>(node: Input<'a>, expected: &str) -> Vec<Input<'a>> {
    match &node.node.kind {
        NodeKind::Sequence(items) => return items.iter().map(|item| node.with(item)).collect(),
        NodeKind::Scalar(scalar) if !scalar.is_null() => {
            let message = format!("expected {expected}, found {}", node.describe());
            let finding = Finding::new(&WRONG_TYPE, node.span, message);
            let meant = format!("[{}]", node.sink.source.at(node.span));
            node.report(finding.did_you_mean(Some(&meant)));
        }
        _ => node.wrong_type(expected),
    }
    Vec::new()
}

/// The items of a list, or a scalar as the only item.
pub(super) fn one_or_list<'a>(node: Input<'a>, expected: &str) -> Vec<Input<'a>> {
    match node.scalar() {
        Some(_) => vec![node],
        None => list(node, expected),
    }
}

/// Whether it is a list without items, for keys that need at least one.
pub(super) fn is_empty_list(node: Input<'_>) -> bool {
    matches!(&node.kind, NodeKind::Sequence(items) if items.is_empty())
}

/// The items of a list, limited to the number that the table allows for the key.
pub(super) fn limited_list<'a>(node: Input<'a>, key: impl SectionKey, expected: &str) -> Vec<Input<'a>> {
    let mut items = list(node, expected);
    if let Type::List { max: Some(max), .. } = key.key().value
        && items.len() > max
    {
        let message = format!("`{}` can have at most {max} items", key.key().name);
        node.error(&WRONG_TYPE, message);
        items.truncate(max);
    }
    items
}

/// The entries of a mapping whose keys are names that the description chooses.
pub(super) fn entries<'a>(node: Input<'a>, expected: &str) -> Vec<InputEntry<'a>> {
    if !matches!(node.kind, NodeKind::Mapping(_)) {
        node.wrong_type(expected);
    }
    node.entries()
}

/// A string: any scalar except null.
pub(super) fn text(node: Input<'_>) -> Option<Spanned<String>> {
    match node.scalar() {
        Some(scalar) if !scalar.is_null() => Some(Spanned::new(scalar.text.clone(), node.span)),
        _ => node.mismatch("a string"),
    }
}

/// A boolean.
pub(super) fn boolean(node: Input<'_>) -> Option<Spanned<bool>> {
    match node.scalar().and_then(|scalar| scalar.boolean()) {
        Some(value) => Some(Spanned::new(value, node.span)),
        None => node.mismatch("`true` or `false`"),
    }
}

/// An integer in the range that the table has for the key.
pub(super) fn integer<T: TryFrom<i64>>(node: Input<'_>, key: impl SectionKey) -> Option<Spanned<T>> {
    let (min, max) = key.key().value.range()?;
    match node.scalar().and_then(|scalar| scalar.integer()) {
        Some(value) if (min..=max).contains(&value) => {
            Some(Spanned::new(T::try_from(value).ok()?, node.span))
        }
        Some(_) => {
            let message = format!("expected an integer from {min} to {max}");
            node.refuse(Finding::new(&WRONG_TYPE, node.span, message))
        }
        None => node.mismatch("an integer"),
    }
}

/// A number in the range that the table has for the key.
pub(super) fn number(node: Input<'_>, key: impl SectionKey) -> Option<Spanned<f64>> {
    let Type::Number(range) = key.key().value else {
        return None;
    };
    let number = node.scalar().and_then(|scalar| scalar.number());
    let Some(value) = number.filter(|number| number.is_finite()) else {
        return node.mismatch("a number");
    };
    match range {
        Some((min, max)) if !(min..=max).contains(&value) => {
            let message = format!("expected a number from {min} to {max}");
            node.refuse(Finding::new(&WRONG_TYPE, node.span, message))
        }
        _ => Some(Spanned::new(value, node.span)),
    }
}

/// One of the words that the table has for the key; `words` pairs each with its meaning.
pub(super) fn word<T: Copy>(
    node: Input<'_>,
    key: impl SectionKey,
    words: &[(&'static str, T)],
) -> Option<Spanned<T>> {
    debug_assert!(
        words.iter().map(|(word, _)| word).eq(key.key().value.words()),
        "the words of `{}` differ from those in the table",
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
            let suggestion = node.sink.suggest(written, words.iter().map(|(word, _)| *word));
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
    node.refuse(finding)
}

/// Reads a name; `what` is the noun for messages: "state".
pub(super) fn name<T>(
    node: Input<'_>,
    what: &str,
    parse: impl Fn(&str) -> Result<T, NotAName>,
) -> Option<Spanned<T>> {
    let written = text(node)?;
    named(&written.value, written.span, what, parse, node.sink)
}

/// A reader of names, for [`Keys::read`].
pub(super) fn name_of<T>(
    what: &str,
    parse: impl Fn(&str) -> Result<T, NotAName>,
) -> impl FnOnce(Input<'_>) -> Option<Spanned<T>> {
    move |node| name(node, what, parse)
}

/// The names in a list.
pub(super) fn names<T>(
    node: Input<'_>,
    what: &str,
    parse: impl Fn(&str) -> Result<T, NotAName>,
) -> Vec<Spanned<T>> {
    list(node, "a list of names")
        .into_iter()
        .filter_map(|node| name(node, what, &parse))
        .collect()
}

/// Parses a name from the text of a key or value.
pub(super) fn named<T>(
    written: &str,
    span: Span,
    what: &str,
    parse: impl Fn(&str) -> Result<T, NotAName>,
    sink: &Sink<'_>,
) -> Option<Spanned<T>> {
    match parse(written) {
        Ok(name) => Some(Spanned::new(name, span)),
        Err(error) => {
            let message = format!("`{}` is not a valid {what} name", shown(written));
            let finding =
                Finding::new(&INVALID_NAME, span, message).help(format!("expected {}", error.expected));
            let capitalized = capitalized(written);
            let is_name = parse(&capitalized).is_ok();
            sink.refuse(finding.did_you_mean(is_name.then_some(capitalized.as_str())))
        }
    }
}

/// A duration.
pub(super) fn duration(node: Input<'_>) -> Option<Spanned<Duration>> {
    let written = text(node)?;
    match parse_duration(&written.value) {
        Some(duration) => Some(written.map(|_| duration)),
        None => {
            let message = format!("`{}` is not a duration", shown(&written.value));
            let mut finding = Finding::new(&INVALID_DURATION, written.span, message);
            finding = match written.value.parse::<u64>() {
                // The number may also be in minutes.
                Ok(seconds) => finding.did_you_mean(Some(&format!("{seconds}s"))).perhaps(),
                Err(_) => finding.help("durations are written as in Go: `1h30m`, `10s`, `750ms`"),
            };
            node.refuse(finding)
        }
    }
}
