//! Resolves paths as rustc does, through blocks, modules, imports and globs, as far as that is possible without the
//! compiler. Anything else resolves to [`Target::Unknown`], which no rule reports.

use super::items::{Def, ImportPath, Names, Namespace};
use super::tree::{ModuleId, Tree};
use crate::names::RUST_PRELUDE;

/// What a path resolves to.
#[derive(Clone)]
pub(super) enum Target<'a> {
    Module(ModuleId),
    /// An item of this crate.
    Item {
        module: ModuleId,
        name: String,
        def: Def<'a>,
    },
    /// A variant of an enum of this crate.
    Variant {
        module: ModuleId,
        of: String,
        name: String,
    },
    /// An item of another crate, by its path as written; re-exports are not followed there.
    External(Vec<String>),
    /// Certainly no item: all names of generated modules and enums are known, and this is not among them.
    Missing,
    /// A single name that nothing in scope declares, imports or could have generated.
    Unresolved,
    /// A type parameter or an item of a block, which no other code can name.
    Local,
    /// Only the compiler can resolve it.
    Unknown,
}

/// The scope in which a path is written.
#[derive(Clone, Copy)]
pub(super) struct LexicalScope<'s, 'a> {
    pub module: ModuleId,
    /// The names of the enclosing blocks, the innermost last.
    pub blocks: &'s [Names<'a>],
    /// The generic parameters in scope.
    pub generics: &'s [String],
    /// The type that `Self` refers to.
    pub self_type: Option<&'s Target<'a>>,
}

/// The result of looking a name up in one scope.
enum Lookup<'a> {
    Here(Target<'a>),
    /// A macro or a glob import may have introduced the name.
    Perhaps,
    Absent,
}

/// Crates that every operator uses. A glob import of another crate is assumed not to bring in a module of such a name.
const CRATES: &[&str] = &[
    "alloc",
    "core",
    "futures",
    "k8s_openapi",
    "krator_runtime",
    "kube",
    "serde",
    "serde_json",
    "std",
    "tokio",
    "tracing",
];

