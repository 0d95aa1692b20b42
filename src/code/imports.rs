//! Imports of renamed names, in the order of rustfmt, so that a formatted crate stays formatted.

use super::tree::SourceFile;
use crate::finding::Span;
use crate::names::with_wide_numbers;
use proc_macro2::Ident;
use quote::ToTokens as _;
use std::collections::BTreeMap;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Item, ItemUse, UseGroup, UseTree};

/// Replacements, by the span of the former text that they replace.
pub(super) type Edits = BTreeMap<Span, String>;

/// Adds the edits that sort the lists of imports in which names change. Only names are moved. A list that was not
/// sorted keeps the order of its author.
pub(super) fn sort(file: &SourceFile<'_>, edits: &mut Edits) {
    let Some(ast) = &file.ast else { return };
    let mut lists = Lists(Vec::new());
    lists.visit_file(ast);
    lists.runs(&ast.items);
    for list in lists.0 {
        let was: Vec<String> = list.iter().map(|name| name.to_string()).collect();
        let spans: Vec<_> = list.iter().map(|name| file.span(name.span())).collect();
        let mut now: Vec<String> = was.clone();
        for (name, span) in now.iter_mut().zip(&spans) {
            if let Some(edited) = edits.get(span) {
                name.clone_from(edited);
            }
        }
        let key = |name: &String| with_wide_numbers(name.strip_prefix("r#").unwrap_or(name));
        if now == was || !was.is_sorted_by_key(key) {
            continue;
        }
        now.sort_by_key(key);
        for ((was, now), span) in was.into_iter().zip(now).zip(spans) {
            match was == now {
                true => drop(edits.remove(&span)),
                false => drop(edits.insert(span, now)),
            }
        }
    }
}

/// Lists of names that are imported from the same place.
struct Lists<'a>(Vec<Vec<&'a Ident>>);

impl<'a> Visit<'a> for Lists<'a> {
    fn visit_use_group(&mut self, group: &'a UseGroup) {
        let names = group.items.iter().map(|tree| match tree {
            UseTree::Name(name) if name.ident != "self" => Some(&name.ident),
            _ => None,
        });
        self.0.extend(names.collect::<Option<Vec<_>>>());
        visit::visit_use_group(self, group);
    }

    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        if let Some((_, items)) = &module.content {
            self.runs(items);
        }
        visit::visit_item_mod(self, module);
    }
}

impl<'a> Lists<'a> {
    /// Adds the names of imports in adjacent lines that differ only in the name.
    fn runs(&mut self, items: &'a [Item]) {
        let mut run: Vec<&Ident> = Vec::new();
        let mut last: Option<(String, usize)> = None;
        for item in items {
            let import = match item {
                Item::Use(import) => one_name(import),
                _ => None,
            };
            let (start, end) = (item.span().start().line, item.span().end().line);
            let follows = |(place, line): &(String, usize)| {
                *line + 1 == start && import.as_ref().is_some_and(|(is_at, _)| is_at == place)
            };
            if !last.as_ref().is_some_and(follows) {
                self.0.push(std::mem::take(&mut run));
            }
            run.extend(import.as_ref().map(|(_, name)| *name));
            last = import.map(|(place, _)| (place, end));
        }
        self.0.push(run);
    }
}

/// The path of an import of one name, with its attributes and its visibility, and the name.
fn one_name(import: &ItemUse) -> Option<(String, &Ident)> {
    let mut place: String = import
        .attrs
        .iter()
        .map(|attribute| attribute.to_token_stream().to_string())
        .collect();
    place += &import.vis.to_token_stream().to_string();
    let mut tree = &import.tree;
    while let UseTree::Path(path) = tree {
        place += &format!(" {}", path.ident);
        tree = &path.tree;
    }
    match tree {
        UseTree::Name(name) => Some((place, &name.ident)),
        _ => None,
    }
}
