//! The folder of an existing crate that krator made. Any number of processes may read it, but only one run at a time
//! changes it.

mod journal;

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::{Error, cannot};
use crate::changes::{Changes, Snapshot, Unreadable};
use crate::record::{self, STATE_DIR};
use crate::text::printable;

/// The maximum size of a file of a crate that is read, which is far above that of files written by hand.
const LARGEST_FILE: u64 = 64 << 20;

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
    lock: File,
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        // A child process that another thread is starting has the file open as well, until it runs its program, and
        // would keep the lock if the file was only closed. After an error, the operating system releases the lock.
        let _ = self.lock.unlock();
    }
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
        // Anything at this path makes the folder a crate of krator's, even if it turns out to be unreadable.
        if !is_there(&real.join(record::LIST)) {
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
        // The file has no meaning of its own and is never removed; the operating system releases the lock with the
        // process.
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
        let hold = Hold { folder: self, lock };
        journal::recover(self)?;
        Ok(hold)
    }

    /// Reads the given files: those that exist are in the snapshot, whether they can be read or not.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::Outside`] if a path leaves the crate.
    pub(crate) fn read<'a>(&self, paths: impl IntoIterator<Item = &'a str>) -> Result<Snapshot, Error> {
        let mut files = Snapshot::default();
        for path in paths {
            let real = match self.resolve(path) {
                Ok(Some(real)) => real,
                Ok(None) => continue,
                Err(Unresolved::Outside(error)) => return Err(error),
                Err(Unresolved::Unreadable(unreadable)) => {
                    files.add_unreadable(path, unreadable);
                    continue;
                }
            };
            match contents(&real) {
                Ok(bytes) => files.add(path, bytes),
                Err(unreadable) => files.add_unreadable(path, unreadable),
            }
        }
        Ok(files)
    }

    /// The paths of the files that a run may have to read or move although no plan names them: everything below `src`,
    /// the Rust files below the other folders that cargo compiles, the files that earlier runs have set aside, the
    /// bases of merges, and the promised description. Symbolic links to folders are not followed.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::Io`] if one of these folders cannot be read.
    pub(crate) fn list(&self) -> Result<Vec<String>, Error> {
        let mut found = self.below("src")?;
        for folder in ["tests", "examples", "benches"] {
            let files = self.below(folder)?;
            found.extend(files.into_iter().filter(|path| path.ends_with(".rs")));
        }
        for member in self.members()? {
            for folder in ["src", "tests"] {
                let files = self.below(&format!("{member}/{folder}"))?;
                found.extend(files.into_iter().filter(|path| path.ends_with(".rs")));
            }
        }
        found.extend(self.below(record::PRUNED)?);
        found.extend(self.below(record::BASE)?);
        found.extend(self.below(record::PROMISED)?);
        found.sort();
        Ok(found)
    }

    /// The folders with other packages, such as the members of a workspace: at the top level, or one level below.
    fn members(&self) -> Result<Vec<String>, Error> {
        let mut found = Vec::new();
        for folder in self.folders("")? {
            if ["target", "vendor"].contains(&folder.as_str()) {
                continue;
            }
            let inner = self.folders(&folder)?;
            let inner = inner.into_iter().map(|name| format!("{folder}/{name}"));
            let all = inner.chain([folder.clone()]);
            found.extend(all.filter(|folder| self.real.join(folder).join("Cargo.toml").is_file()));
        }
        Ok(found)
    }

    /// The names of the visible folders in a folder of the crate.
    fn folders(&self, folder: &str) -> Result<Vec<String>, Error> {
        let shown = self.shown_path(folder);
        let mut found = Vec::new();
        for entry in fs::read_dir(self.real.join(folder)).map_err(cannot("read", &shown))? {
            let entry = entry.map_err(cannot("read", &shown))?;
            let is_folder = entry.file_type().map_err(cannot("read", &shown))?.is_dir();
            if let (true, Ok(name)) = (is_folder, entry.file_name().into_string())
                && !name.starts_with('.')
            {
                found.push(name);
            }
        }
        Ok(found)
    }

    /// The paths of all files below a folder of the crate; none if there is no such folder.
    fn below(&self, folder: &str) -> Result<Vec<String>, Error> {
        let mut found = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            let shown = self.shown_path(&folder);
            let entries = match fs::read_dir(self.real.join(&folder)) {
                Ok(entries) => entries,
                Err(error)
                    if [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory].contains(&error.kind()) =>
                {
                    continue;
                }
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
                    // A folder may be where a `mod` declaration or the record expects a file.
                    if record::is_base(&path) || name.ends_with(".rs") {
                        found.push(path.clone());
                    }
                    folders.push(path);
                } else if file_type.is_file() || file_type.is_symlink() && self.is_link_to_file(&path) {
                    found.push(path);
                }
            }
        }
        Ok(found)
    }

    /// Whether a symbolic link leads to a file of the crate, even if that cannot be read. Links to folders and out of
    /// the crate are ignored, and so are hidden links, with which editors lock files.
    fn is_link_to_file(&self, path: &str) -> bool {
        match self.resolve(path) {
            _ if path.rsplit('/').next().is_some_and(|name| name.starts_with('.')) => false,
            Ok(real) => real.is_some_and(|real| !real.is_dir()),
            Err(Unresolved::Unreadable(_)) => true,
            Err(Unresolved::Outside(_)) => false,
        }
    }

    /// The canonical path of the folder.
    pub(super) fn root(&self) -> &Path {
        &self.real
    }

    /// The path by which messages name a file of the crate: from the current folder, as the user named the crate.
    pub(crate) fn shown(&self, path: &str) -> String {
        printable(&self.shown_path(path).display().to_string())
    }

    fn shown_path(&self, path: &str) -> PathBuf {
        if self.shown == Path::new(".") {
            PathBuf::from(path)
        } else {
            self.shown.join(path)
        }
    }

    /// Resolves a path relative to the crate to a canonical path; `None` if it does not exist.
    fn resolve(&self, path: &str) -> Result<Option<PathBuf>, Unresolved> {
        let outside = |to: &Path| {
            Unresolved::Outside(Error::Outside {
                path: printable(path),
                to: to.to_owned(),
            })
        };
        // Some paths are read from the ownership manifest and the journal, which cannot be trusted.
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        if !Path::new(path).components().all(is_plain) || path.is_empty() {
            return Err(outside(Path::new(path)));
        }
        match fs::canonicalize(self.real.join(path)) {
            Ok(real) if real.starts_with(&self.real) => Ok(Some(real)),
            Ok(real) => Err(outside(&real)),
            Err(error) => match self.obstacle(path, &error) {
                None => Ok(None),
                Some(why) => Err(Unresolved::Unreadable(Unreadable::because(why))),
            },
        }
    }

    /// Why a path cannot be resolved; `None` if nothing exists there.
    fn obstacle(&self, path: &str, error: &io::Error) -> Option<String> {
        let mut part = String::new();
        for name in path.split('/') {
            if !part.is_empty() {
                part.push('/');
            }
            part.push_str(name);
            let whole = self.real.join(&part);
            let shown = if part == path {
                "it".to_owned()
            } else {
                format!("`{}`", printable(&part))
            };
            match fs::symlink_metadata(&whole) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
                Ok(found) if found.is_symlink() => match fs::canonicalize(&whole) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {
                        return Some(format!("{shown} is a broken symbolic link"));
                    }
                    Err(error) => return Some(format!("{shown} is a symbolic link: {error}")),
                    Ok(_) => {}
                },
                Ok(found) if part != path && !found.is_dir() => {
                    return Some(format!("{shown} is not a folder"));
                }
                _ => {}
            }
        }
        Some(error.to_string())
    }

    /// Resolves a path that may not exist yet: its deepest existing ancestor is made canonical, so that no symbolic link
    /// on the way leads out of the crate.
    pub(super) fn resolve_new(&self, path: &str) -> Result<PathBuf, Error> {
        let mut missing = Vec::new();
        let mut there = Path::new(path);
        loop {
            let real = self.resolve(&there.to_string_lossy());
            if let Some(real) = real.map_err(|error| self.unresolved(path, error))? {
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

    /// Resolves the path of a file that is to be removed. For a symbolic link, this is the path of the link and not
    /// that of its target.
    pub(super) fn resolve_removed(&self, path: &str) -> Result<PathBuf, Error> {
        match path.rsplit_once('/') {
            // Also checks the last component.
            Some((folder, name)) => {
                self.resolve_new(path)?;
                Ok(self.resolve_new(folder)?.join(name))
            }
            None => self.resolve_new(path).map(|_| self.real.join(path)),
        }
    }

    fn unresolved(&self, path: &str, error: Unresolved) -> Error {
        match error {
            Unresolved::Outside(error) => error,
            Unresolved::Unreadable(why) => Error::Unreadable {
                path: self.shown_path(path),
                why,
            },
        }
    }
}

/// The reason why krator must not use the file at a path of a crate.
enum Unresolved {
    Outside(Error),
    Unreadable(Unreadable),
}

/// Whether anything is at a path, even something that cannot be read.
fn is_there(path: &Path) -> bool {
    !matches!(fs::symlink_metadata(path), Err(error) if error.kind() == io::ErrorKind::NotFound)
}

fn contents(path: &Path) -> Result<Vec<u8>, Unreadable> {
    let failed = |error: io::Error| Unreadable::because(error.to_string());
    let found = fs::metadata(path).map_err(failed)?;
    if found.is_dir() {
        return Err(Unreadable::because("it is a folder"));
    }
    // Reading a pipe or a device could block forever.
    if !found.is_file() {
        return Err(Unreadable::because("it is not a regular file"));
    }
    if found.len() > LARGEST_FILE {
        let limit = LARGEST_FILE >> 20;
        return Err(Unreadable::because(format!("it is larger than {limit} MiB")));
    }
    fs::read(path).map_err(failed)
}

impl Hold<'_> {
    /// Makes all changes. If the process ends in between, the next [`Folder::hold`] either completes them or, if they
    /// were not committed, leaves the folder as it was.
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
