//! The module tree of a crate, built from its `mod` declarations as rustc does. A file that no `mod` declares is not
//! compiled and therefore not in the tree.

use super::Code;
use super::items::{Def, ModuleId, Names, names_of};
use super::macros::{self, Body};
use crate::finding::Span;
use std::collections::{BTreeMap, BTreeSet};
use syn::{Attribute, Item, ext::IdentExt as _};

/// Index of a file in [`Tree::files`].
pub(super) type FileId = usize;

/// A Rust file.
pub(super) struct SourceFile<'a> {
    pub path: &'a str,
    pub text: &'a str,
    /// Whether krator generated the file, so that all names in it are known.
    pub is_generated: bool,
    /// The syntax tree; `None` if the file cannot be parsed. rustc reports the error in more detail.
    pub ast: Option<syn::File>,
    /// The parsed arguments of its macro calls, by [`macros::key`].
    pub bodies: BTreeMap<usize, Body>,
    /// The length of the byte order mark and the `#!` line, which syn strips and does not count in spans.
    pub offset: usize,
}

impl SourceFile<'_> {
    /// Converts a span of syn to one of the file's text.
    pub fn span(&self, span: proc_macro2::Span) -> Span {
        let range = span.byte_range();
        Span {
            start: range.start + self.offset,
            end: range.end + self.offset,
        }
    }
}

/// Parses all files, generated and written.
pub(super) fn parse<'a>(code: &Code<'a>) -> Vec<SourceFile<'a>> {
    let generated = code.generated().map(|(path, text)| (path, text, true));
    let written = code
        .written
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str(), false));
    let mut files: Vec<SourceFile<'a>> = generated
        .chain(written)
        .map(|(path, text, is_generated)| {
            let ast = syn::parse_file(text).ok();
            let bom = if text.starts_with('\u{feff}') { 3 } else { 0 };
            let shebang = ast.as_ref().and_then(|file| file.shebang.as_ref());
            SourceFile {
                path,
                text,
                is_generated,
                offset: bom + shebang.map_or(0, String::len),
                bodies: BTreeMap::new(),
                ast,
            }
        })
        .collect();
    let own = own_macros(&files);
    for file in files.iter_mut().filter(|file| !file.is_generated) {
        file.bodies = file
            .ast
            .as_ref()
            .map(|ast| macros::bodies(ast, &own))
            .unwrap_or_default();
    }
    files
}

/// The names of the macros that user code defines.
fn own_macros(files: &[SourceFile<'_>]) -> BTreeSet<String> {
    let written = files.iter().filter(|file| !file.is_generated);
    written
        .filter_map(|file| file.ast.as_ref())
        .flat_map(macros::defined)
        .collect()
}

pub(super) struct Module<'a> {
    /// The path from the root of the library, such as `["moose", "states"]`. In another target, the first segment is the
    /// file of the target in angle brackets.
    pub path: Vec<String>,
    pub parent: Option<ModuleId>,
    pub root: ModuleId,
    pub file: FileId,
    pub is_generated: bool,
    /// Whether the module is compiled for tests only.
    pub is_test: bool,
    pub items: &'a [Item],
    pub names: Names<'a>,
}

/// All modules of a crate, in all of its targets.
pub(super) struct Tree<'a> {
    pub files: &'a [SourceFile<'a>],
    pub modules: Vec<Module<'a>>,
    /// The root of the library, or of `src/main.rs` if there is no library.
    pub library: Option<ModuleId>,
    /// The name by which other targets refer to the library.
    pub crate_name: String,
    pub own_macros: BTreeSet<String>,
}

