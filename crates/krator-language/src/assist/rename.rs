//! A new name for a state.

use super::states::{mentions, state};
use super::{state_at, value};
use crate::finding::Span;
use crate::names::StateName;
use crate::tolerant_tree::TolerantTree;

/// The edits of a description for a new name of a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rename {
    /// The former name.
    pub former: String,
    /// Each span with the text that replaces it, in the order of the text.
    pub edits: Vec<(Span, String)>,
}

/// The reason why a state cannot be renamed.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum NotRenamed {
    /// There is no state at the place.
    #[error("there is no state here")]
    NoState,
    /// The new name is not a valid name of a state.
    #[error("`{0}` is not the name of a state: it has to be {1}")]
    NotAName(String, &'static str),
    /// Another state has the name.
    #[error("there is a state `{0}` already")]
    Taken(String),
}

/// Renames the state at an offset, wherever its document names it. `is_stored` returns for a name whether objects may
/// be stored in a state of that name: if so, `renamedFrom` keeps the former name.
///
/// # Errors
///
/// If there is no state at the offset, or the state cannot have the name.
pub fn rename(
    text: &str,
    offset: usize,
    new: &str,
    is_stored: impl Fn(&str) -> bool,
) -> Result<Rename, NotRenamed> {
    let at_offset = state_at(text, offset).filter(|state| state.defined.is_some());
    let former = at_offset.ok_or(NotRenamed::NoState)?.name;
    if let Err(error) = StateName::parse(new) {
        return Err(NotRenamed::NotAName(new.to_owned(), error.expected));
    }
    let tree = TolerantTree::of(text);
    let (part, _) = tree.at(offset).ok_or(NotRenamed::NoState)?;
    let document = tree.document(part);
    if former != new && state(&tree, document, new).is_some() {
        return Err(NotRenamed::Taken(new.to_owned()));
    }
    let mut edits: Vec<(Span, String)> = mentions(&tree, text, document, &former)
        .into_iter()
        .map(|span| (span, new.to_owned()))
        .collect();
    if former != new
        && let Some(defined) = state(&tree, document, &former)
    {
        edits.extend(renamed_from(
            &tree,
            text,
            defined,
            new,
            Some(&former).filter(|name| is_stored(name)),
        ));
    }
    edits.sort();
    Ok(Rename { former, edits })
}

/// The edit that adds a former name to a state, and takes the new one from its former names.
fn renamed_from(
    tree: &TolerantTree,
    text: &str,
    state: usize,
    new: &str,
    former: Option<&String>,
) -> Option<(Span, String)> {
    let Some(there) = tree.entry(state, "renamedFrom") else {
        return Some(tree.first_entry(text, state, &format!("renamedFrom: {}", former?)));
    };
    let one = value(tree, text, there).into_iter();
    let several = tree.inside(there).filter_map(|item| value(tree, text, item));
    let before: Vec<&str> = one.chain(several).collect();
    let mut names: Vec<&str> = before.iter().copied().filter(|name| *name != new).collect();
    names.extend(former.map(String::as_str));
    let part = &tree.parts[there];
    match names[..] {
        _ if names == before => None,
        [] => Some((whole_entry(tree, text, state, there), String::new())),
        _ => {
            let span = Span::new(part.name.end, part.end);
            let names = match names[..] {
                [name] => format!(": {name}"),
                _ => format!(": [{}]", names.join(", ")),
            };
            Some((span, names))
        }
    }
}

/// An entry with its separator from the next one: its lines, or its part of a mapping in braces.
fn whole_entry(tree: &TolerantTree, text: &str, state: usize, entry: usize) -> Span {
    let part = &tree.parts[entry];
    if tree.parts[state].bracket.is_some() {
        let next = tree.inside(state).find(|at| *at > entry);
        let end = next.map_or(part.end, |next| tree.parts[next].name.start);
        return Span::new(part.name.start, end);
    }
    let start = text[..part.name.start].rfind('\n').map_or(0, |end| end + 1);
    let end = text[part.end..]
        .find('\n')
        .map_or(text.len(), |at| part.end + at + 1);
    Span::new(start, end)
}
