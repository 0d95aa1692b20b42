//! A tree for descriptions that are being edited and may be incomplete or not even YAML.
//!
//! [`TolerantTree::of`] reads the text once and never fails: it derives the nesting from indentation, dashes, colons
//! and brackets. For correct YAML the tree agrees with that of [`spec`](crate::spec); a broken line is misread, but
//! parsing recovers at the next line with at most its indentation. The tree is precise enough to complete, explain and
//! find names. Findings come from the real parser only.

mod place;
mod scan;

pub use place::Place;

use crate::finding::Span;

/// The parts of a text, each with a reference to the part that contains it.
#[derive(Debug, Default)]
pub struct TolerantTree {
    /// The parts in the order of the text, so each part comes after the part that contains it.
    pub parts: Vec<Part>,
}

/// A key, an item of a list, a document, or a word that may become a key.
#[derive(Debug)]
pub struct Part {
    /// The index of the part that contains it; `None` for a document.
    pub within: Option<usize>,
    /// The kind of part.
    pub step: Step,
    /// The key, the item's dash or first character, or the word; without quotes.
    pub name: Span,
    /// Its value without quotes, if the value is a scalar.
    pub value: Option<Span>,
    /// The place of the bracket or brace at the start of its value, if any.
    pub bracket: Option<usize>,
    /// The end of its last character, including its contents.
    pub end: usize,
}

/// The step from the containing part to a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A document of the file.
    Document,
    /// A key.
    Key(String),
    /// An item of a list.
    Item,
    /// A word without a colon, which is a key or a value.
    Word,
}

impl TolerantTree {
    /// Reads a text.
    pub fn of(text: &str) -> Self {
        scan::scan(text)
    }

    /// The steps from the top of its document to a part.
    pub fn path(&self, part: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut at = Some(part);
        while let Some(part) = at.map(|at| &self.parts[at]) {
            if part.step != Step::Document {
                steps.push(part.step.clone());
            }
            at = part.within;
        }
        steps.reverse();
        steps
    }

    /// The document that a part belongs to.
    pub fn document(&self, part: usize) -> usize {
        let mut at = part;
        while let Some(within) = self.parts[at].within {
            at = within;
        }
        at
    }

    /// All documents.
    pub fn documents(&self) -> impl Iterator<Item = usize> {
        self.all().filter(|at| self.parts[*at].step == Step::Document)
    }

    /// The parts directly inside another one.
    pub fn inside(&self, part: usize) -> impl Iterator<Item = usize> {
        // Parts are in the order of the text, and the parts inside another one end before it does.
        let end = self.parts[part].end;
        let after = part + 1..self.parts.len();
        after
            .take_while(move |at| self.parts[*at].name.start <= end)
            .filter(move |at| self.parts[*at].within == Some(part))
    }

    /// The part with this key inside another one.
    pub fn entry(&self, within: usize, key: &str) -> Option<usize> {
        self.inside(within).find(|at| self.key(*at) == Some(key))
    }

    /// The edit that inserts an entry as the first one of a part's mapping.
    pub fn first_entry(&self, text: &str, part: usize, entry: &str) -> (Span, String) {
        let empty = |at| Span::new(at, at);
        let first = self.inside(part).next();
        if let Some(brace) = self.parts[part].bracket {
            let separator = if first.is_some() { ", " } else { "" };
            return (empty(brace + 1), format!("{entry}{separator}"));
        }
        match first {
            Some(first) => {
                let start = self.parts[first].name.start;
                let line = text[..start].rfind('\n').map_or(0, |end| end + 1);
                let indentation = &text[line..start];
                let ending = if text[..line].ends_with("\r\n") {
                    "\r\n"
                } else {
                    "\n"
                };
                (empty(line), format!("{indentation}{entry}{ending}"))
            }
            None => {
                let after = self.parts[part].name.end + 1;
                (empty(after), format!(" {{{entry}}}"))
            }
        }
    }

    /// The keys inside a part, each with its part.
    pub fn entries(&self, within: usize) -> impl Iterator<Item = (usize, &str)> {
        self.inside(within).filter_map(|at| Some((at, self.key(at)?)))
    }

    /// The key of a part, if it has one.
    pub fn key(&self, part: usize) -> Option<&str> {
        match &self.parts[part].step {
            Step::Key(key) => Some(key),
            _ => None,
        }
    }

    /// The part whose name or value is at an offset, and whether it is the value.
    pub fn at(&self, offset: usize) -> Option<(usize, bool)> {
        let is_in = |span: Span| (span.start..=span.end).contains(&offset);
        self.all().find_map(|at| {
            let part = &self.parts[at];
            if part.value.is_some_and(is_in) {
                return Some((at, true));
            }
            (matches!(part.step, Step::Key(_) | Step::Word) && is_in(part.name)).then_some((at, false))
        })
    }

    /// The indices of all parts.
    pub fn all(&self) -> std::ops::Range<usize> {
        0..self.parts.len()
    }
}
