//! The files of a folder at the start of a run. An enum distinguishes absent, text and unreadable files, so code has
//! to handle all three cases, and no file is rewritten because it could not be read.

use std::collections::BTreeMap;
use std::fmt;

/// The file or folder at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileState<'a> {
    /// No file or folder.
    Absent,
    /// A file in UTF-8.
    Text(&'a str),
    /// A file or folder that krator cannot read as text. It must not be overwritten.
    Unreadable(&'a Unreadable),
}

/// A file or folder that exists, but cannot be read as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The reason, as a clause.
    why: String,
    /// The bytes, if they could be read. With them the file can be moved, although it is not text.
    bytes: Option<Vec<u8>>,
}

/// The contents of existing files, by their paths in the crate. A missing path is [`FileState::Absent`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    files: BTreeMap<String, Contents>,
}

/// The file or folder at a path of a [`Snapshot`].
#[derive(Debug, Clone, PartialEq, Eq)]
enum Contents {
    Text(String),
    Unreadable(Unreadable),
}

/// A file that was taken out of a [`Snapshot`].
#[derive(Debug)]
pub struct Taken(Contents);

impl Taken {
    /// The contents of the file.
    pub fn bytes(&self) -> &[u8] {
        // `take` refuses files whose bytes are not known.
        self.0.bytes().unwrap_or_default()
    }
}

impl Unreadable {
    /// A file or folder that could not be read, with the reason as a clause.
    pub fn because(why: impl Into<String>) -> Self {
        Unreadable {
            why: why.into(),
            bytes: None,
        }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl Contents {
    fn of(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Contents::Text(text),
            Err(error) => {
                let (readable, _) = error.as_bytes().split_at(error.utf8_error().valid_up_to());
                let line = readable.iter().filter(|byte| **byte == b'\n').count() + 1;
                Contents::Unreadable(Unreadable {
                    why: format!("line {line} is not UTF-8"),
                    bytes: Some(error.into_bytes()),
                })
            }
        }
    }

    fn bytes(&self) -> Option<&[u8]> {
        match self {
            Contents::Text(text) => Some(text.as_bytes()),
            Contents::Unreadable(unreadable) => unreadable.bytes.as_deref(),
        }
    }
}

impl Snapshot {
    /// The file or folder at a path.
    pub fn get(&self, path: &str) -> FileState<'_> {
        match self.files.get(path) {
            None => FileState::Absent,
            Some(Contents::Text(text)) => FileState::Text(text),
            Some(Contents::Unreadable(unreadable)) => FileState::Unreadable(unreadable),
        }
    }

    /// Whether something is at a path.
    pub fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// The paths of all files, in order.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// All files, in the order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, FileState<'_>)> {
        self.paths().map(|path| (path, self.get(path)))
    }

    /// Adds the contents of a file as they were read.
    pub fn add(&mut self, path: impl Into<String>, bytes: Vec<u8>) {
        self.files.insert(path.into(), Contents::of(bytes));
    }

    /// Adds a file or folder that could not be read.
    pub fn add_unreadable(&mut self, path: impl Into<String>, unreadable: Unreadable) {
        self.files.insert(path.into(), Contents::Unreadable(unreadable));
    }

    /// Writes a text to a path.
    pub fn write(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.files.insert(path.into(), Contents::Text(text.into()));
    }

    /// Removes the file or folder at a path.
    pub fn remove(&mut self, path: &str) {
        self.files.remove(path);
    }

    /// Takes out the file at a path, to move it elsewhere.
    ///
    /// # Errors
    ///
    /// Fails if the bytes of the file could not be read. The snapshot is unchanged then.
    pub fn take(&mut self, path: &str) -> Result<Option<Taken>, Unreadable> {
        match self.files.get(path) {
            Some(Contents::Unreadable(unreadable)) if unreadable.bytes.is_none() => Err(unreadable.clone()),
            _ => Ok(self.files.remove(path).map(Taken)),
        }
    }

    /// Puts a file that was taken out at a path.
    pub fn put(&mut self, path: impl Into<String>, taken: Taken) {
        self.files.insert(path.into(), taken.0);
    }

    /// Whether a file that was taken out can be put at a path, because the path is absent or has the same contents.
    pub fn is_free_for(&self, path: &str, taken: &Taken) -> bool {
        self.files.get(path).is_none_or(|there| *there == taken.0)
    }

    /// The bytes of a file, if there is one and they could be read.
    pub fn bytes(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path)?.bytes()
    }

    /// Combines two snapshots. If both contain a file, `other` wins.
    pub fn and(&self, other: Snapshot) -> Snapshot {
        let mut files = self.files.clone();
        files.extend(other.files);
        Snapshot { files }
    }
}

