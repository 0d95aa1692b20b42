//! The symbols of a description, for an outline view and for jumping to a name.

use super::at;
use crate::finding::Span;
use crate::tolerant_tree::TolerantTree;

/// A named part of a description, with the parts inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: SymbolKind,
    /// The span of the whole symbol.
    pub span: Span,
    /// The span of its name.
    pub name_span: Span,
    /// The symbols inside it.
    pub inside: Vec<Symbol>,
}

/// The kind of a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolKind {
    /// A document, which describes a kind.
    Document,
    /// A key of the top level.
    Key,
    /// A state.
    State,
    /// A field of `spec` or `status`.
    Field,
    /// A type of `types`.
    Type,
}

/// The symbols of a text, in its order.
pub fn symbols(text: &str) -> Vec<Symbol> {
    let tree = TolerantTree::of(text);
    let documents: Vec<usize> = tree
        .documents()
        .filter(|document| tree.entries(*document).next().is_some())
        .collect();
    documents
        .iter()
        .map(|document| symbol_of(&tree, text, *document))
        .collect()
}

fn symbol_of(tree: &TolerantTree, text: &str, document: usize) -> Symbol {
    let kind = tree
        .entry(document, "resource")
        .and_then(|resource| tree.entry(resource, "kind"));
    let named = kind.and_then(|kind| tree.parts[kind].value);
    let whole = &tree.parts[document];
    let span = Span::new(whole.name.start, whole.end);
    Symbol {
        name: named.map_or("description", |name| at(text, name)).to_owned(),
        kind: SymbolKind::Document,
        span,
        name_span: named.unwrap_or(whole.name),
        inside: inside(tree, document, SymbolKind::Key),
    }
}

fn inside(tree: &TolerantTree, within: usize, kind: SymbolKind) -> Vec<Symbol> {
    let entries = tree.entries(within);
    let symbols = entries.map(|(part, name)| {
        let below = match (kind, name) {
            (SymbolKind::Key, "states") => Some(SymbolKind::State),
            (SymbolKind::Key, "spec" | "status") => Some(SymbolKind::Field),
            (SymbolKind::Key, "types") => Some(SymbolKind::Type),
            _ => None,
        };
        let span = Span::new(tree.parts[part].name.start, tree.parts[part].end);
        Symbol {
            name: name.to_owned(),
            kind,
            span,
            name_span: tree.parts[part].name,
            inside: below.map(|kind| inside(tree, part, kind)).unwrap_or_default(),
        }
    });
    // Editors reject symbols without a name.
    symbols.filter(|symbol| !symbol.name.is_empty()).collect()
}
