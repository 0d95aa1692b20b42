//! Applies the renames of a description to user code. Names are resolved rather than compared as text, and replaced in
//! place, so that nothing else in a file changes, except for lists of imports, which stay sorted. All names change in
//! one pass, so that with the renames `A` to `B` and `B` to `D` no `A` ends up as `D`.

use super::facts::Facts;
use super::imports::{self, Edits};
use super::renames::Renames;
use super::tree::{self, SourceFile};
use super::walk::walk;
use super::{Code, InFile};
use crate::catalog::NAME_LEFT;
use crate::finding::{Finding, Source, Span, sort};
use crate::names::rust_ident;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};

/// The result of renaming in the files that users wrote.
#[derive(Debug, Clone, Default)]
pub struct Renamed {
    /// The new path and the new text of each file that changed, by its former path.
    pub files: BTreeMap<String, (String, String)>,
    /// Former names that were not replaced, in comments, string literals and macros. Spans refer to the new text.
    pub reports: Vec<InFile>,
}

/// Renames in all files that users wrote and that the crate compiles. `former` is the crate as last generated, with its
/// own plan. A handler whose path another handler takes is left out.
pub fn rename(former: &Code<'_>, renames: &Renames) -> Renamed {
    let mut renamed = Renamed::default();
    if renames.is_empty() {
        return renamed;
    }
    let files = tree::parse(former);
    let tree = former.tree(&files);
    let facts = walk(&tree, &former.kind_codes());
    let reached: BTreeSet<usize> = tree.modules.iter().map(|module| module.file).collect();
    let words = renames.words();
    let written = files.iter().enumerate().filter(|(_, file)| !file.is_generated);
    for (id, file) in written.filter(|(_, file)| !renames.is_replaced(file.path)) {
        let path = renames.path(file.path);
        let edits = if reached.contains(&id) {
            let mut edits = edits(id, &facts, renames);
            imports::sort(file, &mut edits);
            edits
        } else {
            BTreeMap::new()
        };
        let text = edited(file.text, &edits);
        let mut findings = match &file.ast {
            Some(_) if reached.contains(&id) => {
                let mut findings = left(file, &uncertain(id, file, &facts), &edits, &words);
                findings.extend(misread(id, &facts, renames, &edits));
                findings
            }
            Some(_) => mentions(file.text, &words),
            None => unread(file, &words),
        };
        if !findings.is_empty() {
            sort(&mut findings);
            renamed.reports.push(InFile {
                source: Source::new(path.as_str(), text.as_str()),
                findings,
            });
        }
        if path != file.path || text != file.text {
            renamed.files.insert(file.path.to_owned(), (path, text));
        }
    }
    renamed
}

fn edits(file: usize, facts: &Facts<'_>, renames: &Renames) -> Edits {
    let names = facts.names.iter().filter(|name| name.at.file == file);
    names
        .filter_map(|name| {
            let path = name.item.as_ref()?;
            // An alias from `use … as` is kept. The path of the crate itself is empty, so its name is compared instead.
            let is_called = match path.last() {
                Some(last) => *last == name.text,
                None => renames.is_operator(&name.text),
            };
            let now = renames.name(path).filter(|_| is_called)?;
            Some((name.at.span, rust_ident(&now)))
        })
        .collect()
}

/// Reports code that named a removed state whose name another state has now: it still compiles, but its meaning changed.
fn misread(file: usize, facts: &Facts<'_>, renames: &Renames, edits: &Edits) -> Vec<Finding> {
    let names = facts.names.iter().filter(|name| name.at.file == file);
    names
        .filter_map(|name| {
            let (state, former) = renames.reused(name.item.as_ref()?)?;
            let message = format!(
                "this referred to the former `{state}`, which was removed; `{state}` is now the former `{former}`"
            );
            Some(Finding::new(&NAME_LEFT, moved(name.at.span, edits), message))
        })
        .collect()
}

/// A text with the edits applied.
fn edited(text: &str, edits: &Edits) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (span, now) in edits {
        out.push_str(&text[at..span.start]);
        out.push_str(now);
        at = span.end;
    }
    out.push_str(&text[at..]);
    out
}

/// The positions of identifiers that cannot be resolved.
fn uncertain(id: usize, file: &SourceFile<'_>, facts: &Facts<'_>) -> BTreeSet<usize> {
    let names = facts.names.iter().filter(|name| name.at.file == id);
    names
        .filter(|name| name.item.is_none())
        .map(|name| name.at.span.start)
        .chain(
            facts
                .macros
                .iter()
                .filter(|of| of.file == id)
                .flat_map(|of| identifiers(of.tokens))
                .map(|ident| file.span(ident.span()).start),
        )
        .collect()
}

fn identifiers(tokens: &TokenStream) -> Vec<proc_macro2::Ident> {
    let tokens = tokens.clone().into_iter();
    tokens
        .flat_map(|token| match token {
            TokenTree::Ident(ident) => vec![ident],
            TokenTree::Group(group) => identifiers(&group.stream()),
            _ => Vec::new(),
        })
        .collect()
}

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Piece {
    Code,
    /// A literal.
    Text,
}

