//! The contents that krator last generated for files that users edit: one file for the crate and one for each kind, so
//! that there are few files, and branches that change different kinds do not change the same file. Each text follows
//! its path. A bar before each line distinguishes contents from paths, and prevents git from taking such a file for a
//! renamed file of the user.

use super::BASE;
use crate::changes::{FileState, Snapshot};
use crate::text::conflict::conflicts;
use crate::text::normalized;
use std::collections::BTreeMap;

/// Up to layout 4, each of these texts was in a separate file, whose path had this ending.
const FORMER_ENDING: &str = ".base";
/// The line after a text that does not end with a line break.
const UNENDED: &str = "\\";

/// The path of the file with the base of a file.
fn path(of: &str) -> String {
    let kind = match of.split('/').collect::<Vec<_>>()[..] {
        ["src", kind, _, ..] => Some(kind),
        ["tests", test] => test.strip_suffix(".rs"),
        _ => None,
    };
    kind.map_or_else(|| format!("{BASE}/crate"), |kind| format!("{BASE}/kinds/{kind}"))
}

/// Whether a path is that of a file with bases.
pub(crate) fn is_base(path: &str) -> bool {
    let within = path.strip_prefix(BASE).and_then(|path| path.strip_prefix('/'));
    within.is_some_and(|path| path == "crate" || path.starts_with("kinds/") || path.ends_with(FORMER_ENDING))
}

/// The files that contain these bases.
pub(super) fn rendered<'a>(bases: impl Iterator<Item = (&'a str, &'a str)>) -> BTreeMap<String, String> {
    let mut files = BTreeMap::<String, String>::new();
    for (of, text) in bases {
        let file = files.entry(path(of)).or_default();
        file.extend([of, "\n", &quoted(text)]);
        if !text.is_empty() && !text.ends_with('\n') {
            file.extend(["\n", UNENDED, "\n"]);
        }
    }
    files
}

/// All bases, with the paths of their files. After a merge, both sides are included, the current branch first.
pub(super) fn all(files: &Snapshot) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (path, file) in files.iter().filter(|(path, _)| is_base(path)) {
        let FileState::Text(text) = file else {
            continue;
        };
        let text = normalized(text);
        let sides =
            conflicts(&text).map_or_else(|| vec![text.clone()], |sides| vec![sides.ours, sides.theirs]);
        let former = path
            .strip_prefix(BASE)
            .and_then(|path| path.strip_prefix('/')?.strip_suffix(FORMER_ENDING));
        for side in sides {
            match former {
                Some(of) => found.push((of.to_owned(), unquoted(&side))),
                None => found.extend(sections(&side)),
            }
        }
    }
    found
}

/// The texts of a file, with the paths before them.
fn sections(file: &str) -> Vec<(String, String)> {
    let mut sections = Vec::<(String, String)>::new();
    for line in file.split_inclusive('\n') {
        match (line.strip_prefix('|'), sections.last_mut()) {
            (Some(line), Some((_, text))) => text.push_str(line),
            (None, Some((_, text))) if line.trim_end() == UNENDED => {
                text.truncate(text.trim_end_matches('\n').len());
            }
            _ => sections.push((line.trim_end().to_owned(), String::new())),
        }
    }
    sections
}

/// A text with a bar before each line.
fn quoted(text: &str) -> String {
    text.split_inclusive('\n').flat_map(|line| ["|", line]).collect()
}

/// The text whose lines have bars before them.
fn unquoted(text: &str) -> String {
    let lines = text.split_inclusive('\n');
    lines.map(|line| line.strip_prefix('|').unwrap_or(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bases_of_a_kind_are_in_a_file_of_their_own() {
        let bases = [
            ("Cargo.toml", "[package]\n"),
            ("deploy/sample.yaml", ""),
            ("src/crate/object.rs", "a\n\n|b"),
            ("src/lib.rs", "mod moose;\n"),
            ("tests/crate.rs", "\n"),
        ];
        let files = rendered(bases.into_iter());
        assert_eq!(
            files
                .iter()
                .map(|(path, text)| (&**path, &**text))
                .collect::<Vec<_>>(),
            [
                (
                    ".krator/base/crate",
                    "Cargo.toml\n|[package]\ndeploy/sample.yaml\nsrc/lib.rs\n|mod moose;\n"
                ),
                (
                    ".krator/base/kinds/crate",
                    "src/crate/object.rs\n|a\n|\n||b\n\\\ntests/crate.rs\n|\n"
                ),
            ]
        );
        let read = all(&files
            .into_iter()
            .map(|(path, text)| (path, text.into_bytes()))
            .collect());
        let mut read: Vec<_> = read.iter().map(|(path, text)| (&**path, &**text)).collect();
        read.sort_unstable();
        assert_eq!(read, bases);
    }

    #[test]
    fn both_sides_of_a_merge_are_read() {
        let text = "a\n|1\n<<<<<<< HEAD\n|2\nb\n|3\n=======\n|4\n>>>>>>> theirs\nc\n|5\n";
        let files = [(format!("{BASE}/crate"), text.as_bytes().to_vec())];
        let read = all(&files.into_iter().collect());
        let read: Vec<_> = read.iter().map(|(path, text)| (&**path, &**text)).collect();
        let (ours, theirs) = (
            vec![("a", "1\n2\n"), ("b", "3\n"), ("c", "5\n")],
            vec![("a", "1\n4\n"), ("c", "5\n")],
        );
        assert_eq!(read, [ours, theirs].concat());
    }

    #[test]
    fn bases_of_layout_4_are_read() {
        let files = [(format!("{BASE}/src/a.rs.base"), b"|a\n|\n|b\n".to_vec())];
        assert_eq!(
            all(&files.into_iter().collect()),
            [("src/a.rs".to_owned(), "a\n\nb\n".to_owned())]
        );
    }
}
