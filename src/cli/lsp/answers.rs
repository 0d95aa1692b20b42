//! Answers to requests about a position in a description.

use std::path::PathBuf;

use crate::assist::{self, CompletionKind, Symbol, SymbolKind};
use crate::finding::{Finding, Fix, Source, Span};
use crate::fixes;
use crate::names::snake;
use crate::text::shown;
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionParams, CompletionItem, CompletionItemKind, CompletionParams,
    DefinitionParams, DocumentSymbol, DocumentSymbolParams, Hover, HoverParams, Location, MarkupContent,
    MarkupKind, TextEdit,
};
use serde_json::Value;

use super::documents::{Document, Documents, diagnostic, uri_of};
use super::positions::{offset, range};
use super::result;

pub(super) fn completion(documents: &Documents, params: &CompletionParams) -> Value {
    let Some((document, offset)) = documents.place(&params.text_document_position_params) else {
        return Value::Null;
    };
    let completions = assist::complete(document.source.text(), offset)
        .into_iter()
        .enumerate();
    let items: Vec<CompletionItem> = completions
        .map(|(at, completion)| CompletionItem {
            label: completion.label,
            kind: Some(match completion.kind {
                CompletionKind::Key => CompletionItemKind::Property,
                CompletionKind::Word => CompletionItemKind::EnumMember,
                CompletionKind::State => CompletionItemKind::Class,
                CompletionKind::Type => CompletionItemKind::Struct,
                CompletionKind::Kind => CompletionItemKind::Interface,
                CompletionKind::Path => CompletionItemKind::Field,
                CompletionKind::Name => CompletionItemKind::Value,
            }),
            detail: (!completion.detail.is_empty()).then_some(completion.detail),
            documentation: (!completion.doc.is_empty()).then(|| markdown(completion.doc).into()),
            // In the order of the reference, and not alphabetically.
            sort_text: Some(format!("{at:04}")),
            text_edit: Some(
                TextEdit::new(range(&document.source, completion.span), completion.insert).into(),
            ),
            ..Default::default()
        })
        .collect();
    result(items)
}

fn markdown(value: String) -> MarkupContent {
    MarkupContent::new(MarkupKind::Markdown, value)
}

pub(super) fn hover(documents: &Documents, params: &HoverParams) -> Value {
    let hover = documents
        .place(&params.text_document_position_params)
        .and_then(|(document, offset)| {
            let hover = assist::hover(document.source.text(), offset)?;
            Some(Hover {
                contents: markdown(hover.markdown).into(),
                range: Some(range(&document.source, hover.span)),
            })
        });
    result(hover)
}

/// The state that an edge leads to, and its handler.
pub(super) fn definition(documents: &Documents, params: &DefinitionParams) -> Value {
    let found = documents
        .place(&params.text_document_position_params)
        .and_then(|(document, offset)| {
            let state = assist::state_at(document.source.text(), offset)?;
            let defined = state.defined?;
            // On the definition of the state itself, only its handler is a result.
            let is_elsewhere = defined != state.span;
            let in_text =
                is_elsewhere.then(|| Location::new(document.uri.clone(), range(&document.source, defined)));
            let handler = state.kind.and_then(|kind| handler(document, &kind, &state.name));
            Some(in_text.into_iter().chain(handler).collect::<Vec<Location>>())
        });
    result(found.filter(|found| !found.is_empty()))
}

/// The place of a state's handler in the crate of a description.
fn handler(document: &Document, kind: &str, state: &str) -> Option<Location> {
    let states = document
        .crate_folder()?
        .join("src")
        .join(snake(kind))
        .join("states");
    let paths: [PathBuf; 2] = [
        states.join(format!("{}.rs", snake(state))),
        states.join(snake(state)).join("mod.rs"),
    ];
    paths.iter().find_map(|path| {
        let text = std::fs::read_to_string(path).ok()?;
        let implemented = format!("State for {state} ");
        let start = text.find(&implemented).unwrap_or_default();
        let span = Span { start, end: start };
        Some(Location::new(uri_of(path), range(&Source::new("", text), span)))
    })
}

pub(super) fn symbols(documents: &Documents, params: &DocumentSymbolParams) -> Value {
    let document = documents.get(&params.text_document.uri);
    result(document.map(|document| {
        let symbols = assist::symbols(document.source.text()).into_iter();
        symbols
            .map(|symbol| symbol_of(&document.source, symbol))
            .collect::<Vec<_>>()
    }))
}

#[allow(deprecated, reason = "a field without a value still has to be named")]
fn symbol_of(source: &Source, symbol: Symbol) -> DocumentSymbol {
    let inside: Vec<DocumentSymbol> = symbol
        .inside
        .into_iter()
        .map(|symbol| symbol_of(source, symbol))
        .collect();
    DocumentSymbol {
        name: symbol.name,
        detail: None,
        kind: match symbol.kind {
            SymbolKind::Document => lsp_types::SymbolKind::Module,
            SymbolKind::Key => lsp_types::SymbolKind::Property,
            SymbolKind::State => lsp_types::SymbolKind::Class,
            SymbolKind::Field => lsp_types::SymbolKind::Field,
            SymbolKind::Type => lsp_types::SymbolKind::Struct,
        },
        tags: None,
        deprecated: None,
        range: range(source, symbol.span),
        selection_range: range(source, symbol.name_span),
        children: (!inside.is_empty()).then_some(inside),
    }
}

/// The fixes of findings in a range, and one action that applies all fixes that are certain.
pub(super) fn actions(documents: &Documents, params: &CodeActionParams) -> Value {
    let Some(document) = documents.get(&params.text_document.uri) else {
        return Value::Null;
    };
    let source = &document.source;
    let asked = offset(source, params.range.start)..=offset(source, params.range.end);
    let is_asked =
        |finding: &&Finding| finding.span.start <= *asked.end() && finding.span.end >= *asked.start();
    let fixes = document.findings.iter().filter(is_asked).filter_map(|finding| {
        let fix = finding.fix.as_ref()?;
        Some(CodeAction {
            title: title(source, fix),
            kind: Some(CodeActionKind::QuickFix),
            diagnostics: Some(vec![diagnostic(document, finding)]),
            is_preferred: Some(fix.is_certain),
            edit: Some(document.edit(&[(fix.span, fix.replacement.clone())])),
            ..Default::default()
        })
    });
    let mut actions: Vec<CodeAction> = fixes.collect();
    let certain = fixes::certain(&document.findings);
    if !certain.is_empty() {
        let edits: Vec<(Span, String)> = certain
            .into_iter()
            .map(|fix| (fix.span, fix.replacement.clone()))
            .collect();
        actions.push(CodeAction {
            title: "Apply all safe fixes".to_owned(),
            kind: Some(CodeActionKind::SourceFixAll),
            edit: Some(document.edit(&edits)),
            ..Default::default()
        });
    }
    result(actions)
}

fn title(source: &Source, fix: &Fix) -> String {
    let (before, after) = (source.at(fix.span), fix.replacement.trim());
    match (before.is_empty(), after.is_empty()) {
        (true, _) => format!("Add `{}`", shown(after)),
        (false, true) => format!("Remove `{}`", shown(before.trim())),
        (false, false) => format!("Replace `{}` by `{}`", shown(before), shown(after)),
    }
}
