//! Reading one value: lists, entries, names and scalars, so that what is of the wrong type becomes a finding.

use super::sink::Sink;
use crate::catalog::keys::{SectionKey, Type};
use crate::catalog::{INVALID_DURATION, INVALID_NAME, WRONG_TYPE};
use crate::finding::{Finding, Span, Spanned};
use crate::model::parse_duration;
use crate::names::{NotAName, capitalized};
use crate::spec::{Entry, Node, NodeKind};
use crate::text::shown;
use std::time::Duration;

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
            let finding =
                Finding::new(&INVALID_NAME, span, message).help(format!("expected {}", error.expected));
            let capitalized = capitalized(written);
            let is_name = parse(&capitalized).is_ok();
            sink.report(finding.did_you_mean(is_name.then_some(capitalized.as_str())));
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
