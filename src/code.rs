//! Parses the Rust code that users wrote and compares it with the description. `krator check` and `krator gen` use it
//! to report mismatches that the compiler does not report, and to apply the renames of the description to user code.
//!
//! Like the plan, this module is pure: it takes texts and returns findings and texts. The generated code of the crate is
//! parsed too, so that paths resolve as in rustc. Whatever only the compiler can decide, such as macros defined in the crate
//! or types behind traits, is not reported: an error is always certain, and anything less is a warning.

mod facts;
mod imports;
mod items;
mod judge;
mod macros;
mod rename;
mod renames;
mod resolve;
#[cfg(test)]
mod tests;
mod tree;
mod walk;

pub(crate) use rename::mentioned;
pub use rename::{Renamed, rename};
pub use renames::Renames;

use crate::changes::{FileState, Snapshot, Unreadable, UnreadableFiles};
use crate::finding::{Finding, Source};
use crate::model::{Description, Kind, KindId, StateId};
use crate::plan::{Ownership, Plan};
use std::collections::{BTreeMap, BTreeSet};
use walk::KindCode;

/// The Rust code of a crate, and the description and plan that it is compared with.
#[derive(Debug, Clone, Copy)]
pub struct Code<'a> {
    description: &'a Description,
    source: &'a Source,
    plan: &'a Plan,
    written: &'a BTreeMap<String, String>,
}

/// The findings of one file.
#[derive(Debug, Clone)]
pub struct InFile {
    /// The file, named by its path in the crate.
    pub source: Source,
    /// The findings, in the order of their locations.
    pub findings: Vec<Finding>,
}

impl<'a> Code<'a> {
    /// The code of a crate. `source` is the text of `description`, and `plan` is rendered from it. `written` contains all
    /// `.rs` files on disk that are not generated, by their paths in the crate, separated by `/`. It may contain files
    /// that no `mod` declares.
    pub fn new(
        description: &'a Description,
        source: &'a Source,
        plan: &'a Plan,
        written: &'a BTreeMap<String, String>,
    ) -> Self {
        Code {
            description,
            source,
            plan,
            written,
        }
    }

    /// The generated Rust files.
    fn generated(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.plan
            .files()
            .filter(|(path, file)| {
                path.starts_with("src/") && path.ends_with(".rs") && file.ownership == Ownership::Generated
            })
            .map(|(path, file)| (path, file.contents.as_str()))
    }

    /// The module tree of the crate.
    fn tree(&self, files: &'a [tree::SourceFile<'a>]) -> tree::Tree<'a> {
        let resources: Vec<_> = self
            .kinds()
            .map(|kind| (types_of(kind), kind_name(kind)))
            .collect();
        tree::Tree::new(files, self.description.operator.value.crate_ident(), &resources)
    }

    /// The names of each kind that the walk looks for.
    fn kind_codes(&self) -> Vec<KindCode> {
        self.kinds()
            .enumerate()
            .map(|(id, kind)| {
                let states = kind.states.iter().enumerate();
                KindCode {
                    name: kind_name(kind),
                    module: kind.resource.rust_name.value.module(),
                    states: states
                        .map(|(state, s)| (s.name.value.as_str().to_owned(), (KindId(id), StateId(state))))
                        .collect(),
                }
            })
            .collect()
    }

    fn kinds(&self) -> impl Iterator<Item = &'a Kind> {
        self.description.kinds.iter()
    }
}

fn kind_name(kind: &Kind) -> String {
    kind.resource.rust_name.value.as_str().to_owned()
}

/// The path of the module that declares a kind's types.
fn types_of(kind: &Kind) -> Vec<String> {
    vec![
        kind.resource.rust_name.value.module(),
        "generated".to_owned(),
        "types".to_owned(),
    ]
}

/// Compares the code of users with the description. The result is sorted by path.
pub fn findings(code: &Code<'_>) -> Vec<InFile> {
    judge::judge(code)
}

/// The state whose handler a file contains, as far as its text shows that.
pub(crate) fn handled(text: &str) -> Option<String> {
    let file = syn::parse_file(text).ok()?;
    file.items.iter().find_map(|item| {
        let syn::Item::Impl(item) = item else { return None };
        let (path, _) = item.trait_.as_ref()?;
        let is_state = path.segments.last().is_some_and(|last| last.ident == "State");
        match &*item.self_ty {
            syn::Type::Path(of) if is_state => of.path.segments.last().map(|last| last.ident.to_string()),
            _ => None,
        }
    })
}

/// The files of the handlers that are not written, sorted.
pub fn not_written(code: &Code<'_>) -> BTreeSet<String> {
    let files = tree::parse(code);
    let tree = code.tree(&files);
    let facts = walk::walk(&tree, &code.kind_codes());
    let handlers = facts
        .handlers
        .iter()
        .filter(|(state, _)| facts.not_written.contains(state));
    handlers.map(|(_, at)| files[at.file].path.to_owned()).collect()
}

/// Selects the Rust files that users wrote from all files of a crate.
pub(crate) fn written(files: &Snapshot, is_generated: impl Fn(&str) -> bool) -> Written {
    let is_code =
        |path: &str| path.ends_with(".rs") && !path.starts_with(".krator/") && !path.starts_with("vendor/");
    let mut written = Written::default();
    for (path, file) in files
        .iter()
        .filter(|(path, _)| is_code(path) && !is_generated(path))
    {
        match file {
            FileState::Absent => {}
            FileState::Text(text) => drop(written.texts.insert(path.to_owned(), text.to_owned())),
            FileState::Unreadable(why) => drop(written.unreadable.insert(path.to_owned(), why.clone())),
        }
    }
    written
}

/// The Rust files that users wrote.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// Their texts, by their paths in the crate.
    pub texts: BTreeMap<String, String>,
    /// The files that cannot be read.
    pub unreadable: BTreeMap<String, Unreadable>,
}

impl Written {
    /// The unreadable files that the crate compiles. `compiled` determines the compiled files from those that users
    /// wrote.
    pub fn unread(
        &self,
        compiled: impl FnOnce(&BTreeMap<String, String>) -> BTreeSet<String>,
    ) -> UnreadableFiles {
        let mut unread = UnreadableFiles::default();
        if self.unreadable.is_empty() {
            return unread;
        }
        let mut texts = self.texts.clone();
        texts.extend(self.unreadable.keys().map(|path| (path.clone(), String::new())));
        let compiled = compiled(&texts);
        for (path, why) in self
            .unreadable
            .iter()
            .filter(|(path, _)| compiled.contains(*path))
        {
            unread.add(path, why);
        }
        unread
    }
}

/// The paths of the files that the crate compiles.
pub(crate) fn compiled(code: &Code<'_>) -> BTreeSet<String> {
    let files = tree::parse(code);
    let tree = code.tree(&files);
    let reached = tree
        .modules
        .iter()
        .map(|module| files[module.file].path.to_owned());
    reached.collect()
}
