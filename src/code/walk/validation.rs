//! Recognises webhooks whose decisions depend only on the object, so that a validation rule of the schema could replace
//! them.

use crate::code::macros::{self, Body};
use std::collections::BTreeMap;
use syn::{
    Expr,
    visit::{self, Visit},
};

/// Methods that CEL has as well, that only Rust's types need, or that combine several verdicts.
const METHODS: &str = "abs all and any as_deref as_ref as_str chars clone cloned collect contains contains_key copied \
    count ends_with filter find first flatten get into into_iter is_empty is_none is_none_or \
    is_some is_some_and iter keys last len map map_or max min name_any ok_or starts_with then \
    then_some to_lowercase to_owned to_string to_uppercase trim unwrap_or unwrap_or_default values";

/// Whether a validation handler refuses objects, and uses only the object for that. Code that may do more counts as
/// more: a call of a function, a macro of the crate, a loop, a warning. `bodies` has the arguments of macro calls.
pub(super) fn is_rule(handler: &syn::ImplItemFn, bodies: &BTreeMap<usize, Body>) -> bool {
    let Some(syn::FnArg::Typed(parameter)) = handler.sig.inputs.first() else {
        return false;
    };
    let syn::Pat::Ident(review) = &*parameter.pat else {
        return false;
    };
    let mut validation = Validation {
        review: &review.ident,
        bodies,
        is_more: false,
        denies: false,
    };
    validation.visit_block(&handler.block);
    validation.denies && !validation.is_more
}

struct Validation<'b> {
    /// The name of the parameter.
    review: &'b syn::Ident,
    bodies: &'b BTreeMap<usize, Body>,
    is_more: bool,
    denies: bool,
}

impl Validation<'_> {
    fn is_review(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Path(path) if path.path.is_ident(self.review))
    }

    /// Whether a call makes a verdict or wraps a value.
    fn is_known(&mut self, function: &Expr) -> bool {
        let Expr::Path(path) = function else { return false };
        let names: Vec<String> = path
            .path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.denies |= matches!(names[..], ["Verdict", "deny" | "deny_field"]);
        matches!(
            names[..],
            ["Some" | "Ok" | "Err"] | ["Verdict", "allow" | "deny" | "deny_field"]
        )
    }
}

impl<'ast> Visit<'ast> for Validation<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Field(field) if self.is_review(&field.base) => {
                self.is_more |= !is_one_of(&field.member, &["object", "old"]);
            }
            // Of the metadata, rules can only read the name.
            Expr::Field(field) if matches!(&*field.base, Expr::Field(base) if is_one_of(&base.member, &["metadata"])) =>
            {
                self.is_more |= !is_one_of(&field.member, &["name"]);
                self.visit_expr(&field.base);
            }
            Expr::Call(call) => {
                self.is_more |= !self.is_known(&call.func);
                call.args.iter().for_each(|argument| self.visit_expr(argument));
            }
            Expr::MethodCall(call) => {
                self.is_more |= !METHODS.split(' ').any(|known| call.method == known);
                visit::visit_expr_method_call(self, call);
            }
            Expr::Path(_) => self.is_more |= self.is_review(expr),
            Expr::Array(_)
            | Expr::Binary(_)
            | Expr::Block(_)
            | Expr::Closure(_)
            | Expr::Field(_)
            | Expr::If(_)
            | Expr::Let(_)
            | Expr::Lit(_)
            | Expr::Macro(_)
            | Expr::Match(_)
            | Expr::Paren(_)
            | Expr::Range(_)
            | Expr::Reference(_)
            | Expr::Return(_)
            | Expr::Tuple(_)
            | Expr::Unary(_) => visit::visit_expr(self, expr),
            _ => self.is_more = true,
        }
    }

    fn visit_macro(&mut self, of: &'ast syn::Macro) {
        match self.bodies.get(&macros::key(of)) {
            Some(body) if ["format", "matches"].contains(&&*macros::name(of)) => {
                body.exprs().for_each(|expr| self.visit_expr(expr));
            }
            _ => self.is_more = true,
        }
    }

    // An item could contain any code, and CEL has no equivalent of `let mut`.
    fn visit_item(&mut self, _: &'ast syn::Item) {
        self.is_more = true;
    }
    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.is_more |= pattern.mutability.is_some();
    }
}

fn is_one_of(member: &syn::Member, names: &[&str]) -> bool {
    matches!(member, syn::Member::Named(name) if names.iter().any(|one| name == one))
}
