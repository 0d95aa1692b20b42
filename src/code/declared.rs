//! Determines declared types as far as rights depend on them: which variable is a handler's context, and which object is
//! applied or deleted. Nothing is inferred: where only rustc knows a type, it reports the missing right itself, at the
//! same line.

use super::access;
use super::items::{Def, Namespace, unraw};
use super::resolve::{Target, segments};
use super::tree::ModuleId;
use super::walk::CodeWalk;
use crate::model::KindId;
use syn::{Expr, GenericArgument, Pat, PathArguments, Type};

/// The maximum number of type aliases to follow, because an alias may refer to itself.
const MOST_ALIASES: usize = 8;

/// A declared type. References, smart pointers, `Option`, `Result` and `Vec` are replaced by the type inside them.
#[derive(Clone)]
pub(super) enum Declared {
    /// The context of a kind's handlers.
    Context(KindId),
    /// A type that rights can be given on, by its path.
    Object(Vec<String>),
}

impl<'a> CodeWalk<'_, 'a> {
    /// Resolves a type as it is written in code.
    pub fn declared(&self, ty: &Type) -> Option<Declared> {
        match ty {
            Type::Reference(inner) => self.declared(&inner.elem),
            Type::Paren(inner) => self.declared(&inner.elem),
            Type::Group(inner) => self.declared(&inner.elem),
            Type::Path(path) if path.qself.is_none() => self.declared_path(&path.path),
            _ => None,
        }
    }

    /// The path of the object type that a type resolves to, if any.
    pub fn object(&self, ty: &Type) -> Option<Vec<String>> {
        object(self.declared(ty))
    }

    fn declared_path(&self, path: &syn::Path) -> Option<Declared> {
        let target = self.target(path, Namespace::Types);
        let Target::External(names) = &target else {
            return self.declared_target(&target);
        };
        let argument = || match &path.segments.last()?.arguments {
            PathArguments::AngleBracketed(arguments) => {
                arguments.args.iter().find_map(|argument| match argument {
                    GenericArgument::Type(ty) => Some(ty),
                    _ => None,
                })
            }
            _ => None,
        };
        let is_std = matches!(names.first().map(String::as_str), Some("std" | "core" | "alloc"));
        let is_runtime = names.first().is_some_and(|first| first == "krator_runtime");
        match names.last().map_or("", String::as_str) {
            "Context" if is_runtime => match argument()? {
                Type::Path(machine) => self
                    .kind_of(&self.target(&machine.path, Namespace::Types))
                    .map(Declared::Context),
                _ => None,
            },
            "Arc" | "Box" | "Rc" | "Option" | "Result" | "Vec" if is_std || is_runtime => {
                self.declared(argument()?)
            }
            _ => self.declared_target(&target),
        }
    }

    fn declared_target(&self, target: &Target<'a>) -> Option<Declared> {
        match target {
            Target::External(path) => {
                access::is_kubernetes_type(path).then(|| Declared::Object(path.clone()))
            }
            Target::Item {
                module,
                def: Def::Type(item),
                ..
            } if self.depth < MOST_ALIASES => self.elsewhere(*module).declared(&item.ty),
            Target::Item {
                module,
                def: Def::Struct(_) | Def::Resource,
                ..
            } if self.tree.modules[*module].is_generated => self.tree.canonical(target).map(Declared::Object),
            _ => None,
        }
    }

    /// The type of an expression, if it is written in the expression or in the declaration of its variable.
    pub fn declared_of(&self, expr: &Expr) -> Option<Declared> {
        match expr {
            Expr::Paren(inner) => self.declared_of(&inner.expr),
            Expr::Group(inner) => self.declared_of(&inner.expr),
            Expr::Reference(inner) => self.declared_of(&inner.expr),
            Expr::Struct(literal) => self.declared_path(&literal.path),
            Expr::Path(path) => self.variable(&unraw(path.path.get_ident()?)).flatten(),
            Expr::Call(call) => match &*call.func {
                Expr::Path(function) if function.qself.is_none() => self.declared_constructor(&function.path),
                _ => None,
            },
            _ => None,
        }
    }

    /// The type that a constructor such as `Job::default` belongs to.
    fn declared_constructor(&self, function: &syn::Path) -> Option<Declared> {
        let (names, is_absolute) = segments(function);
        let [.., constructor] = &names[..] else {
            return None;
        };
        let targets = self
            .tree
            .resolve(self.place(), &names, is_absolute, Namespace::Values);
        let [.., of, _] = &targets[..] else { return None };
        let is_constructor = match of {
            // kube's derive macro generates `new`, which takes a name and a spec.
            Target::Item {
                def: Def::Resource, ..
            } => constructor == "new" || constructor == "default",
            _ => constructor == "default",
        };
        is_constructor.then(|| self.declared_target(of)).flatten()
    }

    /// The generated struct that the path of a literal or a pattern refers to.
    pub fn generated_struct(&self, path: &syn::Path) -> Option<&'a syn::ItemStruct> {
        match self.target(path, Namespace::Types) {
            Target::Item {
                module,
                def: Def::Struct(item),
                ..
            } if self.is_generated(module) => Some(item),
            Target::Item {
                module,
                def: Def::Type(item),
                ..
            } if self.depth < MOST_ALIASES => match &*item.ty {
                Type::Path(path) => self.elsewhere(module).generated_struct(&path.path),
                _ => None,
            },
            _ => None,
        }
    }

    fn is_generated(&self, module: ModuleId) -> bool {
        self.tree.modules[module].is_generated
    }

    /// Declares the variables of a pattern. Those of unknown types are declared too, because they hide items of the
    /// same name.
    pub fn bind(&mut self, pattern: &Pat, declared: Option<Declared>) {
        match pattern {
            Pat::Ident(ident) => {
                if let Some((_, inner)) = &ident.subpat {
                    self.bind(inner, None);
                }
                // In a pattern, the name of a constant, a variant or a state is compared and binds no variable.
                if !self.is_item(&ident.ident) {
                    self.declare(unraw(&ident.ident), declared);
                }
            }
            Pat::Type(typed) => {
                let declared = self.declared(&typed.ty);
                self.bind(&typed.pat, declared);
            }
            Pat::Reference(inner) => self.bind(&inner.pat, declared),
            Pat::Paren(inner) => self.bind(&inner.pat, declared),
            Pat::Struct(pattern) => pattern
                .fields
                .iter()
                .for_each(|field| self.bind(&field.pat, None)),
            Pat::Tuple(tuple) => tuple.elems.iter().for_each(|inner| self.bind(inner, None)),
            Pat::TupleStruct(tuple) => tuple.elems.iter().for_each(|inner| self.bind(inner, None)),
            Pat::Slice(slice) => slice.elems.iter().for_each(|inner| self.bind(inner, None)),
            Pat::Or(or) => or
                .cases
                .iter()
                .for_each(|inner| self.bind(inner, declared.clone())),
            _ => {}
        }
    }
}

/// The path of a declared type, if it is an object.
pub(super) fn object(declared: Option<Declared>) -> Option<Vec<String>> {
    match declared? {
        Declared::Object(path) => Some(path),
        Declared::Context(_) => None,
    }
}
