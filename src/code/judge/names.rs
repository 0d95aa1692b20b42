//! The rules on names that no longer exist, and on modules and operators that the crate does not use.

use super::{CodeCheck, Located};
use crate::catalog::{MODULE_MISSING, NAME_GONE, OPERATOR_NOT_RUN};
use crate::code::facts::{Location, Meaning};
use crate::code::items::{Def, Names, unraw};
use crate::finding::{Finding, Span, nearest};
use std::collections::BTreeSet;

impl CodeCheck<'_, '_> {
    /// Finds names that generated code does not declare, or no longer declares.
    pub(super) fn names(&self) -> Vec<Located> {
        let now = self.tree.modules.iter().filter(|module| module.is_generated);
        let now: BTreeSet<&str> = now.flat_map(|module| declared(&module.names)).collect();
        let mut found = Vec::new();
        for name in &self.facts.names {
            let (message, near) = match &name.meaning {
                Meaning::Item(_) => continue,
                Meaning::Missing(within) => {
                    let what = self.describe(within);
                    let near = self.similar_name(within, &name.text);
                    (format!("{what} has no `{}`", name.text), near)
                }
                // Report only names that krator generated before. Names of modules are lower case and are skipped, because
                // they may well be local names of the user.
                Meaning::Unresolved
                    if name.text.starts_with(|c: char| c.is_ascii_uppercase())
                        && self.former.contains(&name.text)
                        && !now.contains(name.text.as_str()) =>
                {
                    (format!("the description has no `{}` any more", name.text), None)
                }
                Meaning::Unresolved | Meaning::Unknown => continue,
            };
            let finding = Finding::new(&NAME_GONE, name.at.span, message)
                .help(
                    "name another one; if it only has another name now, `renamedFrom` in krator.yaml says so",
                )
                .did_you_mean(near.as_deref());
            found.push((Some(name.at.file), finding));
        }
        found
    }

    /// Describes a generated module or enum for messages.
    fn describe(&self, path: &[String]) -> String {
        match path {
            [module, rest @ ..] => match self.kinds.iter().find(|kind| kind.module == *module) {
                Some(kind) if rest.first().is_some_and(|rest| rest == "states") => {
                    format!("the state graph of `{}`", kind.name)
                }
                Some(_) if rest.len() > 2 => format!("`{}`", rest[rest.len() - 1]),
                Some(kind) => format!("the generated code of `{}`", kind.name),
                None => format!("`{}`", path.join("::")),
            },
            [] => "the crate".to_owned(),
        }
    }

    /// The most similar name in the same module or enum.
    fn similar_name(&self, path: &[String], written: &str) -> Option<String> {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let (name, module) = match self.tree.module(&path) {
            Some(module) => (None, module),
            None => (path.last().copied(), self.tree.module(path.split_last()?.1)?),
        };
        let defs = &self.tree.modules[module].names.defs;
        let variants = name
            .and_then(|name| defs.get(name))
            .into_iter()
            .flatten()
            .find_map(|def| match def {
                Def::Enum(item) => Some(
                    item.variants
                        .iter()
                        .map(|variant| unraw(&variant.ident))
                        .collect::<Vec<_>>(),
                ),
                _ => None,
            });
        let names = variants.unwrap_or_else(|| defs.keys().cloned().collect());
        nearest(written, names.iter().map(String::as_str)).map(str::to_owned)
    }

    /// Finds `mod` declarations whose file krator no longer generates, and generated files that no `mod` declares.
    pub(super) fn modules(&self) -> Vec<Located> {
        let mut found = Vec::new();
        for lost in &self.tree.lost {
            let finding = Finding::new(
                &NAME_GONE,
                lost.span,
                "the description has nothing for this module any more",
            )
            .help("remove the line");
            found.push((Some(lost.file), finding));
        }
        let reached: BTreeSet<usize> = self.tree.modules.iter().map(|module| module.file).collect();
        let root = self.tree.library.map(|library| &self.tree.modules[library]);
        if let Some(root) = root.filter(|root| !root.names.is_open) {
            let at = Location {
                file: root.file,
                span: root.items.first().map_or_else(Span::default, |item| {
                    self.tree.files[root.file].span(syn::spanned::Spanned::span(item))
                }),
            };
            for (id, file) in self.tree.files.iter().enumerate() {
                let module = file
                    .path
                    .strip_prefix("src/")
                    .and_then(|path| path.strip_suffix("/mod.rs").or_else(|| path.strip_suffix(".rs")))
                    .filter(|module| !module.contains('/'));
                let Some(module) = module.filter(|_| file.is_generated && !reached.contains(&id)) else {
                    continue;
                };
                // It is declared or imported in a way that the module tree does not follow, such as `#[path]`.
                let is_imported = root.names.imports.iter().any(|import| import.name == module);
                if root.names.defs.contains_key(module) || is_imported {
                    continue;
                }
                let message = format!("`{}` is not part of the crate", file.path);
                let finding = Finding::new(&MODULE_MISSING, at.span, message)
                    .label("no `mod` leads there")
                    .help(format!(
                        "declare it here: `pub mod {};`",
                        crate::names::rust_ident(module)
                    ));
                found.push((Some(at.file), finding));
            }
        }
        found
    }

    /// Finds operators that `main` does not start.
    pub(super) fn operators(&self) -> Vec<Located> {
        let main = self
            .tree
            .modules
            .iter()
            .find(|module| self.tree.files[module.file].path == "src/main.rs");
        let Some(main) = main.filter(|main| !main.names.is_open) else {
            return Vec::new();
        };
        let file = main.file;
        let start = main.items.iter().find_map(|item| match item {
            syn::Item::Fn(item) if item.sig.ident == "main" => {
                Some(self.tree.files[file].span(item.sig.ident.span()))
            }
            _ => None,
        });
        let mut found = Vec::new();
        for kind in self.kinds {
            let operator = [
                kind.module.clone(),
                "object".to_owned(),
                format!("{}Operator", kind.name),
            ];
            let Some(object) = self.tree.module(&[&kind.module, "object"]) else {
                continue;
            };
            let is_there = self.tree.modules[object].names.defs.contains_key(&operator[2]);
            let is_used = self.facts.names.iter().any(|name| {
                matches!(&name.meaning, Meaning::Item(path) if *path == operator)
                    && self.tree.modules[object].file != name.at.file
            });
            if let Some(span) = start.filter(|_| is_there && !is_used) {
                let at = Location { file, span };
                let message = format!("no code starts the operator of `{}`", kind.name);
                let finding = Finding::new(&OPERATOR_NOT_RUN, span, message)
                    .label("its objects are not watched")
                    .help(format!(
                        "add `.operator({}::default())` to the runtime here",
                        operator[2]
                    ));
                found.push((Some(at.file), finding));
            }
        }
        found
    }
}

fn declared<'n>(names: &'n Names<'_>) -> impl Iterator<Item = &'n str> {
    names.defs.keys().map(String::as_str)
}
