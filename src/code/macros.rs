//! The insides of macros whose arguments are known to be expressions: they are read as code. Of others only their
//! authors know what the tokens mean.

use std::collections::{BTreeMap, BTreeSet};
use syn::{
    Expr, Macro, Pat, Token,
    parse::{ParseStream, Parser as _},
    punctuated::Punctuated,
    visit::{self, Visit},
};

/// What is inside a macro.
pub(super) enum Body {
    /// Expressions.
    Exprs(Vec<Expr>),
    /// Those of `matches!`.
    Matches(Box<Expr>, Box<Pat>, Option<Box<Expr>>),
}

/// Macros of the standard library and of crates that every operator has, whose arguments are expressions.
const OF_EXPRESSIONS: &[&str] = &[
    "anyhow", "assert", "assert_eq", "assert_ne", "bail", "dbg", "debug", "debug_assert", "debug_assert_eq",
    "debug_assert_ne", "ensure", "eprint", "eprintln", "error", "format", "format_args", "info", "join", "panic",
    "pin", "print", "println", "todo", "trace", "try_join", "unimplemented", "unreachable", "vec", "warn", "write",
    "writeln",
];

/// The bodies of all macros of a file that can be read, by the place of their delimiter.
pub(super) fn bodies(file: &syn::File, own: &BTreeSet<String>) -> BTreeMap<usize, Body> {
    let mut reader = Reader {
        own,
        bodies: BTreeMap::new(),
    };
    reader.visit_file(file);
    reader.bodies
}

/// Names of the macros that a file defines.
pub(super) fn defined(file: &syn::File) -> BTreeSet<String> {
    struct Defined(BTreeSet<String>);
    impl Visit<'_> for Defined {
        fn visit_item_macro(&mut self, item: &syn::ItemMacro) {
            self.0.extend(item.ident.as_ref().map(ToString::to_string));
        }
    }
    let mut defined = Defined(BTreeSet::new());
    defined.visit_file(file);
    defined.0
}

/// By what a body is found again.
pub(super) fn key(of: &Macro) -> usize {
    of.delimiter.span().join().byte_range().start
}

/// The last name of a macro's path.
pub(super) fn name(of: &Macro) -> String {
    let last = of.path.segments.last();
    last.map(|segment| segment.ident.to_string()).unwrap_or_default()
}

struct Reader<'r> {
    own: &'r BTreeSet<String>,
    bodies: BTreeMap<usize, Body>,
}

impl Visit<'_> for Reader<'_> {
    fn visit_macro(&mut self, of: &Macro) {
        let name = name(of);
        if self.own.contains(&name) {
            return;
        }
        let body = if name == "matches" {
            matches.parse2(of.tokens.clone()).ok()
        } else if OF_EXPRESSIONS.contains(&name.as_str()) {
            expressions.parse2(of.tokens.clone()).ok().map(Body::Exprs)
        } else {
            None
        };
        let Some(body) = body else { return };
        // Macros within.
        match &body {
            Body::Exprs(exprs) => exprs.iter().for_each(|expr| self.visit_expr(expr)),
            Body::Matches(expr, pattern, guard) => {
                self.visit_expr(expr);
                self.visit_pat(pattern);
                guard.iter().for_each(|guard| self.visit_expr(guard));
            }
        }
        self.bodies.insert(key(of), body);
    }

    fn visit_item_macro(&mut self, item: &syn::ItemMacro) {
        // The pattern side of `macro_rules!` is no code.
        if item.ident.is_none() {
            visit::visit_item_macro(self, item);
        }
    }
}

fn expressions(input: ParseStream<'_>) -> syn::Result<Vec<Expr>> {
    let mut exprs = Vec::new();
    while !input.is_empty() {
        exprs.push(input.parse()?);
        // `vec![0; 8]`, `a, b,`.
        let is_more = input.parse::<Option<Token![,]>>()?.is_some() || input.parse::<Option<Token![;]>>()?.is_some();
        if !is_more && !input.is_empty() {
            return Err(input.error("no list of expressions"));
        }
    }
    Ok(exprs)
}

fn matches(input: ParseStream<'_>) -> syn::Result<Body> {
    let expr = input.parse()?;
    input.parse::<Token![,]>()?;
    let pattern = Pat::parse_multi_with_leading_vert(input)?;
    let guard = match input.parse::<Option<Token![if]>>()? {
        Some(_) => Some(Box::new(input.parse()?)),
        None => None,
    };
    input.parse::<Option<Token![,]>>()?;
    let rest = Punctuated::<Expr, Token![,]>::parse_terminated(input)?;
    if !rest.is_empty() {
        return Err(input.error("no `matches!`"));
    }
    Ok(Body::Matches(Box::new(expr), Box::new(pattern), guard))
}
