//! The place of the cursor in a description that is being edited.

use super::{Step, TolerantTree};
use crate::finding::Span;

/// A character that no description may contain. It marks the cursor while the text is read.
const CURSOR: char = '\u{ffff}';

/// The place of the cursor in a tree.
#[derive(Debug)]
pub struct Place {
    /// The tree of the text.
    pub tree: TolerantTree,
    /// The steps to the edited value, or to the mapping that gets a key.
    pub path: Vec<Step>,
    /// The part at `path`.
    pub part: usize,
    /// The token at the cursor, in the text without the cursor.
    pub token: Span,
    /// The part of the token before the cursor.
    pub before: String,
    /// Whether the token may be a key of the mapping at `path`.
    pub is_key: bool,
    /// Whether the token may be the value at `path`.
    pub is_value: bool,
    /// Whether a colon follows already.
    pub has_colon: bool,
    /// Whether the cursor is inside brackets.
    pub in_brackets: bool,
}

impl Place {
    /// The place of an offset. `None` in comments and in scalars of several lines.
    pub fn at(text: &str, offset: usize) -> Option<Place> {
        let (before, after) = (text.get(..offset)?, text.get(offset..)?);
        let marked = format!("{before}{CURSOR}{after}");
        let mut tree = TolerantTree::of(&marked);
        let has_cursor = |span: Span| marked[span.start..span.end].contains(CURSOR);
        let found = tree.all().rev().find_map(|at| {
            let part = &tree.parts[at];
            let value = part.value.filter(|value| has_cursor(*value));
            let is_named = matches!(part.step, Step::Key(_) | Step::Word);
            let name = Some(part.name).filter(|name| is_named && has_cursor(*name));
            Some((at, value.or(name)?, value.is_some()))
        });
        let (at, token, in_value) = found?;
        let before = marked[token.start..token.end]
            .split(CURSOR)
            .next()
            .unwrap_or_default();
        let (before, step) = (before.to_owned(), tree.parts[at].step.clone());
        let target = if in_value { at } else { tree.parts[at].within? };
        // Removes the cursor from all spans.
        for part in &mut tree.parts {
            let spans = [Some(&mut part.name), part.value.as_mut()];
            for end in spans
                .into_iter()
                .flatten()
                .flat_map(|span| [&mut span.start, &mut span.end])
            {
                *end = unmarked(*end, offset);
            }
            part.end = unmarked(part.end, offset);
            part.bracket = part.bracket.map(|at| unmarked(at, offset));
            if let Step::Key(key) = &mut part.step {
                key.retain(|c| c != CURSOR);
            }
        }
        let in_brackets = is_in_brackets(&tree, target, offset);
        Some(Place {
            path: tree.path(target),
            part: target,
            token: Span::new(token.start, unmarked(token.end, offset)),
            before,
            // An item that is a single word may become a mapping, except in brackets.
            is_key: !in_value || step == Step::Item && !in_brackets,
            is_value: in_value || step == Step::Word,
            has_colon: !in_value && matches!(step, Step::Key(_)),
            in_brackets,
            tree,
        })
    }

    /// The existing keys, without the one at the cursor.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let entries = self.tree.entries(self.part);
        entries.filter_map(|(at, key)| (self.tree.parts[at].name.start != self.token.start).then_some(key))
    }
}

fn unmarked(at: usize, cursor: usize) -> usize {
    if at > cursor { at - CURSOR.len_utf8() } else { at }
}

fn is_in_brackets(tree: &TolerantTree, part: usize, offset: usize) -> bool {
    let mut at = Some(part);
    while let Some(part) = at.map(|at| &tree.parts[at]) {
        if part.bracket.is_some_and(|bracket| bracket < offset) {
            return true;
        }
        at = part.within;
    }
    false
}
