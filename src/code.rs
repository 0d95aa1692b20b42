//! What people wrote, read with syn and held against the description: drift that `krator check` and `krator gen` name
//! before the compiler does, and names that change with the description.
//!
//! Pure, like the plan: texts in, findings and texts out. The generated part of the crate is read along with the
//! written one, so that a path is followed as rustc follows it. What cannot be decided without the compiler (macros of
//! the crate's own, types behind traits) is not reported: a finding here is certain, or says that it is a warning.

mod access;
mod facts;
mod items;
mod judge;
mod macros;
mod rename;
mod resolve;
#[cfg(test)]
mod tests;
mod tree;
mod types;
mod walk;

pub use rename::{Renamed, Renames, rename};

use crate::Checked;
use crate::finding::{Finding, Source};
use crate::model::{Description, Kind, KindId, StateId};
use crate::plan::{Ownership, Plan};
use crate::render::{self, Runtime};
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
    fn kind_codes(&self, tree: &tree::Tree<'_>) -> Vec<KindCode> {
        self.kinds()
            .enumerate()
            .map(|(id, kind)| {
                let path = types_of(kind);
                let path: Vec<&str> = path.iter().map(String::as_str).collect();
                let states = kind.states.iter().enumerate();
                KindCode {
                    name: kind_name(kind),
                    module: kind.resource.kind.value.module(),
                    types: tree.module(&path),
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

/// The findings of a crate as `krator gen` would leave it: `written` are its files as they are, which take new names
/// before they are read. `former` is the description as last generated. Nothing is said while either has errors.
pub fn of_crate(now: &Checked, former: &Checked, mut written: BTreeMap<String, String>) -> Vec<InFile> {
    let (Some(description), Some(old)) = (now.sound(), former.sound()) else {
        return Vec::new();
    };
    // Where the runtime is says nothing of code.
    let plan =
        |of: &Checked, description| render::plan(description, &of.source, &Runtime::Path(String::new()));
    let (now_plan, old_plan) = (plan(now, description), plan(former, old));
    let renames = Renames::between(old, description);
    let renamed = rename(&Code::new(old, &former.source, &old_plan, &written), &renames);
    for path in renamed.files.keys() {
        written.remove(path);
    }
    written.extend(renamed.files.into_values());
    let code = Code::new(description, &now.source, &now_plan, &written);
    let old = Code::new(old, &former.source, &old_plan, &written);
    let has_changed = former.source.text() != now.source.text();
    findings(&code, has_changed.then_some(&old))
}
