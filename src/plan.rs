//! What a description comes to: files, in memory. Every verb that writes, compares or prints starts from a plan.

use std::collections::BTreeMap;

/// All files of a generated crate, by their paths in it, `/` between the parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    files: BTreeMap<String, File>,
}

/// One file to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// All of it; lines end with `\n`.
    pub contents: String,
    /// Whose it is.
    pub ownership: Ownership,
}

/// Whose a file is once it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ownership {
    /// krator's: rewritten whenever the description changes.
    Generated,
    /// The user's: written once.
    Seeded,
    /// Both's: the user's, with lines that krator keeps current.
    Merged,
}

impl Ownership {
    /// The word of the ownership manifest.
    pub fn as_str(self) -> &'static str {
        match self {
            Ownership::Generated => "generated",
            Ownership::Seeded => "seeded",
            Ownership::Merged => "merged",
        }
    }

    /// The ownership of such a word.
    pub fn parse(word: &str) -> Option<Self> {
        let all = [Ownership::Generated, Ownership::Seeded, Ownership::Merged];
        all.into_iter().find(|ownership| ownership.as_str() == word)
    }
}

impl Plan {
    /// Adds a file. No two parts of the generation write the same one: names were proven distinct before.
    pub fn add(&mut self, path: impl Into<String>, ownership: Ownership, contents: impl Into<String>) {
        let path = path.into();
        let file = File {
            contents: contents.into(),
            ownership,
        };
        let former = self.files.insert(path, file);
        debug_assert!(former.is_none(), "two files of one path");
    }

    /// The files in the order of their paths.
    pub fn files(&self) -> impl Iterator<Item = (&str, &File)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file))
    }

    /// One file.
    pub fn get(&self, path: &str) -> Option<&File> {
        self.files.get(path)
    }
}
