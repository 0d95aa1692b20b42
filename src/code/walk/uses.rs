//! Collects what code uses from the description: rights on objects, and fields of generated structs.

use super::CodeWalk;
use crate::code::declared::{Declared, object};
use crate::code::facts::{Need, NeededRight, StructUse};
use crate::code::items::unraw;
use crate::code::resolve::Target;
use syn::{Expr, Pat};

impl<'a> CodeWalk<'_, 'a> {
    /// Records the right that a call such as `cx.owned::<K>()` needs. `expected` is the declared type of the result.
    pub(super) fn access(&mut self, call: &'a syn::ExprMethodCall, expected: Option<&syn::Type>) {
        let need = match call.method.to_string().as_str() {
            "api" => Need::Grants,
            "apply" | "owned" | "delete" => Need::Owns,
            "watched" | "all_watched" => Need::Watches,
            _ => return,
        };
        let Some(Declared::Context(kind)) = self.declared_of(&call.receiver) else {
            return;
        };
        let turbofish = call
            .turbofish
            .as_ref()
            .and_then(|turbofish| match turbofish.args.first() {
                Some(syn::GenericArgument::Type(ty)) => Some(ty),
                _ => None,
            });
        let (object, span) = match (turbofish, call.args.first(), expected) {
            (Some(syn::Type::Infer(_)) | None, None, Some(ty)) => (self.object(ty), call.method.span()),
            (Some(syn::Type::Infer(_)) | None, Some(argument), _) => (
                object(self.declared_of(argument)),
                syn::spanned::Spanned::span(argument),
            ),
            (Some(ty), ..) => (self.object(ty), syn::spanned::Spanned::span(ty)),
            (None, None, None) => return,
        };
        let Some(object) = object else { return };
        let at = self.at(span);
        self.facts.accesses.push(NeededRight {
            at,
            need,
            kind: Some(kind),
            object,
        });
    }

    /// Records the use of a plain `Api<K>` client, whose requests are made with the operator's rights.
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
        if let Some(object) = self.object(ty) {
            let at = self.at(syn::spanned::Spanned::span(ty));
            self.facts.accesses.push(NeededRight {
                at,
                need: Need::Grants,
                kind: None,
                object,
            });
        }
    }

    /// Records a literal or a pattern of a generated struct.
    pub(super) fn struct_use(&mut self, path: &'a syn::Path, named: &[&syn::Ident], has_rest: bool) {
        let Some(of) = self.generated_struct(path) else {
            return;
        };
        let named = named.iter().map(|name| (unraw(name), self.at(name.span())));
        let used = StructUse {
            at: self.at(syn::spanned::Spanned::span(path)),
            of,
            named: named.collect(),
            has_rest,
        };
        self.facts.structs.push(used);
    }
}

/// Splits the pattern of a match arm from its guard.
pub(super) fn parts(pattern: &Pat) -> (&Pat, Option<&Expr>) {
    match pattern {
        Pat::Guard(guarded) => (&guarded.pat, Some(&guarded.guard)),
        pattern => (pattern, None),
    }
}

/// The method call inside `?`, `.await`, parentheses and `unwrap`: `cx.owned()` in `cx.owned().await?`.
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
