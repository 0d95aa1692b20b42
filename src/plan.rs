//! The files that a description generates, in memory. Every verb that writes, compares or prints starts from a plan.

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
    /// Who owns the file once it is written.
    pub ownership: Ownership,
}

/// Who owns a file once it is written.
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

    /// All files, in the order of their paths.
    pub fn files(&self) -> impl Iterator<Item = (&str, &File)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file))
    }

    /// The file at a path.
    pub fn get(&self, path: &str) -> Option<&File> {
        self.files.get(path)
    }
}
