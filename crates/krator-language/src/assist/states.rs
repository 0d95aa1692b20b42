//! States by their names: their definitions, and the places that refer to them.

use super::at;
use super::types::{key_at, types_at};
use crate::catalog::keys::{NameOf, PropertyKey, SectionKey as _, Type};
use crate::finding::Span;
use crate::tolerant_tree::{Step, TolerantTree};

/// A state whose name is at a place in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateAt {
    /// Its name.
    pub name: String,
    /// The place of the requested name.
    pub span: Span,
    /// The place of its definition; `None` if no state has the name.
    pub defined: Option<Span>,
    /// The kind of its document, if it is written.
    pub kind: Option<String>,
}

/// The state whose name is at an offset.
pub fn state_at(text: &str, offset: usize) -> Option<StateAt> {
    let tree = TolerantTree::of(text);
    let (part, _) = tree.at(offset)?;
    let (name, span) = names(&tree, text, part)
        .into_iter()
        .find(|(_, span)| (span.start..=span.end).contains(&offset))?;
    let document = tree.document(part);
    let kind = tree
        .entry(document, "resource")
        .and_then(|resource| super::value_of(&tree, text, resource, "kind"));
    let defined = state(&tree, document, name).map(|part| tree.parts[part].name);
    Some(StateAt {
        name: name.to_owned(),
        span,
        defined,
        kind: kind.map(str::to_owned),
    })
}

/// The part that defines a state.
pub(super) fn state(tree: &TolerantTree, document: usize, name: &str) -> Option<usize> {
    tree.entry(tree.entry(document, "states")?, name)
}

/// The names of a document's states.
pub(super) fn all(tree: &TolerantTree, document: usize) -> Vec<&str> {
    let states = tree.entry(document, "states");
    let entries = states.into_iter().flat_map(|states| tree.entries(states));
    entries.map(|(_, name)| name).collect()
}

/// All places in a document that name a state, in the order of the text.
pub(super) fn mentions(tree: &TolerantTree, text: &str, document: usize, name: &str) -> Vec<Span> {
    let parts = tree.all().filter(|part| tree.document(*part) == document);
    parts
        .flat_map(|part| names(tree, text, part))
        .filter_map(|(named, span)| (named == name).then_some(span))
        .collect()
}

/// The states that a part names, by its key or by its value.
fn names<'t>(tree: &TolerantTree, text: &'t str, part: usize) -> Vec<(&'t str, Span)> {
    let path = tree.path(part);
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
        let span = tree.parts[part].name;
        found.push((at(text, span), span));
    }
    let Some(value) = tree.parts[part].value else {
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
