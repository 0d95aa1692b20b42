//! A file that people edit and a template that changed: merged by what both go back to.

use diffy::{ConflictStyle, IncompleteHunkStyle, MergeOptions};

use crate::finding::Span;

/// What became of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Merged {
    /// Both sides' changes.
    Clean(String),
    /// Both changed the same lines.
    Conflict {
        /// All of it, with both versions of such lines between markers as git's.
        marked: String,
        /// The first such lines of `ours`.
        span: Span,
    },
}

/// Takes what changed from `base` to `theirs` into `ours`, whose line ends stay as they are.
pub(super) fn merge(base: &str, ours: &str, theirs: &str) -> Merged {
    let is_dos = ours.contains("\r\n");
    let mut options = MergeOptions::new();
    options
        .set_conflict_style(ConflictStyle::Merge)
        .set_incomplete_hunk_style(IncompleteHunkStyle::Git);
    let ends = |text: String| if is_dos { text.replace('\n', "\r\n") } else { text };
    match options.merge(base, &ours.replace("\r\n", "\n"), theirs) {
        Ok(text) => Merged::Clean(ends(text)),
        Err(text) => {
            let marked = ends(text);
            let span = conflict_in(ours, &marked);
            Merged::Conflict { marked, span }
        }
    }
}

/// The first lines of ours between markers, found again in ours.
fn conflict_in(ours: &str, marked: &str) -> Span {
    let lines: Vec<&str> = marked.split_inclusive('\n').collect();
    let from = lines
        .iter()
        .position(|line| line.starts_with("<<<<<<<"))
        .unwrap_or(0);
    let between: String = lines
        .iter()
        .skip(from + 1)
        .take_while(|line| !line.starts_with("======="))
        .copied()
        .collect();
    // Where all of ours is gone, what stood before it shows the place.
    let before = from.checked_sub(1).map_or("", |at| lines[at]);
    let shown = if between.is_empty() { before } else { &between };
    let start = ours.find(shown).unwrap_or(0);
    Span {
        start,
        end: start + shown.trim_end().len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "a\nb\nc\nd\ne\n";

    #[test]
    fn both_sides_changes_are_taken() {
        let merged = merge(BASE, "a\nmine\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n");
        assert_eq!(merged, Merged::Clean("a\nmine\nb\nc\nd\nE\n".to_owned()));
    }

    #[test]
    fn line_ends_stay_as_they_were() {
        let merged = merge(BASE, "a\r\nmine\r\nb\r\nc\r\nd\r\ne\r\n", "a\nb\nc\nd\nE\n");
        assert_eq!(
            merged,
            Merged::Clean("a\r\nmine\r\nb\r\nc\r\nd\r\nE\r\n".to_owned())
        );
    }

    #[test]
    fn a_conflict_has_its_place_in_ours() {
        let ours = "mine\na\nb\nC of mine\nd\ne\n";
        let Merged::Conflict { marked, span } = merge(BASE, ours, "a\nb\nC\nd\ne\n") else {
            panic!("the same line was changed");
        };
        assert_eq!(&ours[span.start..span.end], "C of mine");
        assert_eq!(
            marked,
            "mine\na\nb\n<<<<<<< ours\nC of mine\n=======\nC\n>>>>>>> theirs\nd\ne\n"
        );
        let without = "a\nb\nd\ne\n";
        let Merged::Conflict { span, .. } = merge(BASE, without, "a\nb\nC\nd\ne\n") else {
            panic!("the line is gone on one side");
        };
        assert_eq!(&without[span.start..span.end], "b");
    }
}
