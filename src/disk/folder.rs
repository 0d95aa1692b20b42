//! The folder of an existing crate that krator made. It can be read by anyone and is changed by one run at a time.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::{Error, cannot, journal};
use crate::changes::{Changes, Snapshot};
use crate::record::{self, STATE_DIR};

/// The folder of a crate that krator made.
#[derive(Debug)]
pub struct Folder {
    /// The path as the user wrote it, for messages.
    shown: PathBuf,
    /// The canonical path, without symbolic links.
    real: PathBuf,
}

/// An exclusive lock on a folder, across all processes. Only its holder may change the folder.
#[derive(Debug)]
pub struct Hold<'a> {
    folder: &'a Folder,
    _lock: File,
}

impl Folder {
    /// Opens the folder of a crate that krator made.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::NotOurs`] if the folder holds no such crate, and with [`Error::Io`] if it cannot be accessed.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let shown = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        let real = fs::canonicalize(shown).map_err(cannot("open", shown))?;
        if !real.join(record::MANIFEST).is_file() {
            return Err(Error::NotOurs(shown.to_owned()));
        }
        Ok(Folder {
            shown: shown.to_owned(),
            real,
        })
    }

    /// Whether an earlier run was interrupted while it changed files, so that the crate may be a mixture of old and new.
    pub fn is_interrupted(&self) -> bool {
        journal::is_committed(self)
    }

    /// Locks the folder, then completes or discards what an interrupted run left behind. If another run holds the lock,
    /// `on_wait` is called and this one waits.
    ///
    /// # Errors
    ///
    /// Fails if the lock cannot be taken, with [`Error::Journal`] if the journal of an interrupted run cannot be parsed,
    /// and with [`Error::Halfway`] if that run cannot be completed.
    pub fn hold(&self, on_wait: impl FnOnce()) -> Result<Hold<'_>, Error> {
        let path = self.real.join(STATE_DIR).join("lock");
        // The file itself means nothing and is never removed; the operating system releases the lock with the process.
        let options = File::options().create(true).append(true).open(&path);
        let lock = options.map_err(cannot("open", &path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                on_wait();
                lock.lock().map_err(cannot("lock", &path))?;
            }
            Err(TryLockError::Error(error)) => return Err(cannot("lock", &path)(error)),
        }
        journal::recover(self)?;
        Ok(Hold {
            folder: self,
            _lock: lock,
        })
    }

    /// Reads those of the given files that exist.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::Outside`] if a path leaves the crate, and with [`Error::Io`] if a file cannot be read.
    pub(crate) fn read<'a>(&self, paths: impl IntoIterator<Item = &'a str>) -> Result<Snapshot, Error> {
        let mut files = Vec::new();
        for path in paths {
            let Some(real) = self.resolve(path)? else { continue };
            match fs::read(&real) {
                Ok(contents) => files.push((path.to_owned(), contents)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(cannot("read", &self.shown.join(path))(error)),
            }
        }
        Ok(files.into_iter().collect())
    }

    /// The paths of all Rust files that cargo may compile: those below `src`, `tests`, `examples` and `benches`.
    /// Symbolic links are not followed.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::Io`] if one of these folders cannot be read.
    pub(crate) fn rust_files(&self) -> Result<Vec<String>, Error> {
        let mut found = Vec::new();
        let mut folders: Vec<String> = ["src", "tests", "examples", "benches"].map(str::to_owned).into();
        while let Some(folder) = folders.pop() {
            let shown = self.shown.join(&folder);
            let entries = match fs::read_dir(self.real.join(&folder)) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(cannot("read", &shown)(error)),
            };
            for entry in entries {
                let entry = entry.map_err(cannot("read", &shown))?;
                let file_type = entry.file_type().map_err(cannot("read", &shown))?;
                // A file whose name is not UTF-8 cannot be named by a `mod` declaration.
                let Ok(name) = entry.file_name().into_string() else {
                    continue;
                };
                let path = format!("{folder}/{name}");
                if file_type.is_dir() {
                    folders.push(path);
                } else if file_type.is_file() && name.ends_with(".rs") {
                    found.push(path);
                }
            }
        }
        found.sort();
        Ok(found)
    }

    /// The canonical path of the folder.
    pub(super) fn root(&self) -> &Path {
        &self.real
    }

    /// Resolves a path relative to the crate to a canonical path; `None` if it does not exist.
    fn resolve(&self, path: &str) -> Result<Option<PathBuf>, Error> {
        let outside = |to: &Path| Error::Outside {
            path: crate::text::printable(path),
            to: to.to_owned(),
        };
        // Some paths are read from the ownership manifest and the journal, which cannot be trusted.
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        if !Path::new(path).components().all(is_plain) || path.is_empty() {
            return Err(outside(Path::new(path)));
        }
        let whole = self.real.join(path);
        let real = match fs::canonicalize(&whole) {
            Ok(real) => real,
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(&whole).is_err() =>
            {
                return Ok(None);
            }
            Err(error) => return Err(cannot("open", &self.shown.join(path))(error)),
        };
        if real.starts_with(&self.real) {
            Ok(Some(real))
        } else {
            Err(outside(&real))
        }
    }

    /// Resolves a path that may not exist yet: its deepest existing ancestor is made canonical, so that no symbolic link
    /// on the way leads out of the crate.
    pub(super) fn resolve_new(&self, path: &str) -> Result<PathBuf, Error> {
        let mut missing = Vec::new();
        let mut there = Path::new(path);
        loop {
            if let Some(real) = self.resolve(&there.to_string_lossy())? {
                return Ok(missing.iter().rev().fold(real, |real, part| real.join(part)));
            }
            // `resolve` has checked that every component is a plain name, so `file_name` is never `None`.
            missing.extend(there.file_name());
            match there.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => there = parent,
                _ => {
                    return Ok(missing
                        .iter()
                        .rev()
                        .fold(self.real.clone(), |real, part| real.join(part)));
                }
            }
        }
    }
}

impl Hold<'_> {
    /// Makes all changes. If the process ends in between, the next [`Folder::hold`] either completes them or, if they
    /// were not committed yet, leaves the folder as it was.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::Unchanged`] if the changes could not be staged, in which case no file was changed, and with
    /// [`Error::Halfway`] if they were committed but not all of them could be applied.
    pub fn apply(&self, changes: &Changes) -> Result<(), Error> {
        if changes.is_empty() {
            return Ok(());
        }
        journal::apply(self.folder, changes)
    }
}
