//! Conflict markers, which git leaves where two branches have changed the same place of a text.

use std::ops::Range;

/// The part of a conflict that is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Outside a conflict: both sides agree.
    Agreed,
    Ours,
    /// The common ancestor of both sides, which git writes only in some styles.
    Ancestor,
    Theirs,
}

/// A text with conflict markers, separated into its sides.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Conflicts {
    /// The place of each conflict, from its first marker to the end of its last one.
    pub places: Vec<Range<usize>>,
    /// The text of the branch that was merged into.
    pub ours: String,
    /// The text of the branch that was merged.
    pub theirs: String,
}

/// The conflicts of a text; `None` if it has none. Lines that look like a marker but belong to no complete conflict are
/// text.
pub fn conflicts(text: &str) -> Option<Conflicts> {
    let mut found = Conflicts::default();
    let (mut part, mut start, mut at) = (Part::Agreed, 0, 0);
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        match part {
            Part::Agreed if is_marker(line, '<') => (part, start) = (Part::Ours, at),
            Part::Ours if is_marker(line, '|') => part = Part::Ancestor,
            Part::Ours | Part::Ancestor if line.trim_end() == "=======" => part = Part::Theirs,
            Part::Theirs if is_marker(line, '>') => {
                part = Part::Agreed;
                found.places.push(start..at + line.trim_end().len());
            }
            Part::Agreed => {
                found.ours.push_str(line);
                found.theirs.push_str(line);
            }
            Part::Ours => found.ours.push_str(line),
            Part::Theirs => found.theirs.push_str(line),
            Part::Ancestor => {}
        }
        at = end;
    }
    (part == Part::Agreed && !found.places.is_empty()).then_some(found)
}

/// Whether a line consists of this character seven times, with or without a name after it.
fn is_marker(line: &str, of: char) -> bool {
    let rest = line.trim_end().trim_start_matches(of);
    line.trim_end().len() - rest.len() == 7 && (rest.is_empty() || rest.starts_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_of_each_conflict_are_told_apart() {
        let text = "a\n<<<<<<< HEAD\nb\n||||||| 1234567\nx\n=======\nc\n>>>>>>> theirs\nd\r\n<<<<<<< HEAD\n=======\ne\n>>>>>>>\n";
        let found = conflicts(text).expect("two conflicts");
        assert_eq!(
            (found.ours.as_str(), found.theirs.as_str()),
            ("a\nb\nd\r\n", "a\nc\nd\r\ne\n")
        );
        let shown: Vec<&str> = found.places.iter().map(|place| &text[place.clone()]).collect();
        assert!(shown[0].starts_with("<<<<<<< HEAD\nb\n") && shown[0].ends_with(">>>>>>> theirs"));
        assert_eq!(shown[1], "<<<<<<< HEAD\n=======\ne\n>>>>>>>");
    }

    #[test]
    fn what_is_no_complete_conflict_is_text() {
        for text in [
            "",
            "Title\n=======\n",
            "<<<<<<< HEAD\na\n=======\nb\n",
            " <<<<<<< HEAD\n=======\n >>>>>>> x\n",
            "<<<<<<<< a\n=======\n>>>>>>>> b\n",
            "<<<<<<<HEAD\n=======\n>>>>>>>x\n",
        ] {
            assert_eq!(conflicts(text), None, "{text}");
        }
    }
}
