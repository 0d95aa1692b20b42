//! What people wrote, read with syn and held against the description: drift that `krator check` and `krator gen` name
//! before the compiler does, and names that change with the description.
//!
//! Pure, like the plan: texts in, findings and texts out. The generated part of the crate is read along with the
//! written one, so that a path is followed as rustc follows it. What cannot be decided without the compiler (macros of
//! the crate's own, types behind traits) is not reported: a finding here is certain, or says that it is a warning.

mod access;
mod declared;
mod facts;
mod imports;
mod items;
mod judge;
mod macros;
mod rename;
mod resolve;
#[cfg(test)]
mod tests;
mod tree;
mod walk;

pub use rename::{Renamed, Renames, rename};

use crate::finding::{Finding, Source};
use crate::model::{Description, Kind, KindId, StateId};
use crate::plan::{Ownership, Plan};
use std::collections::{BTreeMap, BTreeSet};
use walk::KindCode;

/// A crate's Rust as it is to be read.
#[derive(Debug, Clone, Copy)]
pub struct Code<'a> {
    description: &'a Description,
    source: &'a Source,
    plan: &'a Plan,
    written: &'a BTreeMap<String, String>,
}

/// The findings of one file, in the order of its text.
#[derive(Debug, Clone)]
pub struct InFile {
    /// The file under its path in the crate, or the description.
    pub source: Source,
    /// In the order of the text.
    pub findings: Vec<Finding>,
}

impl<'a> Code<'a> {
    /// A crate: the generated files of `plan`, which is that of `description` (`source` its text), and `written`: all
    /// other `.rs` files that are on disk, by their paths in the crate with `/` between the parts. Files that no `mod`
    /// reaches may be among them.
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

    /// The files that are krator's.
    fn generated(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.plan
            .files()
            .filter(|(path, file)| {
                path.starts_with("src/") && path.ends_with(".rs") && file.ownership == Ownership::Generated
            })
            .map(|(path, file)| (path, file.contents.as_str()))
    }

    /// The modules of the crate, in these files; `gone` are those right below the root that were krator's.
    fn tree(&self, files: &'a [tree::File<'a>], gone: BTreeSet<String>) -> tree::Tree<'a> {
        let resources: Vec<_> = self
            .kinds()
            .map(|kind| (types_of(kind), kind_name(kind)))
            .collect();
        tree::Tree::new(
            files,
            self.description.operator.value.crate_ident(),
            &resources,
            gone,
        )
    }

    /// What the walk has to know of the kinds.
    fn kind_codes(&self) -> Vec<KindCode> {
        self.kinds()
            .enumerate()
            .map(|(id, kind)| {
                let states = kind.states.iter().enumerate();
                KindCode {
                    name: kind_name(kind),
                    module: kind.resource.kind.value.module(),
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
    kind.resource.kind.value.as_str().to_owned()
}

/// The module that has a kind's types.
fn types_of(kind: &Kind) -> Vec<String> {
    vec![
        kind.resource.kind.value.module(),
        "generated".to_owned(),
        "types".to_owned(),
    ]
}

/// What written code and description have to say of each other. `former` is the crate as last generated, with the same
/// `written`, where the description has changed since: it tells what is gone from what never was, and fields that
/// have another type now. Files in the order of their paths.
pub fn findings(code: &Code<'_>, former: Option<&Code<'_>>) -> Vec<InFile> {
    judge::judge(code, former)
}

/// The files that users wrote, as `krator gen` would rename them: `former` is the crate as last generated, `now` the
/// current description.
pub(crate) fn renamed(former: &Code<'_>, now: &Description) -> BTreeMap<String, String> {
    let mut files = former.written.clone();
    let renamed = rename(former, &Renames::between(former.description, now)).files;
    for path in renamed.keys() {
        files.remove(path);
    }
    files.extend(renamed.into_values());
    files
}

/// The Rust files that users wrote, among all files of a crate.
pub(crate) fn written<'a>(
    files: impl Iterator<Item = (&'a str, &'a [u8])>,
    is_generated: impl Fn(&str) -> bool,
) -> BTreeMap<String, String> {
    let is_code =
        |path: &str| path.ends_with(".rs") && !path.starts_with(".krator/") && !path.starts_with("vendor/");
    let written = files.filter(|(path, _)| is_code(path) && !is_generated(path));
    let texts = written.filter_map(|(path, contents)| {
        let text = std::str::from_utf8(contents).ok()?;
        Some((path.to_owned(), text.to_owned()))
    });
    texts.collect()
}
