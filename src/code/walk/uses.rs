//! What code uses of the description: rights, fields, values of enums.

use super::Walk;
use crate::code::access;
use crate::code::facts::{Access, FieldUse, MatchUse, Need, StructUse};
use crate::code::items::Space;
use crate::code::resolve::Target;
use crate::code::types::{FieldOf, Ty, unraw};
use std::collections::BTreeSet;
use syn::{Expr, Pat};

impl<'a> Walk<'_, 'a> {
    /// The path of a type for which rights are given, if it could be one.
    pub(super) fn object(&self, ty: &Ty<'a>) -> Option<Vec<String>> {
        match ty {
            Ty::Named(Target::External(path)) => access::is_kubernetes_type(path).then(|| path.clone()),
            Ty::Resource(module, name) => {
                let mut path = self.tree.modules[*module].path.clone();
                path.push(name.clone());
                Some(path)
            }
            Ty::Struct(module, item) if self.tree.modules[*module].is_generated => {
                let mut path = self.tree.modules[*module].path.clone();
                path.push(unraw(&item.ident));
                Some(path)
            }
            _ => None,
        }
    }

    /// `cx.owned::<K>()` and the like; `expected` is what the answer is declared to be.
    pub(super) fn access(&mut self, call: &'a syn::ExprMethodCall, expected: Option<&Ty<'a>>) {
        let need = match call.method.to_string().as_str() {
            "api" => Need::Grants,
            "apply" | "owned" | "delete" => Need::Owns,
            "watched" | "all_watched" => Need::Watches,
            _ => return,
        };
        let Ty::Context(kind) = self.type_of(&call.receiver) else {
            return;
        };
        let turbofish = call
            .turbofish
            .as_ref()
            .and_then(|turbofish| match turbofish.args.first() {
                Some(syn::GenericArgument::Type(ty)) => Some(ty),
                _ => None,
            });
        let (ty, span) = match (turbofish, call.args.first(), expected) {
            (Some(syn::Type::Infer(_)), None, Some(ty)) | (None, None, Some(ty)) => {
                (ty.clone(), call.method.span())
            }
            (Some(syn::Type::Infer(_)) | None, Some(argument), _) => {
                (self.type_of(argument), syn::spanned::Spanned::span(argument))
            }
            (Some(ty), ..) => (self.ty(ty), syn::spanned::Spanned::span(ty)),
            (None, None, None) => return,
        };
        let Some(object) = self.object(&ty) else { return };
        let at = self.at(span);
        self.facts.accesses.push(Access {
            at,
            need,
            kind: Some(kind),
            object,
        });
    }

    /// `Api<K>`: a client of its own, which has no more rights than the operator.
    pub(super) fn client(&mut self, path: &'a syn::Path, target: &Target<'a>) {
        let Target::External(of) = target else { return };
        let Some(at) = of.iter().position(|name| name == "Api") else {
            return;
        };
        let is_kube = of
            .first()
            .is_some_and(|first| first == "kube" || first == "kube_client");
        let behind = of.len() - at;
        let segment = path.segments.iter().rev().nth(behind - 1);
        let Some(syn::PathArguments::AngleBracketed(arguments)) =
            segment.filter(|_| is_kube).map(|segment| &segment.arguments)
        else {
            return;
        };
        let Some(syn::GenericArgument::Type(ty)) = arguments.args.first() else {
            return;
        };
        if let Some(object) = self.object(&self.ty(ty)) {
            let at = self.at(syn::spanned::Spanned::span(ty));
            self.facts.accesses.push(Access {
                at,
                need: Need::Grants,
                kind: None,
                object,
            });
        }
    }

    pub(super) fn struct_use(&mut self, path: &'a syn::Path, named: Vec<String>, has_rest: bool) {
        let Ty::Struct(module, of) = self.ty_of_target(self.target(path, Space::Types)) else {
            return;
        };
        if !self.tree.modules[module].is_generated {
            return;
        }
        let at = self.at(syn::spanned::Spanned::span(path));
        self.facts.structs.push(StructUse {
            at,
            of,
            named,
            has_rest,
        });
    }

    pub(super) fn field_use(&mut self, ident: &syn::Ident, field: Option<FieldOf<'a>>, is_direct: bool) {
        let Some(FieldOf { module, of, name }) = field else {
            return;
        };
        let at = self.at(ident.span());
        self.facts.fields.push(FieldUse {
            at,
            of,
            module,
            name,
            is_direct,
        });
    }

    /// A `match` that names variants of one enum only, without a word for the rest.
    pub(super) fn match_use(&mut self, expr: &'a syn::ExprMatch) {
        let mut of: Option<Vec<String>> = None;
        let mut covered = BTreeSet::new();
        for arm in &expr.arms {
            let (pattern, guard) = parts(&arm.pat);
            let mut cases = Vec::new();
            flatten(pattern, &mut cases);
            for case in cases {
                let target = match case {
                    Pat::Path(path) if path.qself.is_none() => self.target(&path.path, Space::Values),
                    Pat::Ident(ident) if ident.subpat.is_none() => {
                        let name = [unraw(&ident.ident)];
                        self.tree
                            .resolve(self.place(), &name, false, Space::Values)
                            .pop()
                            .unwrap_or(Target::Unknown)
                    }
                    _ => return,
                };
                let Target::Variant { module, name, .. } = &target else {
                    return;
                };
                let Some(mut path) = self
                    .tree
                    .canonical(&target)
                    .filter(|_| self.tree.modules[*module].is_generated)
                else {
                    return;
                };
                path.pop();
                if of.get_or_insert_with(|| path.clone()) != &path {
                    return;
                }
                if guard.is_none() {
                    covered.insert(name.clone());
                }
            }
        }
        if let Some(of) = of {
            let at = self.at(syn::spanned::Spanned::span(&*expr.expr));
            self.facts.matches.push(MatchUse { at, of, covered });
        }
    }
}

/// The pattern of an arm, and its condition.
pub(super) fn parts(pattern: &Pat) -> (&Pat, Option<&Expr>) {
    match pattern {
        Pat::Guard(guarded) => (&guarded.pat, Some(&guarded.guard)),
        pattern => (pattern, None),
    }
}

pub(super) fn flatten<'a>(pattern: &'a Pat, cases: &mut Vec<&'a Pat>) {
    match pattern {
        Pat::Or(or) => or.cases.iter().for_each(|case| flatten(case, cases)),
        Pat::Paren(inner) => flatten(&inner.pat, cases),
        Pat::Reference(inner) => flatten(&inner.pat, cases),
        case => cases.push(case),
    }
}

/// The call in the middle of `cx.owned().await?`.
pub(super) fn innermost_call(expr: &Expr) -> Option<&syn::ExprMethodCall> {
    match expr {
        Expr::Try(inner) => innermost_call(&inner.expr),
        Expr::Await(inner) => innermost_call(&inner.base),
        Expr::Paren(inner) => innermost_call(&inner.expr),
        Expr::MethodCall(call) => match call.method.to_string().as_str() {
            "unwrap" | "expect" | "unwrap_or_default" => innermost_call(&call.receiver),
            _ => Some(call),
        },
        _ => None,
    }
}

pub(super) fn innermost<'a>(ty: Ty<'a>) -> Ty<'a> {
    match ty {
        Ty::Within(inner) | Ty::Many(inner) => innermost(*inner),
        ty => ty,
    }
}
