//! Sorts imports after a rename. rustfmt orders imports by name, so lists that were sorted before are sorted again and
//! `cargo fmt --check` still passes. Lists that were not sorted keep their order.

use std::cmp::Ordering;

use syn::spanned::Spanned as _;
use syn::visit::Visit;
use syn::{ItemUse, UseTree, ext::IdentExt as _};

use super::rename::{Edits, edited_part};
use super::tree::SourceFile;
use crate::finding::Span;
use crate::render::rust::handlers::{import_by, version_order};
use crate::text::with_line_ends_of;

/// Adds the edits that sort the imports of a file by their new names.
pub(super) fn sort(file: &SourceFile<'_>, edits: &mut Edits) {
    let Some(ast) = &file.ast else { return };
    let mut uses = Uses(Vec::new());
    uses.visit_file(ast);
    let names = edits.clone();
    for item in &uses.0 {
        let mut sorter = Sorter {
            file,
            names: &names,
            edits,
        };
        sorter.groups(&item.tree);
        sorter.wrap(item);
    }
    let mut run: Vec<&ItemUse> = Vec::new();
    for (at, item) in uses.0.iter().enumerate() {
        run.push(item);
        let is_last = uses
            .0
            .get(at + 1)
            .is_none_or(|next| !is_adjacent(file, item, next));
        if is_last {
            let members = run.drain(..).map(|item| (file.span(item.span()), &item.tree));
            Sorter {
                file,
                names: &names,
                edits,
            }
            .order(&members.collect::<Vec<_>>());
        }
    }
}

struct Uses<'a>(Vec<&'a ItemUse>);

impl<'a> Visit<'a> for Uses<'a> {
    fn visit_item_use(&mut self, item: &'a ItemUse) {
        self.0.push(item);
    }
}

/// Whether two imports are on consecutive lines. rustfmt does not move imports past a blank line or a comment.
fn is_adjacent(file: &SourceFile<'_>, one: &ItemUse, next: &ItemUse) -> bool {
    let (end, start) = (file.span(one.span()).end, file.span(next.span()).start);
    let between = file.text.get(end..start).unwrap_or("-");
    between.trim().is_empty() && between.matches('\n').count() == 1
}

struct Sorter<'a> {
    file: &'a SourceFile<'a>,
    /// The new names, by the spans of the former ones.
    names: &'a Edits,
    edits: &'a mut Edits,
}

impl Sorter<'_> {
    fn groups(&mut self, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => self.groups(&path.tree),
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.groups(tree));
                let items = group.items.iter().map(|tree| (self.file.span(tree.span()), tree));
                self.order(&items.collect::<Vec<_>>());
            }
            _ => {}
        }
    }

    /// Swaps the texts of members whose order has changed, if they were sorted before.
    fn order(&mut self, members: &[(Span, &UseTree)]) {
        let before: Vec<Vec<ImportSegment>> = members
            .iter()
            .map(|(_, tree)| self.segments(tree, false))
            .collect();
        let now: Vec<Vec<ImportSegment>> = members
            .iter()
            .map(|(_, tree)| self.segments(tree, true))
            .collect();
        if !before.is_sorted() || now.is_sorted() {
            return;
        }
        let mut order: Vec<usize> = (0..members.len()).collect();
        order.sort_by_key(|at| &now[*at]);
        let texts: Vec<String> = members
            .iter()
            .map(|(span, _)| edited_part(self.file.text, *span, self.edits))
            .collect();
        for ((span, _), from) in members.iter().zip(order) {
            self.replace(*span, texts[from].clone());
        }
    }

    /// Wraps the lines of an import again, if it was wrapped as rustfmt wraps a list of plain names.
    fn wrap(&mut self, item: &ItemUse) {
        let span = self.file.span(item.span());
        let keyword = match &item.vis {
            syn::Visibility::Inherited => "use",
            syn::Visibility::Public(_) => "pub use",
            syn::Visibility::Restricted(_) => return,
        };
        let mut tree = &item.tree;
        while let UseTree::Path(path) = tree {
            tree = &path.tree;
        }
        let UseTree::Group(group) = tree else { return };
        let is_plain = |tree: &UseTree| matches!(tree, UseTree::Name(name) if name.ident != "self");
        if !group.items.iter().all(is_plain) || !item.attrs.is_empty() {
            return;
        }
        let written = |span: Span, edits: &Edits| edited_part(self.file.text, span, edits);
        let wrapped = |edits: &Edits| {
            let path = Span {
                start: self.file.span(item.tree.span()).start,
                end: self.file.span(group.span()).start,
            };
            let path = written(path, edits);
            let names: Vec<String> = group
                .items
                .iter()
                .map(|tree| written(self.file.span(tree.span()), edits))
                .collect();
            let text = import_by(
                keyword,
                path.trim_end_matches("::"),
                &mut names.iter().map(String::as_str).collect(),
            );
            with_line_ends_of(self.file.text, text.trim_end())
        };
        let was_wrapped = wrapped(&Edits::new()) == written(span, &Edits::new());
        if was_wrapped && wrapped(self.edits) != written(span, self.edits) {
            let text = wrapped(self.edits);
            self.replace(span, text);
        }
    }

    fn replace(&mut self, span: Span, text: String) {
        self.edits
            .retain(|edit, _| edit.end <= span.start || edit.start >= span.end);
        self.edits.insert(span, text);
    }

    /// The key that rustfmt sorts by, with the former names or the new ones.
    fn segments(&self, tree: &UseTree, is_renamed: bool) -> Vec<ImportSegment> {
        let name = |ident: &syn::Ident| {
            let renamed = self.names.get(&self.file.span(ident.span()));
            match renamed.filter(|_| is_renamed) {
                Some(name) => ImportSegment::of(name.trim_start_matches("r#")),
                None => ImportSegment::of(&ident.unraw().to_string()),
            }
        };
        match tree {
            UseTree::Path(path) => {
                let mut segments = vec![name(&path.ident)];
                segments.extend(self.segments(&path.tree, is_renamed));
                segments
            }
            UseTree::Name(one) => vec![name(&one.ident)],
            UseTree::Rename(rename) => vec![name(&rename.ident)],
            UseTree::Glob(_) => vec![ImportSegment::Glob],
            UseTree::Group(group) => {
                let items = group.items.iter().map(|tree| self.segments(tree, is_renamed));
                vec![ImportSegment::Group(items.collect())]
            }
        }
    }
}

/// A segment of an imported path, in rustfmt's order.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum ImportSegment {
    Itself,
    Super,
    Crate,
    Name(SortedName),
    Glob,
    Group(Vec<Vec<ImportSegment>>),
}

impl ImportSegment {
    fn of(name: &str) -> Self {
        match name {
            "self" => ImportSegment::Itself,
            "super" => ImportSegment::Super,
            "crate" => ImportSegment::Crate,
            name => ImportSegment::Name(SortedName(name.to_owned())),
        }
    }
}

/// An identifier in rustfmt's version order, in which `a2` comes before `a10`.
#[derive(PartialEq, Eq)]
struct SortedName(String);

impl Ord for SortedName {
    fn cmp(&self, other: &Self) -> Ordering {
        version_order(&self.0, &other.0)
    }
}

impl PartialOrd for SortedName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
