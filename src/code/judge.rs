//! Applies the rules to what the walk found.

mod edges;
mod fields;
mod names;
mod rights;

use super::facts::{Facts, StateOf};
use super::items::names_of;
use super::tree::{self, FileId, Tree};
use super::walk::{KindCode, walk};
use super::{Code, InFile};
use crate::finding::{Finding, Source, Span, sort};
use crate::model::{Kind, State};
use std::collections::{BTreeMap, BTreeSet};

/// Walks the code and applies all rules. Documented at [`super::findings`], the public entry point.
pub(super) fn judge(code: &Code<'_>, former: Option<&Code<'_>>) -> Vec<InFile> {
    let files = tree::parse(code);
    let gone = former.map(|former| gone(former, code)).unwrap_or_default();
    let tree = code.tree(&files, gone);
    let kinds = code.kind_codes();
    let former_files = former.map(generated_files).unwrap_or_default();
    let former_asts = former_files.iter().filter_map(|file| file.ast.as_ref());
    let former_names = former_asts.flat_map(|ast| names_of(ast.items.iter()).defs.into_keys());
    let judge = CodeCheck {
        code,
        facts: walk(&tree, &kinds),
        tree: &tree,
        kinds: &kinds,
        former: former_names.collect(),
    };
    let found = [
        judge.exits(),
        judge.handlers(),
        judge.twins(),
        judge.impls(),
        judge.accesses(),
        judge.names(),
        judge.fields(),
        judge.modules(),
        judge.operators(),
    ];
    judge.in_files(found.into_iter().flatten())
}

/// Top-level modules that krator generated for `former` and no longer generates.
fn gone(former: &Code<'_>, now: &Code<'_>) -> BTreeSet<String> {
    let modules = |code: &Code<'_>| -> BTreeSet<String> {
        let paths = code.generated().filter_map(|(path, _)| tree::module_path(path));
        paths.filter(|path| path.len() == 1).flatten().collect()
    };
    &modules(former) - &modules(now)
}

/// Parses only the generated files of a former crate, because the files of users are the same in both.
fn generated_files<'a>(former: &Code<'a>) -> Vec<tree::SourceFile<'a>> {
    static NOTHING: BTreeMap<String, String> = BTreeMap::new();
    tree::parse(&Code {
        written: &NOTHING,
        ..*former
    })
}

struct CodeCheck<'s, 'a> {
    code: &'s Code<'a>,
    facts: Facts<'a>,
    tree: &'s Tree<'a>,
    kinds: &'s [KindCode],
    /// The names that the generated modules of the former crate declare.
    former: BTreeSet<String>,
}

/// A finding and the file that it is in; `None` stands for the description.
type Located = (Option<FileId>, Finding);

impl<'a> CodeCheck<'_, 'a> {
    fn kind(&self, of: StateOf) -> &'a Kind {
        self.code.description.kind(of.0)
    }

    fn state(&self, of: StateOf) -> &'a State {
        self.kind(of).state(of.1)
    }

    fn name(&self, of: StateOf) -> &'a str {
        self.state(of).name.as_str()
    }

    /// A location in the description for messages, such as `krator.yaml:36`.
    fn line(&self, span: Span) -> String {
        let source = self.code.source;
        format!("{}:{}", source.name(), source.position(span.start).line)
    }

    fn in_files(&self, found: impl Iterator<Item = Located>) -> Vec<InFile> {
        let mut by_file: BTreeMap<Option<&str>, (Source, Vec<Finding>)> = BTreeMap::new();
        for (file, finding) in found {
            let file = file.map(|file| &self.tree.files[file]);
            let source = || match file {
                Some(file) => Source::new(file.path, file.text),
                None => self.code.source.clone(),
            };
            let (_, findings) = by_file
                .entry(file.map(|file| file.path))
                .or_insert_with(|| (source(), Vec::new()));
            findings.push(finding);
        }
        let files = by_file.into_values().map(|(source, mut findings)| {
            sort(&mut findings);
            InFile { source, findings }
        });
        files.collect()
    }
}
