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

/// Takes what changed from `base` to `theirs` into `ours`, whose line ends stay as they are. Where both only added lines
/// in one place, and theirs declare or import something in Rust, both are taken: their order means nothing.
pub(super) fn merge(base: &str, ours: &str, theirs: &str) -> Merged {
    let is_dos = ours.contains("\r\n");
    let ends = |text: String| if is_dos { text.replace('\n', "\r\n") } else { text };
    let mut options = MergeOptions::new();
    options
        .set_conflict_style(ConflictStyle::Diff3)
        .set_incomplete_hunk_style(IncompleteHunkStyle::Git);
    let marked = match options.merge(base, &ours.replace("\r\n", "\n"), theirs) {
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
            // Where all of ours is gone, what stands before shows the place.
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
            "mine\na\nb\n<<<<<<< yours\nC of mine\n||||||| before\nc\n=======\nC\n>>>>>>> krator's\nd\ne\n"
        );
        // Ours is gone.
        let without = "a\nb\nd\ne\n";
        let Merged::Conflict { span, .. } = merge(BASE, without, "a\nb\nC\nd\ne\n") else {
            panic!("the line is gone on one side");
        };
        assert_eq!(&without[span.start..span.end], "b");
    }

    #[test]
    fn declarations_in_one_place_are_both_taken() {
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
