//! Existing files that cannot be read.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The replacement of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Instead {
    Folder,
    LinkToNothing,
    LinkToItself,
    NotUtf8,
}

impl Instead {
    pub const ALL: [Instead; 4] = [
        Instead::Folder,
        Instead::LinkToNothing,
        Instead::LinkToItself,
        Instead::NotUtf8,
    ];

    pub fn put(self, path: &Path) {
        if !matches!(self, Instead::NotUtf8) {
            fs::remove_file(path).expect("our own");
        }
        match self {
            Instead::Folder => fs::create_dir(path).expect("our own"),
            Instead::LinkToNothing => symlink("nowhere", path).expect("our own"),
            Instead::LinkToItself => symlink(path.file_name().expect("a file"), path).expect("our own"),
            Instead::NotUtf8 => {
                let mut contents = fs::read(path).expect("our own");
                contents.extend(b"// \xff\n");
                fs::write(path, contents).expect("our own");
            }
        }
    }

    pub fn remove(self, path: &Path) {
        let removed = match self {
            Instead::Folder => fs::remove_dir(path),
            _ => fs::remove_file(path),
        };
        removed.unwrap_or_else(|error| panic!("{self:?} is not at {} any more: {error}", path.display()));
    }

    /// Whether this replacement is still at a path.
    pub fn is_at(self, path: &Path) -> bool {
        match self {
            Instead::Folder => path.is_dir(),
            Instead::LinkToNothing | Instead::LinkToItself => path.is_symlink(),
            Instead::NotUtf8 => fs::read(path).is_ok_and(|contents| contents.ends_with(b"\xff\n")),
        }
    }
}

/// All files that can be read.
pub fn readable(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("our own") {
            let path = entry.expect("our own").path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(contents) = fs::read(&path) {
                let name = path.strip_prefix(dir).expect("below").to_owned();
                found.insert(name, contents);
            }
        }
    }
    found.remove(Path::new(".krator/lock"));
    found
}
