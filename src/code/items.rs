//! The names that items declare and import.

use super::tree::ModuleId;
use std::collections::BTreeMap;
use syn::{Attribute, Item, UseTree, ext::IdentExt as _};

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
    /// A function, whose name a variable may take.
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
    /// Whether macros may have added names that cannot be seen.
    pub is_open: bool,
}

/// Derive macros that add no names to the module.
const PLAIN_DERIVES: &[&str] = &[
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "PartialEq",
    "Eq",
    "PartialOrd",
    "Ord",
    "Hash",
    "Serialize",
    "Deserialize",
    "JsonSchema",
    "Error",
];
/// Attributes that add no names to the module.
const PLAIN_ATTRIBUTES: &[&str] = &[
    "allow",
    "cfg",
    "cfg_attr",
    "deny",
    "derive",
    "deprecated",
    "diagnostic",
    "doc",
    "error",
    "expect",
    "forbid",
    "ignore",
    "inline",
    "must_use",
    "non_exhaustive",
    "path",
    "repr",
    "rustfmt",
    "serde",
    "test",
    "tokio",
    "tracing",
    "warn",
];

/// The names that items declare and import, except for modules, which the module tree adds.
pub(super) fn names_of<'a>(items: impl Iterator<Item = &'a Item>) -> Names<'a> {
    let mut names = Names::default();
    let mut add =
        |ident: &syn::Ident, def| names.defs.entry(ident.unraw().to_string()).or_default().push(def);
    let mut is_open = false;
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
            Item::Macro(item) => is_open |= item.ident.is_none(),
            Item::ForeignMod(_) | Item::Verbatim(_) | Item::ExternCrate(_) => is_open = true,
            _ => {}
        }
        is_open |= attributes(item).iter().any(may_add_names);
    }
    names.is_open = is_open;
    for item in uses {
        let mut path = Vec::new();
        add_imports(&item.tree, &mut path, item.leading_colon.is_some(), &mut names);
    }
    names
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Struct(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether an attribute could generate further items next to the one that it is on.
pub(super) fn may_add_names(attribute: &Attribute) -> bool {
    let first = attribute
        .path()
        .segments
        .first()
        .map(|segment| segment.ident.to_string());
    if first.as_deref() == Some("derive") {
        let derives = attribute
            .parse_args_with(syn::punctuated::Punctuated::<syn::Path, syn::Token![,]>::parse_terminated);
        return derives.is_ok_and(|derives| {
            derives
                .iter()
                .filter_map(|path| path.segments.last())
                .any(|segment| !PLAIN_DERIVES.contains(&segment.ident.to_string().as_str()))
        });
    }
    first.is_none_or(|first| !PLAIN_ATTRIBUTES.contains(&first.as_str()))
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
