//! Renames in user code what the description renames. Names are resolved rather than compared as text, and replaced in
//! place, so that nothing else in a file changes except the order of imports. All names change in one pass, so that with
//! the renames `A` to `B` and `B` to `D` no `A` ends up as `D`.

use super::facts::{Facts, Meaning};
use super::tree::{self, SourceFile};
use super::walk::walk;
use super::{Code, InFile, imports};
use crate::catalog::NAME_LEFT;
use crate::finding::{Finding, Source, Span, sort};
use crate::model::{Description, KindLineage, Lineage};
use crate::names::{KIND_ENDINGS, StateName, rust_ident};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};

/// The names that differ between two descriptions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Renames {
    kinds: Vec<KindRename>,
    /// The crate's name in code, before and after.
    operator: Option<(String, String)>,
}

/// The renames of one kind. Pairs contain the former and the current name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct KindRename {
    module: (String, String),
    name: (String, String),
    states: Vec<(StateName, StateName)>,
    /// Names of removed states that other states have now, each with the former name of the state that has it.
    reused: BTreeMap<StateName, StateName>,
    /// Modules of removed states whose paths the handlers of renamed states take.
    replaced: BTreeSet<String>,
    /// Types declared under `types`, which are not renamed along with the kind.
    types: BTreeSet<String>,
}

impl Renames {
    /// Determines the renames between two descriptions from their lineage.
    pub fn between(former: &Description, now: &Description) -> Self {
        let types = former.types.iter().map(|named| named.name.as_str().to_owned());
        let types: BTreeSet<String> = types.collect();
        let lineage = Lineage::between(former, now);
        let kinds = lineage
            .kinds()
            .iter()
            .map(|kind| KindRename::of(kind, former, now, types.clone()));
        let crates = (
            former.operator.value.crate_ident(),
            now.operator.value.crate_ident(),
        );
        Renames {
            kinds: kinds
                .filter(|kind| kind.name.0 != kind.name.1 || !kind.states.is_empty())
                .collect(),
            operator: (crates.0 != crates.1).then_some(crates),
        }
    }

    /// Whether no name has changed.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty() && self.operator.is_none()
    }

    /// The current path of a file of the former crate. It differs from the former path where the file is named after a
    /// kind or a state.
    pub fn path(&self, former: &str) -> String {
        for kind in &self.kinds {
            let (then, now) = &kind.module;
            if former == format!("tests/{then}.rs") {
                return format!("tests/{now}.rs");
            }
            let Some(rest) = former.strip_prefix(&format!("src/{then}/")) else {
                continue;
            };
            let handler = kind
                .states
                .iter()
                .find_map(|(then, now)| Some((within_state(rest, &then.module())?, now)));
            return match handler {
                Some((within, state)) => format!("src/{now}/states/{}{within}", state.module()),
                None => format!("src/{now}/{rest}"),
            };
        }
        former.to_owned()
    }

    /// Whether a file of the former crate belonged to the handler of a removed state, and the handler of a renamed state
    /// takes its path.
    pub fn is_replaced(&self, former: &str) -> bool {
        self.kinds.iter().any(|kind| {
            let file = former.strip_prefix(&format!("src/{}/", kind.module.0));
            let mut replaced = kind.replaced.iter();
            file.is_some_and(|file| replaced.any(|module| within_state(file, module).is_some()))
        })
    }

    /// If a path names a removed state whose name another state has now, returns that name and the other state's former
    /// name.
    fn reused(&self, path: &[String]) -> Option<(&StateName, &StateName)> {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let (module, rest) = path.split_first()?;
        let kind = self.kinds.iter().find(|kind| kind.module.0 == *module)?;
        match rest {
            ["states", name] | ["generated", "machine", _, name] => {
                kind.reused.iter().find(|(state, _)| state.as_str() == *name)
            }
            _ => None,
        }
    }

    /// The new last segment of a path of the former crate; `None` if it has not changed.
    fn name(&self, path: &[String]) -> Option<String> {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let Some((module, rest)) = path.split_first() else {
            return self.operator.as_ref().map(|(_, now)| now.clone());
        };
        let kind = self.kinds.iter().find(|kind| kind.module.0 == *module)?;
        let (then, now) = (&kind.name.0, &kind.name.1);
        let state = |name: &str| {
            let state = kind.states.iter().find(|(then, _)| then.as_str() == name);
            state.map(|(_, now)| now)
        };
        let renamed = match rest {
            [] => Some(kind.module.1.clone()),
            ["states", name] => match state(name) {
                Some(now) => Some(now.as_str().to_owned()),
                None => kind
                    .states
                    .iter()
                    .find(|(then, _)| then.module() == *name)
                    .map(|(_, now)| now.module()),
            },
            ["generated", "machine", _, name] => state(name).map(|now| now.as_str().to_owned()),
            ["generated", "types", name] if !kind.types.contains(*name) => {
                let is_made_for = |ending: &str| name.starts_with(&format!("{then}{ending}"));
                (*name == then || is_made_for("Spec") || is_made_for("Status"))
                    .then(|| format!("{now}{}", &name[then.len()..]))
            }
            ["generated", "machine", name] | ["object", name] => {
                let of_kind = KIND_ENDINGS
                    .iter()
                    .any(|ending| *name == format!("{then}{ending}"));
                let of_state = ["NextOf", "WaitOf"]
                    .iter()
                    .find_map(|of| Some(format!("{of}{}", state(name.strip_prefix(of)?)?)));
                of_state.or_else(|| of_kind.then(|| format!("{now}{}", &name[then.len()..])))
            }
            _ => None,
        };
        renamed.filter(|now| Some(now.as_str()) != path.last().copied())
    }

    /// The names to look for in comments and string literals. Only names in CamelCase are included, because they are
    /// unlikely to be ordinary words.
    fn words(&self) -> BTreeMap<String, String> {
        let mut words = BTreeMap::new();
        for kind in &self.kinds {
            let states = kind.states.iter();
            words.extend(states.map(|(then, now)| (then.as_str().to_owned(), now.as_str().to_owned())));
            let (then, now) = &kind.name;
            let names = KIND_ENDINGS.iter().filter(|_| then != now);
            words.extend(names.map(|ending| (format!("{then}{ending}"), format!("{now}{ending}"))));
        }
        words
    }
}

