//! The types of expressions, as far as they can be told without the compiler: what is declared, what a context
//! answers with, and fields of generated types.

use super::items::{Def, Space};
use super::resolve::{Target, segments};
use super::tree::ModuleId;
use super::walk::Walk;
use crate::model::KindId;
use syn::{Expr, GenericArgument, Pat, PathArguments, Type};

/// A type; references, `Arc` and `Box` are seen through.
#[derive(Clone)]
pub(super) enum Ty<'a> {
    /// What a handler has at hand.
    Context(KindId),
    /// A struct of this crate.
    Struct(ModuleId, &'a syn::ItemStruct),
    /// A resource, whose types are in this module.
    Resource(ModuleId, String),
    /// Another type that has a name.
    Named(Target<'a>),
    /// `Option` or `Result` of it.
    Within(Box<Ty<'a>>),
    /// A list of it.
    Many(Box<Ty<'a>>),
    Unknown,
}

/// A field of a generated struct.
#[derive(Clone)]
pub(super) struct FieldOf<'a> {
    pub module: ModuleId,
    pub of: &'a syn::ItemStruct,
    pub name: String,
}

/// What is known of a variable.
#[derive(Clone)]
pub(super) struct Variable<'a> {
    pub ty: Ty<'a>,
    /// The field whose value it is.
    pub field: Option<FieldOf<'a>>,
}

impl<'a> Walk<'_, 'a> {
    /// What a written type means here.
    pub fn ty(&self, ty: &Type) -> Ty<'a> {
        match ty {
            Type::Reference(inner) => self.ty(&inner.elem),
            Type::Paren(inner) => self.ty(&inner.elem),
            Type::Group(inner) => self.ty(&inner.elem),
            Type::Slice(inner) => Ty::Many(Box::new(self.ty(&inner.elem))),
            Type::Array(inner) => Ty::Many(Box::new(self.ty(&inner.elem))),
            Type::Path(path) if path.qself.is_none() => self.ty_of_path(&path.path),
            _ => Ty::Unknown,
        }
    }

    fn ty_of_path(&self, path: &syn::Path) -> Ty<'a> {
        let target = self.target(path, Space::Types);
        let inner = || {
            let arguments = path.segments.last().map(|segment| &segment.arguments);
            let Some(PathArguments::AngleBracketed(arguments)) = arguments else {
                return None;
            };
            arguments.args.iter().find_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            })
        };
        if let Target::External(path) = &target {
            let name = path.last().map_or("", String::as_str);
            let is_std = matches!(path.first().map(String::as_str), Some("std" | "core" | "alloc"));
            let is_runtime = path.first().is_some_and(|first| first == "krator_runtime");
            return match (name, inner()) {
                ("Arc" | "Box" | "Rc", Some(inner)) if is_std => self.ty(inner),
                ("Option" | "Result", Some(inner)) if is_std || is_runtime => {
                    Ty::Within(Box::new(self.ty(inner)))
                }
                ("Vec" | "VecDeque", Some(inner)) if is_std => Ty::Many(Box::new(self.ty(inner))),
                ("Context", Some(machine)) if is_runtime => match self.ty(machine) {
                    Ty::Named(machine) => self.kind_of(&machine).map_or(Ty::Unknown, Ty::Context),
                    _ => Ty::Unknown,
                },
                (_, None) => Ty::Named(target),
                _ => Ty::Unknown,
            };
        }
        self.ty_of_target(target)
    }

    /// The type that an item of this crate is.
    pub fn ty_of_target(&self, target: Target<'a>) -> Ty<'a> {
        match target {
            Target::Item {
                module,
                def: Def::Struct(item),
                ..
            } => Ty::Struct(module, item),
            Target::Item {
                module,
                name,
                def: Def::Resource,
            } => Ty::Resource(module, name),
            Target::Item {
                module,
                def: Def::Type(item),
                ..
            } if self.depth < 8 => self.elsewhere(module).ty(&item.ty),
            target @ (Target::Item { .. } | Target::External(_)) => Ty::Named(target),
            _ => Ty::Unknown,
        }
    }

    /// A field's type.
    fn field(&self, of: &Ty<'a>, name: &str) -> Ty<'a> {
        match of {
            Ty::Struct(module, item) => item
                .fields
                .iter()
                .find(|field| field.ident.as_ref().is_some_and(|ident| is_name(ident, name)))
                .map_or(Ty::Unknown, |field| self.elsewhere(*module).ty(&field.ty)),
            Ty::Resource(module, kind) => {
                let part = |ending: &str| {
                    let name = format!("{kind}{ending}");
                    let defs = self.tree.modules[*module].names.defs.get(&name)?;
                    defs.iter().find_map(|def| match def {
                        Def::Struct(item) => Some(Ty::Struct(*module, item)),
                        _ => None,
                    })
                };
                match name {
                    "spec" => part("Spec").unwrap_or(Ty::Unknown),
                    "status" => Ty::Within(Box::new(part("Status").unwrap_or(Ty::Unknown))),
                    _ => Ty::Unknown,
                }
            }
            _ => Ty::Unknown,
        }
    }

    /// The field of a type that krator wrote.
    pub fn generated_field(&self, of: &Ty<'a>, name: &syn::Ident) -> Option<FieldOf<'a>> {
        let Ty::Struct(module, of) = of else { return None };
        self.tree.modules[*module].is_generated.then(|| FieldOf {
            module: *module,
            of,
            name: unraw(name),
        })
    }

    /// The field whose value an expression is, as it stands there or a copy of it.
    pub fn field_behind(&self, expr: &Expr) -> Option<FieldOf<'a>> {
        match expr {
            Expr::Paren(inner) => self.field_behind(&inner.expr),
            Expr::Reference(inner) => self.field_behind(&inner.expr),
            Expr::Unary(inner) => self.field_behind(&inner.expr),
            Expr::Try(inner) => self.field_behind(&inner.expr),
            Expr::MethodCall(call) => self.field_behind(&call.receiver),
            Expr::Path(path) => self.variable(&unraw(path.path.get_ident()?))?.field,
            Expr::Field(field) => match &field.member {
                syn::Member::Named(name) => self.generated_field(&self.type_of(&field.base), name),
                syn::Member::Unnamed(_) => None,
            },
            _ => None,
        }
    }

    /// The type of an expression.
    pub fn type_of(&self, expr: &Expr) -> Ty<'a> {
        match expr {
            Expr::Paren(inner) => self.type_of(&inner.expr),
            Expr::Group(inner) => self.type_of(&inner.expr),
            Expr::Reference(inner) => self.type_of(&inner.expr),
            Expr::Unary(inner) if matches!(inner.op, syn::UnOp::Deref(_)) => self.type_of(&inner.expr),
            Expr::Await(inner) => self.type_of(&inner.base),
            Expr::Try(inner) => match self.type_of(&inner.expr) {
                Ty::Within(inner) => *inner,
                _ => Ty::Unknown,
            },
            Expr::Field(field) => match &field.member {
                syn::Member::Named(name) => self.field(&self.type_of(&field.base), &unraw(name)),
                syn::Member::Unnamed(_) => Ty::Unknown,
            },
            Expr::Index(index) => match (self.type_of(&index.expr), &*index.index) {
                (Ty::Many(inner), Expr::Lit(_)) => *inner,
                _ => Ty::Unknown,
            },
            Expr::Struct(literal) => self.ty_of_path(&literal.path),
            Expr::Path(path) if path.qself.is_none() => {
                match path.path.get_ident().and_then(|name| self.variable(&unraw(name))) {
                    Some(variable) => variable.ty,
                    None => self.ty_of_target(self.target(&path.path, Space::Values)),
                }
            }
            Expr::Call(call) => self.type_of_call(call),
            Expr::MethodCall(call) => self.type_of_method(call),
            _ => Ty::Unknown,
        }
    }

    fn type_of_call(&self, call: &syn::ExprCall) -> Ty<'a> {
        let Expr::Path(function) = &*call.func else {
            return Ty::Unknown;
        };
        if function.qself.is_some() {
            return Ty::Unknown;
        }
        let (names, is_absolute) = segments(&function.path);
        let targets = self
            .tree
            .resolve(self.place(), &names, is_absolute, Space::Values);
        match (targets.last(), names.last().map(String::as_str)) {
            (
                Some(Target::Item {
                    module,
                    def: Def::Fn(signature),
                    ..
                }),
                _,
            ) if self.depth < 8 => match &signature.output {
                // A type parameter of the function is nothing that its module knows.
                syn::ReturnType::Type(_, ty) if signature.generics.type_params().next().is_none() => {
                    self.elsewhere(*module).ty(ty)
                }
                _ => Ty::Unknown,
            },
            (Some(Target::External(path)), Some("Some" | "Ok")) if path.len() == 2 => match call.args.first()
            {
                Some(argument) => Ty::Within(Box::new(self.type_of(argument))),
                None => Ty::Unknown,
            },
            (Some(_), Some("default")) if targets.len() > 1 => match &targets[targets.len() - 2] {
                Target::External(path) if path.last().is_some_and(|last| last == "Default") => Ty::Unknown,
                target => self.ty_of_target(target.clone()),
            },
            // kube's derive makes it: a name and a spec.
            (Some(_), Some("new")) if targets.len() > 1 => match &targets[targets.len() - 2] {
                target @ Target::Item {
                    def: Def::Resource, ..
                } => self.ty_of_target(target.clone()),
                _ => Ty::Unknown,
            },
            _ => Ty::Unknown,
        }
    }

    fn type_of_method(&self, call: &syn::ExprMethodCall) -> Ty<'a> {
        let receiver = self.type_of(&call.receiver);
        let name = call.method.to_string();
        match (receiver, name.as_str()) {
            (Ty::Context(kind), "manifest") => self.resource(kind),
            (Ty::Context(kind), "status" | "status_mut") => self.status(kind),
            (Ty::Context(_), answer @ ("apply" | "owned" | "watched" | "all_watched")) => {
                let turbofish = call
                    .turbofish
                    .as_ref()
                    .and_then(|turbofish| turbofish.args.first());
                let object = match (turbofish, call.args.first()) {
                    (_, Some(argument)) => self.type_of(argument),
                    (Some(GenericArgument::Type(ty)), None) => self.ty(ty),
                    _ => Ty::Unknown,
                };
                match answer {
                    "all_watched" => Ty::Many(Box::new(object)),
                    "owned" => Ty::Within(Box::new(Ty::Many(Box::new(object)))),
                    _ => Ty::Within(Box::new(object)),
                }
            }
            (
                Ty::Within(inner),
                "unwrap" | "expect" | "unwrap_or_default" | "get_or_insert_default" | "unwrap_or",
            ) => *inner,
            (Ty::Within(inner), "get_or_insert_with" | "unwrap_or_else") => *inner,
            (
                inner @ Ty::Within(_),
                "as_ref" | "as_mut" | "as_deref" | "as_deref_mut" | "clone" | "cloned" | "take" | "permanent"
                | "ok" | "ok_or" | "ok_or_else" | "map_err" | "filter" | "or",
            ) => inner,
            (Ty::Within(inner), "iter" | "iter_mut" | "into_iter") => Ty::Many(inner),
            (Ty::Many(inner), "flatten") => match *inner {
                Ty::Many(inner) | Ty::Within(inner) => Ty::Many(inner),
                _ => Ty::Unknown,
            },
            (Ty::Many(inner), "first" | "last" | "first_mut" | "last_mut") => Ty::Within(inner),
            (
                inner @ Ty::Many(_),
                "iter" | "iter_mut" | "into_iter" | "clone" | "to_vec" | "rev" | "as_slice",
            ) => inner,
            (
                inner @ (Ty::Struct(..) | Ty::Resource(..) | Ty::Named(_)),
                "clone" | "as_ref" | "as_mut" | "to_owned" | "borrow" | "borrow_mut",
            ) => inner,
            _ => Ty::Unknown,
        }
    }

    fn resource(&self, kind: KindId) -> Ty<'a> {
        let kind = &self.kinds[kind.0];
        kind.types
            .map_or(Ty::Unknown, |module| Ty::Resource(module, kind.name.clone()))
    }

    fn status(&self, kind: KindId) -> Ty<'a> {
        match self.field(&self.resource(kind), "status") {
            Ty::Within(inner) => *inner,
            _ => Ty::Unknown,
        }
    }

    /// Gives the variables of a pattern their types: what is not understood hides what was known by its name.
    pub fn bind(&mut self, pattern: &Pat, ty: Ty<'a>) {
        self.bind_field(pattern, ty, None);
    }

    /// The same, of what is the value of a field.
    pub fn bind_field(&mut self, pattern: &Pat, ty: Ty<'a>, behind: Option<FieldOf<'a>>) {
        match (pattern, ty) {
            (Pat::Ident(ident), ty) => {
                if let Some((_, inner)) = &ident.subpat {
                    self.bind_field(inner, ty.clone(), behind.clone());
                }
                // A constant, a variant or a state is compared with, not bound.
                if !self.is_item(&ident.ident) {
                    self.declare(unraw(&ident.ident), Variable { ty, field: behind });
                }
            }
            (Pat::Type(typed), _) => {
                let ty = self.ty(&typed.ty);
                self.bind_field(&typed.pat, ty, behind);
            }
            (Pat::Reference(inner), ty) => self.bind_field(&inner.pat, ty, behind),
            (Pat::Paren(inner), ty) => self.bind_field(&inner.pat, ty, behind),
            (Pat::TupleStruct(wrapper), Ty::Within(inner)) if wrapper.elems.len() == 1 => {
                let name = wrapper
                    .path
                    .segments
                    .last()
                    .map(|segment| segment.ident.to_string());
                let inner = match name.as_deref() {
                    Some("Some" | "Ok") => *inner,
                    _ => Ty::Unknown,
                };
                self.bind_field(&wrapper.elems[0], inner, behind);
            }
            (Pat::Struct(pattern), _) => {
                let of = self.ty_of_path(&pattern.path);
                for field in &pattern.fields {
                    let (ty, behind) = match &field.member {
                        syn::Member::Named(name) => {
                            (self.field(&of, &unraw(name)), self.generated_field(&of, name))
                        }
                        syn::Member::Unnamed(_) => (Ty::Unknown, None),
                    };
                    self.bind_field(&field.pat, ty, behind);
                }
            }
            (Pat::Tuple(tuple), _) => tuple.elems.iter().for_each(|inner| self.bind(inner, Ty::Unknown)),
            (Pat::TupleStruct(tuple), _) => {
                tuple.elems.iter().for_each(|inner| self.bind(inner, Ty::Unknown))
            }
            (Pat::Slice(slice), _) => slice.elems.iter().for_each(|inner| self.bind(inner, Ty::Unknown)),
            (Pat::Or(or), ty) => or.cases.iter().for_each(|inner| self.bind(inner, ty.clone())),
            _ => {}
        }
    }
}

fn is_name(ident: &syn::Ident, name: &str) -> bool {
    unraw(ident) == name
}

/// An identifier without its `r#`.
pub(super) fn unraw(ident: &syn::Ident) -> String {
    use syn::ext::IdentExt as _;
    ident.unraw().to_string()
}