impl<'a> Tree<'a> {
    /// Builds the tree from files. `resources` are the resource types of the kinds: the path of the module, and the name.
    pub fn new(files: &'a [SourceFile<'a>], crate_name: String, resources: &[(Vec<String>, String)]) -> Self {
        let mut tree = Tree {
            files,
            modules: Vec::new(),
            library: None,
            crate_name,
            own_macros: own_macros(files),
        };
        let has_library = files.iter().any(|file| file.path == "src/lib.rs");
        for (id, file) in files.iter().enumerate() {
            let is_library = file.path == "src/lib.rs" || !has_library && file.path == "src/main.rs";
            let Some(ast) = file.ast.as_ref().filter(|_| is_library || is_root(file.path)) else {
                continue;
            };
            let path = if is_library {
                Vec::new()
            } else {
                vec![format!("<{}>", file.path)]
            };
            let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let module = tree.add(id, path, None, &ast.items, folder.to_owned());
            if is_library {
                tree.library = Some(module);
            }
        }
        for module in &mut tree.modules {
            for (_, name) in resources.iter().filter(|(path, _)| *path == module.path) {
                module
                    .names
                    .defs
                    .entry(name.clone())
                    .or_default()
                    .push(Def::Resource);
            }
        }
        tree
    }

    fn add(
        &mut self,
        file: FileId,
        path: Vec<String>,
        parent: Option<ModuleId>,
        items: &'a [Item],
        folder: String,
    ) -> ModuleId {
        let id = self.modules.len();
        let is_generated = self.files[file].is_generated;
        let mut names = names_of(items.iter());
        names.is_open &= !is_generated;
        self.modules.push(Module {
            path: path.clone(),
            parent,
            root: parent.map_or(id, |parent| self.modules[parent].root),
            file,
            is_generated,
            is_test: parent.map_or(!self.files[file].path.starts_with("src/"), |p| {
                self.modules[p].is_test
            }),
            items,
            names,
        });
        for item in items {
            let Item::Mod(module) = item else { continue };
            let name = module.ident.unraw().to_string();
            let mut inner = path.clone();
            inner.push(name.clone());
            let child = match &module.content {
                Some((_, items)) => Some(self.add(file, inner, Some(id), items, format!("{folder}/{name}"))),
                None => self.of_file(file, module, inner, id, &folder),
            };
            if let Some(child) = child.filter(|_| is_for_tests(&module.attrs)) {
                // The module's descendants were added after it, so all modules from its index onwards belong to it.
                self.modules[child..]
                    .iter_mut()
                    .for_each(|module| module.is_test = true);
            }
            let def = match child {
                Some(child) => Def::Module(child),
                None => Def::OtherType,
            };
            self.modules[id].names.defs.entry(name).or_default().push(def);
        }
        id
    }

    fn of_file(
        &mut self,
        file: FileId,
        module: &syn::ItemMod,
        path: Vec<String>,
        parent: ModuleId,
        folder: &str,
    ) -> Option<ModuleId> {
        if let Some(attribute) = module
            .attrs
            .iter()
            .find(|attribute| attribute.path().is_ident("path"))
        {
            return self.of_path(file, attribute, path, parent);
        }
        let base = format!("{folder}/{}", module.ident.unraw());
        let candidates = [format!("{base}.rs"), format!("{base}/mod.rs")];
        let id = candidates.iter().find_map(|candidate| self.file_at(candidate))?;
        let ast = self.files[id].ast.as_ref()?;
        Some(self.add(id, path, Some(parent), &ast.items, base))
    }

    fn file_at(&self, path: &str) -> Option<FileId> {
        self.files.iter().position(|file| file.path == path)
    }

    /// The module in the file that an attribute `path` names. Such attributes inside of an inline module, for which
    /// rustc uses another folder, are not followed, and neither are those that lead out of the crate.
    fn of_path(
        &mut self,
        file: FileId,
        attribute: &Attribute,
        path: Vec<String>,
        parent: ModuleId,
    ) -> Option<ModuleId> {
        let ancestors = || std::iter::successors(Some(parent), |id| self.modules[*id].parent);
        let is_inline = ancestors()
            .nth(1)
            .is_some_and(|above| self.modules[above].file == file);
        let syn::Meta::NameValue(named) = &attribute.meta else {
            return None;
        };
        let syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(to),
            ..
        }) = &named.value
        else {
            return None;
        };
        let to = from(self.files[file].path, &to.value()).filter(|_| !is_inline)?;
        let id = self.file_at(&to)?;
        // Files that include each other would be followed endlessly.
        if ancestors().any(|above| self.modules[above].file == id) {
            return None;
        }
        let folder = to.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        let ast = self.files[id].ast.as_ref()?;
        Some(self.add(id, path, Some(parent), &ast.items, folder))
    }

    /// Finds a module by its path from the root of the library.
    pub fn module(&self, path: &[&str]) -> Option<ModuleId> {
        self.modules.iter().position(|module| {
            module.path.len() == path.len() && module.path.iter().zip(path).all(|(a, b)| a == b)
        })
    }
}

/// The path of a file that another one names relative to its own folder; `None` if the path leads out of the crate.
fn from(file: &str, to: &str) -> Option<String> {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in to.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()?),
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn is_root(path: &str) -> bool {
    let Some((folder, name)) = path.rsplit_once('/') else {
        return path == "build.rs";
    };
    match folder {
        "src" => name == "main.rs",
        "src/bin" | "tests" | "benches" | "examples" => true,
        _ => {
            name == "main.rs"
                && folder
                    .rsplit_once('/')
                    .is_some_and(|(outer, _)| matches!(outer, "src/bin" | "tests" | "benches" | "examples"))
        }
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Path>()
                .is_ok_and(|what| what.is_ident("test"))
    })
}