/// If a file, by its path in the folder of its kind, belongs to the module of a state: the rest of its path, which is
/// `.rs` for the module itself, and `/mod.rs` for one with a folder. The files in that folder belong to the module, too.
fn within_state<'p>(file: &'p str, module: &str) -> Option<&'p str> {
    let within = file.strip_prefix("states/")?.strip_prefix(module)?;
    (within == ".rs" || within.starts_with('/')).then_some(within)
}

impl KindRename {
    fn of(lineage: &KindLineage, former: &Description, now: &Description, types: BTreeSet<String>) -> Self {
        let (then, now) = (former.kind(lineage.former), now.kind(lineage.now));
        let names = |of: &crate::model::Kind| of.resource.kind.value.clone();
        let states = lineage
            .states()
            .map(|(old, new)| (&then.state(old).name.value, &now.state(new).name.value));
        let states: Vec<(StateName, StateName)> = states
            .filter(|(old, new)| old != new)
            .map(|(old, new)| (old.clone(), new.clone()))
            .collect();
        let is_gone = |name: &StateName| {
            let id = then.state_named(name.as_str());
            id.is_some_and(|id| lineage.became(id).is_none())
        };
        let reused = states.iter().filter(|(_, new)| is_gone(new));
        let in_use: BTreeSet<String> = lineage
            .states()
            .map(|(old, _)| then.state(old).name.value.module())
            .collect();
        let targets = states.iter().map(|(_, new)| new.module());
        KindRename {
            replaced: targets.filter(|module| !in_use.contains(module)).collect(),
            module: (names(then).module(), names(now).module()),
            name: (names(then).as_str().to_owned(), names(now).as_str().to_owned()),
            reused: reused.map(|(old, new)| (new.clone(), old.clone())).collect(),
            states,
            types,
        }
    }
}

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
    let tree = former.tree(&files, BTreeSet::new());
    let facts = walk(&tree, &former.kind_codes());
    let reached: BTreeSet<usize> = tree.modules.iter().map(|module| module.file).collect();
    let words = renames.words();
    let written = files.iter().enumerate().filter(|(_, file)| !file.is_generated);
    for (id, file) in written.filter(|(_, file)| !renames.is_replaced(file.path)) {
        let path = renames.path(file.path);
        let mut edits = if reached.contains(&id) {
            edits(id, &facts, renames)
        } else {
            BTreeMap::new()
        };
        imports::sort(file, &mut edits);
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

/// Replacements, by the span of the former text that they replace.
pub(super) type Edits = BTreeMap<Span, String>;

fn edits(file: usize, facts: &Facts<'_>, renames: &Renames) -> Edits {
    let names = facts.names.iter().filter(|name| name.at.file == file);
    names
        .filter_map(|name| {
            let Meaning::Item(path) = &name.meaning else {
                return None;
            };
            // An alias from `use … as` is kept. The path of the crate itself is empty, so its name is compared instead.
            let is_called = match path.last() {
                Some(last) => *last == name.text,
                None => renames
                    .operator
                    .as_ref()
                    .is_some_and(|(then, _)| *then == name.text),
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
            let Meaning::Item(path) = &name.meaning else {
                return None;
            };
            let (state, former) = renames.reused(path)?;
            let message = format!(
                "this referred to the former `{state}`, which is gone; `{state}` is now the former `{former}`"
            );
            Some(Finding::new(&NAME_LEFT, moved(name.at.span, edits), message))
        })
        .collect()
}

fn edited(text: &str, edits: &Edits) -> String {
    let whole = Span {
        start: 0,
        end: text.len(),
    };
    edited_part(text, whole, edits)
}

/// A part of a text, with the edits inside it applied.
pub(super) fn edited_part(text: &str, part: Span, edits: &Edits) -> String {
    let mut out = String::with_capacity(part.end - part.start);
    let mut at = part.start;
    let within = |edit: &Span| part.start <= edit.start && edit.end <= part.end;
    for (span, now) in edits.iter().filter(|(edit, _)| within(edit)) {
        out.push_str(&text[at..span.start]);
        out.push_str(now);
        at = span.end;
    }
    out.push_str(&text[at..part.end]);
    out
}

/// The positions of identifiers that cannot be resolved.
fn uncertain(id: usize, file: &SourceFile<'_>, facts: &Facts<'_>) -> BTreeSet<usize> {
    let names = facts.names.iter().filter(|name| name.at.file == id);
    names
        .filter(|name| matches!(name.meaning, Meaning::Unknown))
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
                Some((_, _, Piece::Code)) if uncertain.contains(&start) => {
                    "code that cannot be followed here"
                }
                // The identifier resolves to a different item with the same name.
                Some((_, _, Piece::Code)) => continue,
            };
            let message = format!("`{word}` is `{now}` now, and was left in {where_}");
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
            format!("`{word}` is `{now}` now, and was left in a file that is no module of this crate");
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
            "this file cannot be parsed, so nothing was renamed in it",
        )
        .help("fix the syntax, then rename by hand")
    };
    first.map(finding).into_iter().collect()
}
