//! Recognises handlers that wait for nothing: they make no request and do nothing slow, so they only choose an edge.

use crate::code::macros;
use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// Whether the handler of a state waits for nothing. A macro that may wait counts as waiting.
pub(super) fn only_decides(item: &syn::ImplItem) -> bool {
    let syn::ImplItem::Fn(handler) = item else {
        return false;
    };
    if handler.sig.ident != "next" {
        return false;
    }
    let mut waits = Waits(false);
    waits.visit_block(&handler.block);
    !waits.0
}

struct Waits(bool);

impl<'ast> Visit<'ast> for Waits {
    fn visit_expr_await(&mut self, _: &'ast syn::ExprAwait) {
        self.0 = true;
    }
    // The future may be awaited elsewhere.
    fn visit_expr_async(&mut self, _: &'ast syn::ExprAsync) {
        self.0 = true;
    }
    // Such a function may make requests in the background, or block the thread.
    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        self.0 |= path
            .path
            .segments
            .iter()
            .any(|segment| segment.ident == "spawn" || segment.ident == "sleep");
        visit::visit_expr_path(self, path);
    }
    fn visit_macro(&mut self, of: &'ast syn::Macro) {
        self.0 |= !macros::takes_expressions(&macros::name(of)) || awaits(of.tokens.clone());
    }
}

fn awaits(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "await" || ident == "async",
        TokenTree::Group(group) => awaits(group.stream()),
        _ => false,
    })
}
