//! Compares Rust code without its layout, so that formatting a generated file is not an edit.
//!
//! The layout is everything that rustfmt may change: white space, trailing commas, the braces around the only
//! expression of a match arm or of a closure, and the order within `use` trees and within runs of `use` and `mod`
//! items. All other tokens are compared, and so are comments.

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};

/// The tokens and the comments of Rust code, which are equal for texts that differ only in their layout. `None` if the
/// text does not consist of Rust tokens.
pub(crate) fn without_layout(text: &str) -> Option<String> {
    let tokens: TokenStream = text.parse().ok()?;
    let mut comments = Comments {
        text,
        cursor: 0,
        found: String::new(),
    };
    comments.read(tokens.clone());
    comments.up_to(text.len(), text.len());
    Some(level(tokens) + "\n" + &comments.found)
}

/// Whether two texts are Rust code that differs only in its layout.
pub(crate) fn is_formatted(text: &str, other: &str) -> bool {
    without_layout(text).is_some_and(|text| Some(text) == without_layout(other))
}

/// The comments of a text, which are between its tokens. Doc comments are tokens.
struct Comments<'t> {
    text: &'t str,
    /// The end of the last token.
    cursor: usize,
    found: String,
}

impl Comments<'_> {
    fn read(&mut self, tokens: TokenStream) {
        for token in tokens {
            if let TokenTree::Group(group) = token {
                let (open, close) = (group.span_open().byte_range(), group.span_close().byte_range());
                self.up_to(open.start, open.end);
                self.read(group.stream());
                self.up_to(close.start, close.end);
            } else {
                let range = token.span().byte_range();
                self.up_to(range.start, range.end);
            }
        }
    }

    /// Reads the text before a token, whose range in the text is given. A doc comment consists of several tokens at the
    /// same position.
    fn up_to(&mut self, start: usize, end: usize) {
        let between = self.text.get(self.cursor..start).unwrap_or_default();
        for word in between.split_whitespace() {
            self.found.push_str(word);
            self.found.push(' ');
        }
        self.cursor = self.cursor.max(end);
    }
}

/// The tokens of a file, or of the contents of a group.
fn level(tokens: TokenStream) -> String {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let has_arms = (0..tokens.len()).any(|at| is_arrow(&tokens, at));
    let mut out = String::new();
    // A run of `use` and `mod` items.
    let mut run: Vec<String> = Vec::new();
    let mut is_start = true;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if let Some(end) = is_start.then(|| declaration(&tokens, at)).flatten() {
            run.push(use_tree(&tokens[at..end]));
            at = end;
            continue;
        }
        take(&mut run, &mut out);
        let is_left_out = is_punct(Some(token), ',') && (has_arms || is_trailing(tokens.get(at + 1)));
        if !is_left_out {
            match token {
                TokenTree::Group(group) if is_body(&tokens, at, group) => {
                    out.push_str(&level(group.stream()));
                }
                token => write(token, &level, &mut out),
            }
        }
        is_start = is_punct(Some(token), ';') || is_braces(token);
        at += 1;
    }
    take(&mut run, &mut out);
    out
}

fn take(run: &mut Vec<String>, out: &mut String) {
    run.sort();
    out.extend(run.drain(..));
}

fn write(token: &TokenTree, inner: &dyn Fn(TokenStream) -> String, out: &mut String) {
    match token {
        TokenTree::Group(group) => {
            let (open, close) = match group.delimiter() {
                Delimiter::Parenthesis => ("( ", ") "),
                Delimiter::Brace => ("{ ", "} "),
                Delimiter::Bracket => ("[ ", "] "),
                Delimiter::None => ("", ""),
            };
            out.push_str(open);
            out.push_str(&inner(group.stream()));
            out.push_str(close);
        }
        token => {
            out.push_str(&token.to_string());
            // With a trailing comma, the `>` at the end of generic arguments is not joined with the next token.
            let is_joint = matches!(token, TokenTree::Punct(punct)
                if punct.spacing() == Spacing::Joint && punct.as_char() != '>');
            if !is_joint {
                out.push(' ');
            }
        }
    }
}

/// Whether a comma before this token is trailing: at the end of a list, or of the predicates of `where`.
fn is_trailing(next: Option<&TokenTree>) -> bool {
    next.is_none_or(|next| is_punct(Some(next), '>') || is_braces(next))
}

