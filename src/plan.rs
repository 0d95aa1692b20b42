//! The files that a description generates, in memory. Every verb that writes, compares or prints starts from a plan.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

/// All files of a generated crate, by their paths in the crate, which are separated by `/`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    files: BTreeMap<String, File>,
}

/// One planned file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The whole file; lines end with `\n`.
    pub contents: String,
    /// The owner of the file once it is written.
    pub ownership: Ownership,
}

/// The owner of a file once it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ownership {
    /// krator, which rewrites the file whenever the description changes.
    Generated,
    /// The user; krator writes the file once.
    Seeded,
    /// The user, but krator keeps some of its lines up to date.
    Merged,
}

impl Ownership {
    const ALL: [Ownership; 3] = [Ownership::Generated, Ownership::Seeded, Ownership::Merged];

    /// The name in the generation record.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Ownership::Generated => "generated",
            Ownership::Seeded => "seeded",
            Ownership::Merged => "merged",
        }
    }

    /// The owner of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ownership| ownership.name() == name)
    }
}

/// The line of a generated handler that keeps it from acting before its owner has written it.
pub const NOT_WRITTEN: &str =
    "    const WRITTEN: bool = false; // remove this line when the handler is written\n";

/// The line of a seeded test that runs handlers which are not written.
pub const IGNORED_TEST: &str =
    "#[ignore = \"handlers on its way are not written: remove this line when they are\"]\n";

/// The attribute of the test of functions that the author has to write.
pub const IGNORED_CONVERSIONS: &str =
    "    #[ignore = \"the functions are not written: remove this line when they are\"]\n";

/// A generated file without the lines that its owner removes when the handlers are written. These lines are irrelevant
/// to the rest of the file, so files are compared and merged without them.
pub fn as_written(text: &str) -> Cow<'_, str> {
    let is_removed = |line: &str| {
        let line = line.trim_end();
        [NOT_WRITTEN, IGNORED_TEST, IGNORED_CONVERSIONS]
            .iter()
            .any(|removed| line == removed.trim_end())
    };
    if text.lines().any(is_removed) {
        let lines = text.split_inclusive('\n').filter(|line| !is_removed(line));
        Cow::Owned(lines.collect())
    } else {
        Cow::Borrowed(text)
    }
}

impl Plan {
    /// Adds a file. Two parts of the generation never add the same path, because names were checked to be distinct.
    pub fn add(&mut self, path: impl Into<String>, ownership: Ownership, contents: impl Into<String>) {
        let path = path.into();
        let file = File {
            contents: contents.into(),
            ownership,
        };
        let former = self.files.insert(path, file);
        debug_assert!(former.is_none(), "two files with one path");
    }

    /// The same plan with generated handlers that count as written.
    #[must_use]
    pub fn written(mut self) -> Self {
        for file in self
            .files
            .values_mut()
            .filter(|file| file.ownership == Ownership::Seeded)
        {
            if let Cow::Owned(written) = as_written(&file.contents) {
                file.contents = written;
            }
        }
        self
    }

    /// All files, in the order of their paths.
    pub fn files(&self) -> impl Iterator<Item = (&str, &File)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file))
    }

    /// The file at a path.
    pub fn get(&self, path: &str) -> Option<&File> {
        self.files.get(path)
    }
}
