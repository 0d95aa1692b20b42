//! The symbols of a description, for an outline view and for jumping to a name.

use super::at;
use crate::finding::Span;
use crate::outline::Outline;

/// Something with a name, and what is inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: SymbolKind,
    /// All of it.
    pub span: Span,
    /// Its name in the text.
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
    let outline = Outline::of(text);
    let documents: Vec<usize> = outline
        .documents()
        .filter(|document| outline.entries(*document).next().is_some())
        .collect();
    documents
        .iter()
        .map(|document| symbol_of(&outline, text, *document))
        .collect()
}

fn symbol_of(outline: &Outline, text: &str, document: usize) -> Symbol {
    let kind = outline
        .entry(document, "resource")
        .and_then(|resource| outline.entry(resource, "kind"));
    let named = kind.and_then(|kind| outline.parts[kind].value);
    let whole = &outline.parts[document];
    let span = Span::new(whole.name.start, whole.end);
    Symbol {
        name: named.map_or("description", |name| at(text, name)).to_owned(),
        kind: SymbolKind::Document,
        span,
        name_span: named.unwrap_or(whole.name),
        inside: inside(outline, document, SymbolKind::Key),
    }
}

fn inside(outline: &Outline, within: usize, kind: SymbolKind) -> Vec<Symbol> {
    let entries = outline.entries(within);
    let symbols = entries.map(|(part, name)| {
        let below = match (kind, name) {
            (SymbolKind::Key, "states") => Some(SymbolKind::State),
            (SymbolKind::Key, "spec" | "status") => Some(SymbolKind::Field),
            (SymbolKind::Key, "types") => Some(SymbolKind::Type),
            _ => None,
        };
        let span = Span::new(outline.parts[part].name.start, outline.parts[part].end);
        Symbol {
            name: name.to_owned(),
            kind,
            span,
            name_span: outline.parts[part].name,
            inside: below.map(|kind| inside(outline, part, kind)).unwrap_or_default(),
        }
    });
    // An editor shows no symbol without a name.
    symbols.filter(|symbol| !symbol.name.is_empty()).collect()
}
