//! Resolves paths as rustc does, through blocks, modules, imports and globs, as far as that is possible without the
//! compiler. Anything else resolves to [`Target::Unknown`], which no rule reports.

use super::items::{Def, ImportPath, ModuleId, Names, Namespace};
use super::tree::Tree;
use crate::model::kubernetes;
use crate::names::RUST_PRELUDE;

/// The target of a path.
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
    /// A single name that nothing in scope declares or imports.
    Unresolved,
    /// A type parameter or an item of a block, which no other code can name.
    Local,
    /// A path that only the compiler can resolve.
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
        for (depth, names) in at.blocks.iter().enumerate().rev() {
            let outer = LexicalScope {
                blocks: &at.blocks[..depth],
                ..at
            };
            if let Some(target) = self.among(names, at.module, outer, name, space, seen) {
                return target;
            }
        }
        if let Some(target) = self.lookup(at.module, name, space, seen) {
            return target;
        }
        if RUST_PRELUDE.contains(&name) || name == "drop" {
            return Target::External(vec!["std".to_owned(), name.to_owned()]);
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
            Target::Module(module) => self.lookup(*module, name, space, seen).unwrap_or(Target::Unknown),
            Target::Item {
                module,
                name: of,
                def: Def::Enum(item),
            } if item.variants.iter().any(|variant| variant.ident == name) => Target::Variant {
                module: *module,
                of: of.clone(),
                name: name.to_owned(),
            },
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
    ) -> Option<Target<'a>> {
        // Modules may import each other in a cycle.
        if seen.iter().any(|(at, what)| *at == module && what == name) {
            return None;
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
    ) -> Option<Target<'a>> {
        let is_block = !std::ptr::eq(names, &self.modules[module].names);
        if let Some(def) = names
            .defs
            .get(name)
            .and_then(|defs| defs.iter().find(|def| def.is_in(space)))
        {
            return Some(match def {
                Def::Module(module) => Target::Module(*module),
                _ if is_block => Target::Local,
                def => Target::Item {
                    module,
                    name: name.to_owned(),
                    def: *def,
                },
            });
        }
        for import in names.imports.iter().filter(|import| import.name == name) {
            match self.imported(at, &import.path, space, seen) {
                // rustc reports the `use`.
                Target::Unresolved => return Some(Target::Unknown),
                target if self.is_in(&target, space) => return Some(target),
                _ => {}
            }
        }
        for glob in &names.globs {
            match self.imported(at, glob, Namespace::Any, seen) {
                Target::Module(module) => {
                    if let Some(target) = self.lookup(module, name, space, seen) {
                        return Some(target);
                    }
                }
                target @ Target::Item {
                    def: Def::Enum(_), ..
                } => {
                    if let variant @ Target::Variant { .. } = self.step(&target, name, space, seen) {
                        return Some(variant);
                    }
                }
                // The names of the built-in Kubernetes types are known.
                Target::External(mut path) => {
                    path.push(name.to_owned());
                    if is_kubernetes_type(&path) {
                        return Some(Target::External(path));
                    }
                }
                _ => {}
            }
        }
        None
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

/// Whether a path is that of a built-in Kubernetes kind.
pub(super) fn is_kubernetes_type(path: &[String]) -> bool {
    path.first().is_some_and(|first| first == "k8s_openapi")
        && kubernetes::kind_of_rust(&path.join("::")).is_some()
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
