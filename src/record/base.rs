//! The contents that krator last generated for files that users edit: a file for each of them, so that branches merge in it as they merge
//! in the files themselves. A bar before each line keeps git from taking such a file for the file of the user, moved, and
//! the ending keeps other tools from reading it.

use super::BASE;
use crate::changes::{FileState, Snapshot};

pub(crate) const ENDING: &str = ".base";

/// The path of the base of a file.
pub(super) fn path(of: &str) -> String {
    format!("{BASE}/{of}{ENDING}")
}

/// The path of the file whose base has this path.
pub(super) fn of(path: &str) -> Option<&str> {
    path.strip_prefix(BASE)?.strip_prefix('/')?.strip_suffix(ENDING)
}

/// All bases, by the paths of their files.
pub(super) fn all(files: &Snapshot) -> impl Iterator<Item = (String, &str)> {
    files.iter().filter_map(|(path, file)| match file {
        FileState::Text(text) => Some((of(path)?.to_owned(), text)),
        FileState::Absent | FileState::Unreadable(_) => None,
    })
}

/// A text with a bar before each line.
pub(super) fn quoted(text: &str) -> String {
    text.split_inclusive('\n').flat_map(|line| ["|", line]).collect()
}

/// The text whose lines have bars before them.
pub(super) fn unquoted(text: &str) -> String {
    let lines = text.split_inclusive('\n');
    lines.map(|line| line.strip_prefix('|').unwrap_or(line)).collect()
}
