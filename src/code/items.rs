//! The names that items declare and import.

use std::collections::BTreeMap;
use syn::{Item, UseTree, ext::IdentExt as _};

/// Index of a module in the module tree.
pub(super) type ModuleId = usize;

/// The item that a name refers to.
#[derive(Clone, Copy)]
pub(super) enum Def<'a> {
    Module(ModuleId),
    Struct(&'a syn::ItemStruct),
    Enum(&'a syn::ItemEnum),
    Type(&'a syn::ItemType),
    /// The resource type, such as `Moose`, which kube's derive macro generates from its spec.
    Resource,
    /// Any other item in the type namespace.
    OtherType,
    /// A function.
    Function,
    /// A constant or a static, whose name in a pattern is compared and binds no variable.
    Constant,
}

/// Rust's namespaces. Macros and lifetimes do not matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Namespace {
    Types,
    Values,
    Any,
}

impl Def<'_> {
    pub fn is_in(&self, space: Namespace) -> bool {
        let (is_type, is_value) = match self {
            Def::Struct(item) => (true, !matches!(item.fields, syn::Fields::Named(_))),
            Def::Function | Def::Constant => (false, true),
            _ => (true, false),
        };
        match space {
            Namespace::Types => is_type,
            Namespace::Values => is_value,
            Namespace::Any => true,
        }
    }
}

/// One name that a `use` imports.
pub(super) struct Import {
    pub name: String,
    pub path: ImportPath,
}

/// The path of a `use`; its segments have no `r#` prefix.
#[derive(Clone)]
pub(super) struct ImportPath {
    pub segments: Vec<String>,
    pub is_absolute: bool,
}

/// The names of a module, or of a block that has items.
#[derive(Default)]
pub(super) struct Names<'a> {
    pub defs: BTreeMap<String, Vec<Def<'a>>>,
    pub imports: Vec<Import>,
    pub globs: Vec<ImportPath>,
    /// Whether a macro call may have added names that cannot be seen.
    pub is_open: bool,
}

/// The names that items declare and import, except for modules, which the module tree adds.
pub(super) fn names_of<'a>(items: impl Iterator<Item = &'a Item>) -> Names<'a> {
    let mut names = Names::default();
    let mut add =
        |ident: &syn::Ident, def| names.defs.entry(ident.unraw().to_string()).or_default().push(def);
    let mut uses = Vec::new();
    for item in items {
        match item {
            Item::Struct(item) => add(&item.ident, Def::Struct(item)),
            Item::Enum(item) => add(&item.ident, Def::Enum(item)),
            Item::Type(item) => add(&item.ident, Def::Type(item)),
            Item::Fn(item) => add(&item.sig.ident, Def::Function),
            Item::Trait(item) => add(&item.ident, Def::OtherType),
            Item::TraitAlias(item) => add(&item.ident, Def::OtherType),
            Item::Union(item) => add(&item.ident, Def::OtherType),
            Item::Const(item) => add(&item.ident, Def::Constant),
            Item::Static(item) => add(&item.ident, Def::Constant),
            Item::Use(item) => uses.push(item),
            // A `macro_rules!` definition has a name; a macro call has none and may expand to any items.
            Item::Macro(item) if item.ident.is_none() => names.is_open = true,
            _ => {}
        }
    }
    for item in uses {
        let mut path = Vec::new();
        add_imports(&item.tree, &mut path, item.leading_colon.is_some(), &mut names);
    }
    names
}

fn add_imports(tree: &UseTree, path: &mut Vec<String>, is_absolute: bool, names: &mut Names<'_>) {
    let ends = |path: &[String]| ImportPath {
        segments: path.to_vec(),
        is_absolute,
    };
    match tree {
        UseTree::Path(inner) => {
            path.push(inner.ident.unraw().to_string());
            add_imports(&inner.tree, path, is_absolute, names);
            path.pop();
        }
        UseTree::Group(group) => {
            for tree in &group.items {
                add_imports(tree, path, is_absolute, names);
            }
        }
        UseTree::Glob(_) => names.globs.push(ends(path)),
        UseTree::Name(leaf) => {
            let name = leaf.ident.unraw().to_string();
            // `use a::{self}` imports `a`.
            let (name, path) = match path.last() {
                Some(last) if name == "self" => (last.clone(), ends(path)),
                _ => {
                    let mut path = ends(path);
                    path.segments.push(name.clone());
                    (name, path)
                }
            };
            names.imports.push(Import { name, path });
        }
        UseTree::Rename(leaf) => {
            let mut path = ends(path);
            let name = leaf.ident.unraw().to_string();
            if name != "self" {
                path.segments.push(name);
            }
            names.imports.push(Import {
                name: leaf.rename.unraw().to_string(),
                path,
            });
        }
    }
}

/// The name of an identifier, without an `r#` prefix.
pub(super) fn unraw(ident: &syn::Ident) -> String {
    ident.unraw().to_string()
}
