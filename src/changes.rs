//! The files of a crate before and after a run, as values: they are shown as a diff or written by [`crate::disk`].

mod snapshot;

pub use snapshot::{FileState, Snapshot, Taken, Unreadable, UnreadableFiles};

use std::collections::{BTreeMap, BTreeSet};

use diffy::{DiffOptions, PatchFormatter};

use crate::finding::Style;

/// The files that a run changes, by their paths in the crate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    files: BTreeMap<String, FileChange>,
}

/// The change of one file. `before` and `after` differ, so at least one of them is not `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The current contents; `None` if there is no file.
    pub before: Option<Vec<u8>>,
    /// The new contents; `None` removes the file.
    pub after: Option<Vec<u8>>,
}

impl Changes {
    /// The changes that turn the files of one snapshot into those of another. Files whose bytes could not be read are
    /// not changed.
    pub fn between(before: &Snapshot, after: &Snapshot) -> Self {
        let mut changes = Changes::default();
        let paths: BTreeSet<&str> = before.paths().chain(after.paths()).collect();
        let is_known = |path: &&str| !before.has(path) || before.bytes(path).is_some();
        for path in paths.into_iter().filter(is_known) {
            changes.set(path, before.bytes(path), after.bytes(path));
        }
        changes
    }

    /// Adds the change of a file, unless `before` and `after` are the same.
    pub fn set(&mut self, path: &str, before: Option<&[u8]>, after: Option<&[u8]>) {
        if before != after {
            let change = FileChange {
                before: before.map(<[u8]>::to_vec),
                after: after.map(<[u8]>::to_vec),
            };
            self.files.insert(path.to_owned(), change);
        }
    }

    /// All changes, in the order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &FileChange)> {
        self.files.iter().map(|(path, change)| (path.as_str(), change))
    }

    /// The change of one file.
    pub fn get(&self, path: &str) -> Option<&FileChange> {
        self.files.get(path)
    }

    /// Whether no file changes.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

impl FileChange {
    /// The change as a unified diff, whose header names the file by this path.
    pub fn diff(&self, path: &str, style: Style) -> String {
        unified(path, self.before.as_deref(), self.after.as_deref(), style)
    }
}

/// Two versions of a file as a unified diff, in the format that `git apply` and `patch -p1` read. `None` is no file.
pub fn unified(path: &str, before: Option<&[u8]>, after: Option<&[u8]>, style: Style) -> String {
    let name = |side: &str, version: Option<&[u8]>| match version {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let text = |version: Option<&[u8]>| std::str::from_utf8(version.unwrap_or_default()).map(str::to_owned);
    let (Ok(old), Ok(new)) = (text(before), text(after)) else {
        return format!(
            "Binary files {} and {} differ\n",
            name("a", before),
            name("b", after)
        );
    };
    let mut options = DiffOptions::new();
    options
        .set_original_filename(name("a", before))
        .set_modified_filename(name("b", after));
    let patch = options.create_patch(&old, &new);
    let formatter = match style {
        Style::Plain => PatchFormatter::new(),
        Style::Coloured => PatchFormatter::new().with_color(),
    };
    formatter.fmt_patch(&patch).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_names_created_and_removed_files() {
        let mut changes = Changes::default();
        changes.set("a", None, Some(b"new\n"));
        changes.set("b", Some(b"old\n"), None);
        changes.set("c", Some(b"same\n"), Some(b"same\n"));
        let diffs: Vec<String> = changes
            .iter()
            .map(|(path, change)| change.diff(path, Style::Plain))
            .collect();
        assert_eq!(
            diffs,
            [
                "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+new\n",
                "--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n"
            ]
        );
    }

    #[test]
    fn binary_files_are_not_shown() {
        assert_eq!(
            unified("x", Some(b"\xff"), Some(b"y"), Style::Plain),
            "Binary files a/x and b/x differ\n"
        );
    }
}
