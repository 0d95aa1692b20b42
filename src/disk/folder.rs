//! The folder of a crate that krator made: found, read, and held by one run at a time.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::{Error, cannot, journal};
use crate::changes::{Changes, Snapshot};
use crate::record::{self, STATE_DIR};

/// The folder of a crate that krator made.
#[derive(Debug)]
pub struct Folder {
    /// As the user named it, for messages.
    shown: PathBuf,
    /// With no symbolic link in it.
    real: PathBuf,
}

/// The right to change a folder: there is one at a time, in all processes.
#[derive(Debug)]
pub struct Hold<'a> {
    folder: &'a Folder,
    _lock: File,
}

impl Folder {
    /// The crate in a folder, which has to be one that krator made.
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

    /// Whether a run was cut short here, so that the files are neither the old nor the new ones.
    pub fn is_interrupted(&self) -> bool {
        journal::is_committed(self)
    }

    /// Takes the right to change the folder, and first ends what a run that was cut short began. `on_wait` is called
    /// when another run has it: this one waits.
    pub fn hold(&self, on_wait: impl FnOnce()) -> Result<Hold<'_>, Error> {
        let path = self.real.join(STATE_DIR).join("lock");
        // Made anew or found: what counts is the lock, which ends with the process that has it.
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

    /// Reads files, those of them that are there.
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
                // What is not UTF-8 is no module that Rust could name.
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

    /// The folder, with no symbolic link in it.
    pub(super) fn root(&self) -> &Path {
        &self.real
    }

    /// The place of a path of the crate, with no symbolic link in it; nothing where a folder on the way is missing.
    fn resolve(&self, path: &str) -> Result<Option<PathBuf>, Error> {
        let outside = |to: &Path| Error::Outside {
            path: crate::text::printable(path),
            to: to.to_owned(),
        };
        // Paths come from the ownership manifest too, which anybody may have written.
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

    /// Where a path that may not be there yet would be: the deepest folder that is there decides.
    pub(super) fn resolve_new(&self, path: &str) -> Result<PathBuf, Error> {
        let mut missing = Vec::new();
        let mut there = Path::new(path);
        loop {
            if let Some(real) = self.resolve(&there.to_string_lossy())? {
                return Ok(missing.iter().rev().fold(real, |real, part| real.join(part)));
            }
            // `resolve` has seen that all parts are plain names.
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
    /// Makes all changes or, as far as it can be known before, none: see [`Error::Unchanged`] and [`Error::Halfway`].
    /// Whenever the process ends, the next [`Folder::hold`] leaves the folder as it was or as it shall be.
    pub fn apply(&self, changes: &Changes) -> Result<(), Error> {
        if changes.is_empty() {
            return Ok(());
        }
        journal::apply(self.folder, changes)
    }
}