/// Whether the braces of a group surround the only expression of a match arm or of a closure.
fn is_body(tokens: &[TokenTree], at: usize, group: &Group) -> bool {
    let is_closure = at > 0 && is_punct(tokens.get(at - 1), '|');
    let is_arm = at > 1 && is_arrow(tokens, at - 2);
    let is_expression = || {
        !group
            .stream()
            .into_iter()
            .any(|token| is_punct(Some(&token), ';'))
    };
    group.delimiter() == Delimiter::Brace && (is_arm || is_closure) && is_expression()
}

/// Whether `=>` is at this place.
fn is_arrow(tokens: &[TokenTree], at: usize) -> bool {
    is_punct(tokens.get(at), '=') && is_punct(tokens.get(at + 1), '>')
}

/// The end of the item at this place, if it is `use …;` or `mod …;`, with its attributes and its visibility.
fn declaration(tokens: &[TokenTree], mut at: usize) -> Option<usize> {
    while is_punct(tokens.get(at), '#') && matches!(tokens.get(at + 1), Some(TokenTree::Group(_))) {
        at += 2;
    }
    if is_word(tokens.get(at), "pub") {
        at += 1;
        let is_restricted = matches!(tokens.get(at), Some(TokenTree::Group(_)));
        at += usize::from(is_restricted);
    }
    let is_module = is_word(tokens.get(at), "mod") && is_punct(tokens.get(at + 2), ';');
    if !is_module && !is_word(tokens.get(at), "use") {
        return None;
    }
    let length = tokens[at..].iter().position(|token| is_punct(Some(token), ';'))?;
    Some(at + length + 1)
}

/// A part of a `use` item: lists are in alphabetical order, and a list of a single tree has no braces.
fn use_tree(tokens: &[TokenTree]) -> String {
    let mut out = String::new();
    for token in tokens {
        let list = |stream: TokenStream| {
            let tokens: Vec<TokenTree> = stream.into_iter().collect();
            let trees = tokens.split(|token| is_punct(Some(token), ','));
            let mut trees: Vec<String> = trees.map(use_tree).filter(|tree| !tree.is_empty()).collect();
            trees.sort();
            trees.join(", ")
        };
        match token {
            TokenTree::Group(group) if is_braces(token) && !list(group.stream()).contains(", ") => {
                out.push_str(&list(group.stream()));
            }
            token => write(token, &list, &mut out),
        }
    }
    out
}

fn is_punct(token: Option<&TokenTree>, char: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == char)
}

fn is_word(token: Option<&TokenTree>, word: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(ident)) if ident == word)
}

fn is_braces(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formatting_is_no_edit() {
        let written = "// Generated.\n\nuse b::{Z, a::{C, B}};\nuse a;\npub mod z;\n\n/// Does x.\nfn f(x: Vec<Vec<u8>>) {\n    \
                       match x { A => { g(1, 2) } B => {} }\n    h(|x| { x + 1 });\n}\n";
        let formatted = "// Generated.\n\npub mod z;\nuse a;\nuse b::{\n    Z,\n    a::{B, C},\n};\n\n/// Does x.\nfn f(\n    x: \
                         Vec<\n        Vec<u8>,\n    >,\n) {\n    match x {\n        A => g(\n            1,\n            2,\n        ),\n        \
                         B => {}\n    }\n    h(|x| x + 1);\n}\n";
        assert_eq!(without_layout(written), without_layout(formatted));
    }

    #[test]
    fn every_other_change_is_an_edit() {
        let text = "// Generated.\nuse a::{B, C};\n/// Does x.\nfn f() { g(1, -1, 'a', \"a  b\") }\n";
        let was = without_layout(text);
        assert!(was.is_some());
        for (from, to) in [
            ("Generated", "Written"),
            ("fn f", "// Why.\nfn f"),
            ("fn f", "/* Why. */ fn f"),
            (") }", ") } // Why."),
            ("}\n", "}\n// Why."),
            ("Does x", "Does y"),
            ("C}", "D}"),
            ("use a::{B, C};", ""),
            ("1, -1", "1 -1"),
            ("'a'", "'b'"),
            ("a  b", "a b"),
            ("fn f", "pub fn f"),
        ] {
            let edited = text.replace(from, to);
            assert_ne!(edited, text);
            assert_ne!(without_layout(&edited), was, "{edited}");
        }
    }

    #[test]
    fn a_text_that_is_no_rust_has_none() {
        assert_eq!(without_layout("fn f() {"), None);
        assert_eq!(without_layout("\"open"), None);
    }
}