/// Collects the ranges of all tokens, in order. Doc comments, which rustc treats as tokens, are left out, so that every
/// comment is a gap between two tokens.
fn pieces(tokens: TokenStream, out: &mut Vec<(usize, usize, Piece)>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let range = token.span().byte_range();
        match token {
            TokenTree::Group(group) => {
                out.push((range.start, range.start + 1, Piece::Code));
                pieces(group.stream(), out);
            }
            // `/// text` becomes the tokens `#[doc = "text"]`, and each of them has the span of the whole comment.
            TokenTree::Punct(punct) if punct.as_char() == '#' && range.len() > 1 => {
                if matches!(tokens.peek(), Some(TokenTree::Punct(next)) if next.as_char() == '!') {
                    tokens.next();
                }
                tokens.next();
            }
            TokenTree::Literal(_) => out.push((range.start, range.end, Piece::Text)),
            TokenTree::Ident(_) | TokenTree::Punct(_) => out.push((range.start, range.end, Piece::Code)),
        }
    }
}

/// Reports former names that remain in comments, in literals, and in code that cannot be resolved.
fn left(
    file: &SourceFile<'_>,
    uncertain: &BTreeSet<usize>,
    edits: &Edits,
    words: &BTreeMap<String, String>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !words.keys().any(|word| file.text.contains(word.as_str())) {
        return findings;
    }
    let mut tokens = Vec::new();
    // The file has been parsed already, so splitting it into tokens cannot fail.
    let _ = file.text[file.offset..]
        .parse::<TokenStream>()
        .map(|stream| pieces(stream, &mut tokens));
    for (word, now) in words {
        for (start, _) in file.text.match_indices(word.as_str()) {
            let span = Span {
                start,
                end: start + word.len(),
            };
            let is_renamed = edits
                .range(..=span)
                .next_back()
                .is_some_and(|(edit, _)| edit.end > start);
            if is_renamed || !is_word(file.text, span) {
                continue;
            }
            let before = tokens.partition_point(|(from, ..)| from + file.offset <= start);
            let token = before.checked_sub(1).map(|at| tokens[at]);
            let where_ = match token.filter(|(_, to, _)| to + file.offset > start) {
                None => "a comment",
                Some((_, _, Piece::Text)) => "a string literal",
                Some((_, _, Piece::Code)) if uncertain.contains(&start) => "code that krator cannot resolve",
                // The identifier resolves to a different item with the same name.
                Some((_, _, Piece::Code)) => continue,
            };
            let message = format!("`{word}` is now `{now}`, but was left in {where_}");
            findings.push(Finding::new(&NAME_LEFT, moved(span, edits), message));
        }
    }
    findings
}

fn is_word(text: &str, span: Span) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let (before, after) = (&text[..span.start], &text[span.end..]);
    !before.ends_with(is_part) && !after.starts_with(is_part)
}

/// Maps a span of the former text to the new text. A span inside an edit maps to the whole replacement.
fn moved(span: Span, edits: &Edits) -> Span {
    let around = edits
        .range(..=span)
        .next_back()
        .filter(|(edit, _)| edit.end > span.start);
    let (mut longer, mut shorter) = (0, 0);
    let first = around.map_or(span.start, |(edit, _)| edit.start);
    for (edit, now) in edits.iter().filter(|(edit, _)| edit.end <= first) {
        longer += now.len();
        shorter += edit.end - edit.start;
    }
    let start = first + longer - shorter;
    let length = around.map_or(span.end - span.start, |(_, now)| now.len());
    Span {
        start,
        end: start + length,
    }
}

/// Reports files beside the code in which former names remain, such as those that `include!` names.
pub(crate) fn mentioned<'a>(
    files: impl Iterator<Item = (&'a str, &'a str)>,
    renames: &Renames,
) -> Vec<InFile> {
    let words = renames.words();
    let found = files.map(|(path, text)| InFile {
        source: Source::new(renames.path(path), text),
        findings: mentions(text, &words),
    });
    found.filter(|in_file| !in_file.findings.is_empty()).collect()
}

/// Reports the first mention of each former name in a file that no module of the crate includes.
fn mentions(text: &str, words: &BTreeMap<String, String>) -> Vec<Finding> {
    let first = |word: &String| {
        let spans = text.match_indices(word.as_str()).map(|(start, _)| Span {
            start,
            end: start + word.len(),
        });
        spans.into_iter().find(|span| is_word(text, *span))
    };
    let findings = words.iter().filter_map(|(word, now)| {
        let message =
            format!("`{word}` is now `{now}`, but was left in a file that is not a module of this crate");
        Some(Finding::new(&NAME_LEFT, first(word)?, message))
    });
    let mut findings: Vec<Finding> = findings.collect();
    sort(&mut findings);
    findings
}

/// Reports a file that contains former names but cannot be parsed, and is therefore left unchanged.
fn unread(file: &SourceFile<'_>, words: &BTreeMap<String, String>) -> Vec<Finding> {
    let first = words.iter().find_map(|(word, _)| {
        let start = file.text.find(word.as_str())?;
        Some(Span {
            start,
            end: start + word.len(),
        })
    });
    let finding = |span| {
        Finding::new(
            &NAME_LEFT,
            span,
            "cannot parse this file, so nothing was renamed in it",
        )
        .help("fix the syntax, then rename by hand")
    };
    first.map(finding).into_iter().collect()
}
