//! Parses the arguments of macros that are known to take expressions. The tokens of any other macro may mean anything.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use syn::{
    Expr, Macro, Pat, Token,
    parse::{ParseStream, Parser as _},
    punctuated::Punctuated,
    visit::{self, Visit},
};

/// The parsed arguments of a macro call.
pub(super) enum Body {
    /// A list of expressions.
    Exprs(Vec<Expr>),
    /// The expression, the pattern and the guard of `matches!`.
    Matches(Box<Expr>, Box<Pat>, Option<Box<Expr>>),
}

impl Body {
    /// The expressions among the arguments.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let (exprs, matched, guard) = match self {
            Body::Exprs(exprs) => (&exprs[..], None, None),
            Body::Matches(expr, _, guard) => (&[][..], Some(&**expr), guard.as_deref()),
        };
        exprs.iter().chain(matched).chain(guard)
    }
}

/// Macros of the standard library and of crates that every operator depends on, whose arguments are expressions.
const OF_EXPRESSIONS: &[&str] = &[
    "anyhow",
    "assert",
    "assert_eq",
    "assert_ne",
    "bail",
    "dbg",
    "debug",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "ensure",
    "eprint",
    "eprintln",
    "error",
    "format",
    "format_args",
    "info",
    "join",
    "panic",
    "pin",
    "print",
    "println",
    "todo",
    "trace",
    "try_join",
    "unimplemented",
    "unreachable",
    "vec",
    "warn",
    "write",
    "writeln",
];

/// Macros of these crates with a syntax of their own, in which paths still resolve as outside the macro.
const OF_PATHS: &[&str] = &[
    "debug_span",
    "error_span",
    "event",
    "info_span",
    "json",
    "select",
    "span",
    "trace_span",
    "warn_span",
];

/// Whether paths among the tokens of a macro resolve as outside it, even if the tokens cannot be parsed as a whole.
pub(super) fn repeats_paths(name: &str) -> bool {
    OF_PATHS.contains(&name) || OF_EXPRESSIONS.contains(&name)
}

/// Whether a macro only evaluates its arguments, so that it waits only if they do.
pub(super) fn takes_expressions(name: &str) -> bool {
    OF_EXPRESSIONS.contains(&name) && !["join", "try_join"].contains(&name) || name == "matches"
}

/// A path among tokens, and the tokens in the parentheses after it.
pub(super) struct TokenPath {
    pub idents: Vec<syn::Ident>,
    pub behind: Option<TokenStream>,
}

/// The paths among tokens, including those in nested groups. An identifier after a `.` is a field or a method and is
/// skipped.
pub(super) fn paths(tokens: &TokenStream) -> Vec<TokenPath> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let is_punct =
        |at: usize, c: char| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == c);
    let mut paths = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Group(group) => paths.extend(self::paths(&group.stream())),
            TokenTree::Ident(ident) if at == 0 || !is_punct(at - 1, '.') => {
                let mut idents = vec![ident.clone()];
                while is_punct(at + 1, ':') && is_punct(at + 2, ':') {
                    let Some(TokenTree::Ident(ident)) = tokens.get(at + 3) else {
                        break;
                    };
                    idents.push(ident.clone());
                    at += 3;
                }
                let behind = match tokens.get(at + 1) {
                    Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
                        Some(group.stream())
                    }
                    _ => None,
                };
                paths.push(TokenPath { idents, behind });
            }
            _ => {}
        }
        at += 1;
    }
    paths
}

/// The parsed arguments of the macro calls in a file, by [`key`]. Calls that cannot be parsed are left out, as are those
/// of the macros in `own`, which the crate defines itself.
pub(super) fn bodies(file: &syn::File, own: &BTreeSet<String>) -> BTreeMap<usize, Body> {
    let mut reader = Reader {
        own,
        bodies: BTreeMap::new(),
    };
    reader.visit_file(file);
    reader.bodies
}

/// The names of the macros that a file defines.
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

/// Identifies a macro call within its file by the position of its opening delimiter.
pub(super) fn key(of: &Macro) -> usize {
    of.delimiter.span().join().byte_range().start
}

/// The last segment of a macro's path.
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
        // Parse nested macro calls.
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
        // The rules of a `macro_rules!` definition are not expressions.
        if item.ident.is_none() {
            visit::visit_item_macro(self, item);
        }
    }
}

fn expressions(input: ParseStream<'_>) -> syn::Result<Vec<Expr>> {
    let mut exprs = Vec::new();
    while !input.is_empty() {
        exprs.push(input.parse()?);
        // Expressions are separated by `,` or, as in `vec![0; 8]`, by `;`.
        let is_more =
            input.parse::<Option<Token![,]>>()?.is_some() || input.parse::<Option<Token![;]>>()?.is_some();
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
