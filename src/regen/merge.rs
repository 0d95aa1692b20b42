//! The three-way merge of a file that users edit and a template that changed.

use diffy::{ConflictStyle, IncompleteHunkStyle, MergeOptions};

use crate::finding::Span;
use crate::text::{normalized, with_line_ends_of};

/// The result of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Merged {
    /// The text with the changes of both sides.
    Clean(String),
    /// Both sides changed the same lines.
    Conflict {
        /// The whole text, with both versions of these lines between conflict markers like git's.
        marked: String,
        /// The first of these lines in `ours`.
        span: Span,
    },
}

/// Merges the changes between `base` and `theirs` into `ours`, whose line endings are kept. If both sides only added
/// lines at the same place, and those of `theirs` are Rust modules or imports, both additions are kept, because the order
/// of such items has no meaning.
pub(super) fn merge(base: &str, ours: &str, theirs: &str) -> Merged {
    let ends = |text: String| with_line_ends_of(ours, &text);
    let mut options = MergeOptions::new();
    options
        .set_conflict_style(ConflictStyle::Diff3)
        .set_incomplete_hunk_style(IncompleteHunkStyle::Git);
    let marked = match options.merge(base, &normalized(ours), theirs) {
        Ok(text) => return Merged::Clean(ends(text)),
        Err(marked) => marked,
    };
    let (mut text, mut first) = (String::new(), None);
    let mut lines = marked.split_inclusive('\n');
    while let Some(line) = lines.next() {
        if !line.starts_with("<<<<<<< ") {
            text.push_str(line);
            continue;
        }
        let mut until = |end: &str| {
            lines
                .by_ref()
                .take_while(|line| !line.starts_with(end))
                .collect::<String>()
        };
        let (mine, was, new) = (until("||||||| "), until("======="), until(">>>>>>> "));
        if was.is_empty() && new.lines().all(is_declaration) {
            text.push_str(&(mine + &new));
        } else {
            // If the user removed these lines, the finding points to the line before them.
            let shown = if mine.is_empty() {
                text.lines().last().unwrap_or_default()
            } else {
                &mine
            };
            first.get_or_insert_with(|| place_of(ours, &ends(shown.to_owned())));
            text.push_str(&format!(
                "<<<<<<< yours\n{mine}||||||| before\n{was}=======\n{new}>>>>>>> krator's\n"
            ));
        }
    }
    match first {
        None => Merged::Clean(ends(text)),
        Some(span) => Merged::Conflict {
            marked: ends(text),
            span,
        },
    }
}

fn is_declaration(line: &str) -> bool {
    ["mod ", "pub mod ", "use ", "pub use ", "#[rustfmt::skip]"]
        .iter()
        .any(|start| line.starts_with(start))
}

fn place_of(text: &str, lines: &str) -> Span {
    let start = text.find(lines).unwrap_or(0);
    let end = start + lines.trim_end().len();
    Span { start, end }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "a\nb\nc\nd\ne\n";

    #[test]
    fn changes_of_both_sides_are_merged() {
        let merged = merge(BASE, "a\nmine\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n");
        assert_eq!(merged, Merged::Clean("a\nmine\nb\nc\nd\nE\n".to_owned()));
    }

    #[test]
    fn line_endings_are_kept() {
        let merged = merge(BASE, "a\r\nmine\r\nb\r\nc\r\nd\r\ne\r\n", "a\nb\nc\nd\nE\n");
        assert_eq!(
            merged,
            Merged::Clean("a\r\nmine\r\nb\r\nc\r\nd\r\nE\r\n".to_owned())
        );
    }

    #[test]
    fn a_conflict_is_located_in_ours() {
        let ours = "mine\na\nb\nC of mine\nd\ne\n";
        let Merged::Conflict { marked, span } = merge(BASE, ours, "a\nb\nC\nd\ne\n") else {
            panic!("the same line was changed");
        };
        assert_eq!(&ours[span.start..span.end], "C of mine");
        assert_eq!(
            marked,
            "mine\na\nb\n<<<<<<< yours\nC of mine\n||||||| before\nc\n=======\nC\n>>>>>>> krator's\nd\ne\n"
        );
        // The user removed the line.
        let without = "a\nb\nd\ne\n";
        let Merged::Conflict { span, .. } = merge(BASE, without, "a\nb\nC\nd\ne\n") else {
            panic!("the line is gone on one side");
        };
        assert_eq!(&without[span.start..span.end], "b");
    }

    #[test]
    fn declarations_added_at_the_same_place_are_both_kept() {
        let base = "pub mod door;\npub mod shared;\n";
        let merged = merge(
            base,
            "pub mod door;\nmod keys;\npub mod shared;\n",
            "pub mod door;\npub mod gate;\npub mod shared;\n",
        );
        assert_eq!(
            merged,
            Merged::Clean("pub mod door;\nmod keys;\npub mod gate;\npub mod shared;\n".to_owned())
        );
    }
}