impl<'a> Tree<'a> {
    /// Resolves each segment of a path.
    pub fn resolve(
        &self,
        at: LexicalScope<'_, 'a>,
        path: &[String],
        is_absolute: bool,
        space: Namespace,
    ) -> Vec<Target<'a>> {
        self.path(at, path, is_absolute, space, &mut Vec::new())
    }

    fn path(
        &self,
        at: LexicalScope<'_, 'a>,
        path: &[String],
        is_absolute: bool,
        space: Namespace,
        seen: &mut Vec<(ModuleId, String)>,
    ) -> Vec<Target<'a>> {
        let mut targets: Vec<Target<'a>> = Vec::with_capacity(path.len());
        for (index, segment) in path.iter().enumerate() {
            let wanted = if index + 1 == path.len() {
                space
            } else {
                Namespace::Types
            };
            let target = match targets.last() {
                None => self.first(at, segment, is_absolute, wanted, path.len() == 1, seen),
                Some(before) => self.step(before, segment, wanted, seen),
            };
            targets.push(target);
        }
        targets
    }

    fn first(
        &self,
        at: LexicalScope<'_, 'a>,
        name: &str,
        is_absolute: bool,
        space: Namespace,
        is_only: bool,
        seen: &mut Vec<(ModuleId, String)>,
    ) -> Target<'a> {
        match name {
            "crate" => return Target::Module(self.modules[at.module].root),
            "self" if is_only && space == Namespace::Values => return Target::Unknown,
            "self" => return Target::Module(at.module),
            "super" => return self.parent(at.module),
            "Self" => return at.self_type.cloned().unwrap_or(Target::Unknown),
            _ => {}
        }
        if is_absolute {
            return self.crate_named(at, name);
        }
        if at.generics.iter().any(|generic| generic == name) {
            return Target::Local;
        }
        let mut is_certain = true;
        for (depth, names) in at.blocks.iter().enumerate().rev() {
            let outer = LexicalScope {
                blocks: &at.blocks[..depth],
                ..at
            };
            match self.among(names, at.module, outer, name, space, seen) {
                Lookup::Here(target) => return target,
                Lookup::Perhaps => is_certain = false,
                Lookup::Absent => {}
            }
        }
        match self.lookup(at.module, name, space, seen) {
            Lookup::Here(target) => return target,
            Lookup::Perhaps => is_certain = false,
            Lookup::Absent => {}
        }
        if RUST_PRELUDE.contains(&name) || name == "drop" {
            return Target::External(vec!["std".to_owned(), name.to_owned()]);
        }
        if !is_certain && (is_only || !CRATES.contains(&name)) {
            return Target::Unknown;
        }
        match is_only && space != Namespace::Any {
            true => Target::Unresolved,
            false => self.crate_named(at, name),
        }
    }

    fn crate_named(&self, at: LexicalScope<'_, 'a>, name: &str) -> Target<'a> {
        match self.library {
            Some(library) if name == self.crate_name && self.modules[at.module].root != library => {
                Target::Module(library)
            }
            _ => Target::External(vec![name.to_owned()]),
        }
    }

    fn parent(&self, module: ModuleId) -> Target<'a> {
        self.modules[module]
            .parent
            .map_or(Target::Unknown, Target::Module)
    }

    fn step(
        &self,
        before: &Target<'a>,
        name: &str,
        space: Namespace,
        seen: &mut Vec<(ModuleId, String)>,
    ) -> Target<'a> {
        match before {
            Target::Module(module) if name == "super" => self.parent(*module),
            Target::Module(module) if name == "self" => Target::Module(*module),
            Target::Module(module) => match self.lookup(*module, name, space, seen) {
                Lookup::Here(target) => target,
                Lookup::Absent if self.modules[*module].is_generated => Target::Missing,
                // Nothing in the root of the library can have declared it, so it is gone with its kind or was never there.
                Lookup::Absent if self.library == Some(*module) && space == Namespace::Types => {
                    Target::Missing
                }
                _ => Target::Unknown,
            },
            Target::Item {
                module,
                name: of,
                def: Def::Enum(item),
            } => {
                let is_variant = item.variants.iter().any(|variant| variant.ident == name);
                let looks_like_one = name.starts_with(|c: char| c.is_ascii_uppercase())
                    && name.contains(|c: char| c.is_ascii_lowercase());
                if is_variant {
                    Target::Variant {
                        module: *module,
                        of: of.clone(),
                        name: name.to_owned(),
                    }
                } else if self.modules[*module].is_generated && looks_like_one {
                    Target::Missing
                } else {
                    Target::Unknown
                }
            }
            Target::Item {
                module,
                def: Def::Type(item),
                ..
            } => {
                // Stop at an alias that refers to itself.
                let key = (*module, format!("type {}", item.ident));
                if seen.contains(&key) {
                    return Target::Unknown;
                }
                seen.push(key);
                let target = self.alias(*module, item, seen);
                let target = self.step(&target, name, space, seen);
                seen.pop();
                target
            }
            Target::External(path) => {
                let mut path = path.clone();
                path.push(name.to_owned());
                Target::External(path)
            }
            _ => Target::Unknown,
        }
    }

    /// Resolves a type alias.
    fn alias(
        &self,
        module: ModuleId,
        item: &syn::ItemType,
        seen: &mut Vec<(ModuleId, String)>,
    ) -> Target<'a> {
        let syn::Type::Path(path) = &*item.ty else {
            return Target::Unknown;
        };
        let (segments, is_absolute) = segments(&path.path);
        let at = LexicalScope {
            module,
            blocks: &[],
            generics: &[],
            self_type: None,
        };
        self.path(at, &segments, is_absolute, Namespace::Types, seen)
            .pop()
            .unwrap_or(Target::Unknown)
    }

    /// Looks a name up in a module, including its imports.
    fn lookup(
        &self,
        module: ModuleId,
        name: &str,
        space: Namespace,
        seen: &mut Vec<(ModuleId, String)>,
    ) -> Lookup<'a> {
        // Modules may import each other in a cycle.
        if seen.iter().any(|(at, what)| *at == module && what == name) {
            return Lookup::Absent;
        }
        seen.push((module, name.to_owned()));
        let at = LexicalScope {
            module,
            blocks: &[],
            generics: &[],
            self_type: None,
        };
        let found = self.among(&self.modules[module].names, module, at, name, space, seen);
        seen.pop();
        found
    }

    fn among(
        &self,
        names: &Names<'a>,
        module: ModuleId,
        at: LexicalScope<'_, 'a>,
        name: &str,
        space: Namespace,
        seen: &mut Vec<(ModuleId, String)>,
    ) -> Lookup<'a> {
        let is_block = !std::ptr::eq(names, &self.modules[module].names);
        if let Some(def) = names
            .defs
            .get(name)
            .and_then(|defs| defs.iter().find(|def| def.is_in(space)))
        {
            return Lookup::Here(match def {
                Def::Module(module) => Target::Module(*module),
                _ if is_block => Target::Local,
                def => Target::Item {
                    module,
                    name: name.to_owned(),
                    def: *def,
                },
            });
        }
        let mut is_certain = !names.is_open;
        for import in names.imports.iter().filter(|import| import.name == name) {
            match self.imported(at, &import.path, space, seen) {
                // The error is in the `use` and reported there, so names that depend on it are not reported.
                Target::Missing | Target::Unresolved => return Lookup::Here(Target::Unknown),
                target if self.is_in(&target, space) => return Lookup::Here(target),
                _ => {}
            }
        }
        for glob in &names.globs {
            match self.imported(at, glob, Namespace::Any, seen) {
                Target::Module(module) => match self.lookup(module, name, space, seen) {
                    Lookup::Here(target) => return Lookup::Here(target),
                    Lookup::Perhaps => is_certain = false,
                    Lookup::Absent => {}
                },
                target @ Target::Item {
                    def: Def::Enum(_), ..
                } => {
                    if let variant @ Target::Variant { .. } = self.step(&target, name, space, seen) {
                        return Lookup::Here(variant);
                    }
                }
                // The names of the built-in Kubernetes types are known.
                Target::External(mut path) => {
                    path.push(name.to_owned());
                    if super::access::is_kubernetes_type(&path) {
                        return Lookup::Here(Target::External(path));
                    }
                    is_certain = false;
                }
                _ => is_certain = false,
            }
        }
        if is_certain {
            Lookup::Absent
        } else {
            Lookup::Perhaps
        }
    }

    fn imported(
        &self,
        at: LexicalScope<'_, 'a>,
        path: &ImportPath,
        space: Namespace,
        seen: &mut Vec<(ModuleId, String)>,
    ) -> Target<'a> {
        let target = self.path(at, &path.segments, path.is_absolute, space, seen).pop();
        match (target, &path.segments[..]) {
            // In a `use`, a name that is not declared anywhere refers to a crate.
            (Some(Target::Unresolved), [name]) => self.crate_named(at, name),
            (target, _) => target.unwrap_or(Target::Unknown),
        }
    }

    /// Whether a target is in the namespace. An unknown target is assumed to be.
    fn is_in(&self, target: &Target<'a>, space: Namespace) -> bool {
        match target {
            Target::Module(_) => space != Namespace::Values,
            Target::Item { def, .. } => def.is_in(space),
            _ => true,
        }
    }

    /// The path of a target from the root of the library; `None` if it is not a nameable item of this crate.
    pub fn canonical(&self, target: &Target<'a>) -> Option<Vec<String>> {
        let of = |module: &ModuleId, names: &[&String]| {
            let mut path = self.modules[*module].path.clone();
            path.extend(names.iter().map(|name| (*name).clone()));
            path
        };
        match target {
            Target::Module(module) => Some(of(module, &[])),
            Target::Item { module, name, .. } => Some(of(module, &[name])),
            Target::Variant {
                module,
                of: outer,
                name,
            } => Some(of(module, &[outer, name])),
            _ => None,
        }
    }
}

/// The segments of a path, without `r#` prefixes, and whether it begins with `::`.
pub(super) fn segments(path: &syn::Path) -> (Vec<String>, bool) {
    use syn::ext::IdentExt as _;
    let names = path
        .segments
        .iter()
        .map(|segment| segment.ident.unraw().to_string());
    (names.collect(), path.leading_colon.is_some())
}
