//! States by their names: where they are defined, and where they are named.

use super::at;
use super::types::{key_at, types_at};
use crate::catalog::keys::{NameOf, PropertyKey, SectionKey as _, Type};
use crate::finding::Span;
use crate::outline::{Outline, Step};

/// A state whose name is at some place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateAt {
    /// Its name.
    pub name: String,
    /// The place of the requested name.
    pub span: Span,
    /// The place of its definition; none while no state has the name.
    pub defined: Option<Span>,
    /// The kind of its document, if it is written.
    pub kind: Option<String>,
}

/// The state whose name is at an offset.
pub fn state_at(text: &str, offset: usize) -> Option<StateAt> {
    let outline = Outline::of(text);
    let (part, _) = outline.at(offset)?;
    let (name, span) = names(&outline, text, part)
        .into_iter()
        .find(|(_, span)| (span.start..=span.end).contains(&offset))?;
    let document = outline.document(part);
    let kind = outline
        .entry(document, "resource")
        .and_then(|resource| super::value_of(&outline, text, resource, "kind"));
    let defined = state(&outline, document, name).map(|part| outline.parts[part].name);
    Some(StateAt {
        name: name.to_owned(),
        span,
        defined,
        kind: kind.map(str::to_owned),
    })
}

/// The part that defines a state.
pub(super) fn state(outline: &Outline, document: usize, name: &str) -> Option<usize> {
    outline.entry(outline.entry(document, "states")?, name)
}

/// The names of a document's states.
pub(super) fn all(outline: &Outline, document: usize) -> Vec<&str> {
    let states = outline.entry(document, "states");
    let entries = states.into_iter().flat_map(|states| outline.entries(states));
    entries.map(|(_, name)| name).collect()
}

/// Every place in a document where a state is named, in the order of the text.
pub(super) fn mentions(outline: &Outline, text: &str, document: usize, name: &str) -> Vec<Span> {
    let parts = outline.all().filter(|part| outline.document(*part) == document);
    parts
        .flat_map(|part| names(outline, text, part))
        .filter_map(|(named, span)| (named == name).then_some(span))
        .collect()
}

/// The states that a part names, by its key or by its value.
fn names<'t>(outline: &Outline, text: &'t str, part: usize) -> Vec<(&'t str, Span)> {
    let path = outline.path(part);
    let mut found = Vec::new();
    if let Some((Step::Key(_), above)) = path.split_last()
        && types_at(above).iter().any(|of| {
            matches!(
                of,
                Type::Map {
                    by: NameOf::State,
                    ..
                }
            )
        })
    {
        let span = outline.parts[part].name;
        found.push((at(text, span), span));
    }
    let Some(value) = outline.parts[part].value else {
        return found;
    };
    let written = at(text, value);
    let types = types_at(&path);
    let is_word = |of: &&&Type| matches!(of, Type::Word(words) if words.contains(&written));
    if types.iter().any(|of| matches!(of, Type::State)) && types.iter().find(is_word).is_none() {
        found.push((written, value));
    }
    let is_arrow = key_at(&path).is_some_and(|key| std::ptr::eq(key, PropertyKey::Never.key()));
    if is_arrow && let Some(arrow) = written.find("->") {
        found.push(trimmed(written, value, 0, arrow));
        found.push(trimmed(written, value, arrow + 2, written.len()));
    }
    found
}

/// A piece of a value without the spaces around it.
fn trimmed(written: &str, value: Span, from: usize, to: usize) -> (&str, Span) {
    let piece = &written[from..to];
    let start = value.start + from + piece.len() - piece.trim_start().len();
    let piece = piece.trim();
    let end = start + piece.len();
    (piece, Span::new(start, end))
}
