//! Answers to an editor's requests about a description: completion, hover, definitions, symbols and renames.
//!
//! All of it works on the tolerant tree of the text, which exists even while the text is not valid YAML. Offsets are in
//! bytes; the language server converts them.

mod completion;
mod fields;
mod hover;
mod rename;
mod states;
mod symbols;
mod types;

pub use completion::{Completion, CompletionKind, complete};
pub use hover::{Hover, hover};
pub use rename::{NotRenamed, Rename, rename};
pub use states::{StateAt, state_at};
pub use symbols::{Symbol, SymbolKind, symbols};

use crate::finding::Span;
use crate::tolerant_tree::TolerantTree;

/// The text of a part's value, if it is a scalar.
fn value<'t>(tree: &TolerantTree, text: &'t str, part: usize) -> Option<&'t str> {
    tree.parts[part].value.map(|span| at(text, span))
}

/// The scalar under a key.
fn value_of<'t>(tree: &TolerantTree, text: &'t str, within: usize, key: &str) -> Option<&'t str> {
    value(tree, text, tree.entry(within, key)?)
}

fn at(text: &str, span: Span) -> &str {
    text.get(span.start..span.end).unwrap_or_default()
}

/// The kind of a document, as `group/version.Kind`.
fn kind_of(tree: &TolerantTree, text: &str, document: usize) -> Option<String> {
    let resource = tree.entry(document, "resource")?;
    let part = |key| value_of(tree, text, resource, key);
    Some(format!(
        "{}/{}.{}",
        part("group")?,
        part("version")?,
        part("kind")?
    ))
}