impl FromIterator<(String, Vec<u8>)> for Snapshot {
    fn from_iter<I: IntoIterator<Item = (String, Vec<u8>)>>(files: I) -> Self {
        let files = files.into_iter().map(|(path, bytes)| (path, Contents::of(bytes)));
        Snapshot {
            files: files.collect(),
        }
    }
}

/// The files that a run needs but cannot read, with the reasons.
#[derive(Debug, Clone, Default, PartialEq, Eq, thiserror::Error)]
pub struct UnreadableFiles(BTreeMap<String, String>);

impl UnreadableFiles {
    /// One file.
    pub fn of(path: &str, unreadable: &Unreadable) -> Self {
        let mut files = UnreadableFiles::default();
        files.add(path, unreadable);
        files
    }

    /// Adds a file. The first reason is kept.
    pub fn add(&mut self, path: &str, unreadable: &Unreadable) {
        self.0
            .entry(path.to_owned())
            .or_insert_with(|| unreadable.why.clone());
    }

    /// Adds the files of another list.
    pub fn extend(&mut self, others: UnreadableFiles) {
        self.0.extend(others.0);
    }

    /// Whether a file is among them.
    pub fn contains(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    /// Keeps the files whose paths satisfy the predicate.
    pub fn retain(&mut self, is_wanted: impl Fn(&str) -> bool) {
        self.0.retain(|path, _| is_wanted(path));
    }

    /// The same files, with their paths mapped by `shown`.
    #[must_use]
    pub fn shown(self, shown: impl Fn(&str) -> String) -> Self {
        let files = self.0.into_iter().map(|(path, why)| (shown(&path), why));
        UnreadableFiles(files.collect())
    }

    /// Fails with these files, if there are any.
    ///
    /// # Errors
    ///
    /// The files themselves.
    pub fn none_or_fail(self) -> Result<(), Self> {
        if self.0.is_empty() { Ok(()) } else { Err(self) }
    }
}

impl fmt::Display for UnreadableFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut files = self.0.iter();
        if let (Some((path, why)), 1) = (files.next(), self.0.len()) {
            return write!(f, "cannot read `{path}`: {why}");
        }
        f.write_str("cannot read these files:")?;
        self.0
            .iter()
            .try_for_each(|(path, why)| write!(f, "\n  `{path}`: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_text_is_neither_absent_nor_empty() {
        let mut files = Snapshot::default();
        files.add("a", b"one\ntwo \xff\n".to_vec());
        let FileState::Unreadable(unreadable) = files.get("a") else {
            panic!("{:?}", files.get("a"));
        };
        assert_eq!(unreadable.to_string(), "line 2 is not UTF-8");
        assert_eq!(files.get("b"), FileState::Absent);
        files.add("b", Vec::new());
        assert_eq!(files.get("b"), FileState::Text(""));
    }

    #[test]
    fn what_cannot_be_read_moves_only_with_its_bytes() {
        let mut files = Snapshot::default();
        files.add("a", b"\xff".to_vec());
        files.add_unreadable("b", Unreadable::because("it is a folder"));
        let taken = files
            .take("a")
            .expect("its bytes are known")
            .expect("it is there");
        assert!(files.is_free_for("moved", &taken) && !files.is_free_for("b", &taken));
        files.put("moved", taken);
        assert_eq!(
            (files.bytes("moved"), files.has("a")),
            (Some(&b"\xff"[..]), false)
        );
        files.take("b").expect_err("its contents are not known");
        assert!(files.has("b"));
    }
}
