//! The only module of the library that touches the file system.
//!
//! [`create`] writes a new folder atomically. A [`Folder`] is an existing crate: it can be read, and it is changed
//! through a journal so that a run is applied completely or not at all.

mod folder;
mod journal;
mod operations;

pub use folder::{Folder, Hold};

use crate::plan::Plan;
use crate::record::STATE_DIR;
use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

/// Why an operation on the disk failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder of a new crate already holds a crate that krator made.
    #[error("`{}` holds a crate that krator made: change its krator.yaml and use `krator gen` there", .0.display())]
    IsOurs(PathBuf),
    /// The folder of a new crate is not empty.
    #[error("`{}` is not empty", .0.display())]
    NotEmpty(PathBuf),
    /// The path of a new crate exists and is not a folder.
    #[error("`{}` is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// The folder does not hold a crate that krator made.
    #[error("`{}` is no crate that krator made: `krator new` makes one", .0.display())]
    NotOurs(PathBuf),
    /// A path leaves the crate, through a symbolic link or because it is absolute or contains `..`.
    #[error("`{path}` leads out of the crate, to `{}`: krator reads and writes nothing there", to.display())]
    Outside {
        /// The path in the crate.
        path: String,
        /// The location that it resolves to.
        to: PathBuf,
    },
    /// An earlier run was interrupted, and a command that only reads cannot complete it.
    #[error("an earlier run of krator was interrupted here: `krator gen` completes it")]
    Interrupted,
    /// The journal of an interrupted run cannot be parsed, so the run can be neither completed nor undone.
    #[error("cannot read the journal `{}`: {cause}; remove its folder, and compare the crate with version control", path.display())]
    Journal {
        /// The path of the journal.
        path: PathBuf,
        /// Why it could not be parsed.
        cause: String,
    },
    /// An operation failed before any file of the crate was changed.
    #[error("nothing was changed: {0}")]
    Unchanged(Box<Error>),
    /// An operation failed after the run was committed, so some files may have been changed already.
    #[error(
        "{0}; some files were changed already: once the problem is fixed, `krator gen` completes the run"
    )]
    Halfway(Box<Error>),
    /// The operating system reported an error.
    #[error("cannot {what} `{}`: {source}", path.display())]
    Io {
        /// The operation that failed, as a verb phrase for the message.
        what: &'static str,
        /// The path that it was applied to.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

fn cannot(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { what, path, source }
}

/// Reads a file, which need not be inside a crate. At most `limit + 1` bytes are read, so that the caller can refuse a
/// file that is too large without loading all of it.
///
/// # Errors
///
/// Fails if the file cannot be opened or read.
pub(crate) fn read(path: &Path, limit: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(cannot("read", path))?;
    let read = file.take(limit as u64 + 1).read_to_end(&mut bytes);
    read.map_err(cannot("read", path)).map(|_| bytes)
}

/// Writes a plan as a new folder. The files are written to a temporary folder, which is then renamed, so that the new
/// folder is never visible half-written. An existing empty folder is replaced.
///
/// # Errors
///
/// Fails with [`Error::IsOurs`], [`Error::NotEmpty`] or [`Error::NotAFolder`] if anything but an empty folder exists at
/// the path, which is then left unchanged, and with [`Error::Io`] if the files cannot be written.
pub fn create(folder: &Path, plan: &Plan) -> Result<(), Error> {
    check_vacant(folder)?;
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent).map_err(cannot("create the folder", parent))?;
    // The temporary folder is next to the target, because a rename cannot cross file systems. It is removed on drop.
    let draft = tempfile::Builder::new()
        .prefix(".krator-")
        .tempdir_in(parent)
        .map_err(cannot("create a folder in", parent))?;
    let whole = draft.path().join("crate");
    for (path, file) in plan.files() {
        let path = whole.join(path);
        let within = path.parent().unwrap_or(&whole);
        fs::create_dir_all(within).map_err(cannot("create the folder", within))?;
        fs::write(&path, &file.contents).map_err(cannot("write", &path))?;
    }
    match fs::rename(&whole, folder) {
        // On some platforms a rename does not replace an empty folder, so the folder is removed first.
        Err(_) if folder.is_dir() => {
            fs::remove_dir(folder).map_err(cannot("replace", folder))?;
            fs::rename(&whole, folder).map_err(cannot("create", folder))
        }
        renamed => renamed.map_err(cannot("create", folder)),
    }
}

fn check_vacant(folder: &Path) -> Result<(), Error> {
    let mut entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(Error::NotAFolder(folder.to_owned()));
        }
        Err(error) => return Err(cannot("read", folder)(error)),
    };
    if folder.join(STATE_DIR).is_dir() {
        return Err(Error::IsOurs(folder.to_owned()));
    }
    match entries.next() {
        None => Ok(()),
        Some(_) => Err(Error::NotEmpty(folder.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Ownership;

    fn plan() -> Plan {
        let mut plan = Plan::default();
        plan.add("src/a.rs", Ownership::Seeded, "a\n");
        plan.add("b", Ownership::Generated, "b\n");
        plan
    }

    #[test]
    fn creating_a_folder_leaves_no_temporary_files() {
        let home = tempfile::tempdir().expect("a folder for the test");
        let folder = home.path().join("new/moose");
        create(&folder, &plan()).expect("a vacant place");
        assert_eq!(
            fs::read_to_string(folder.join("src/a.rs")).expect("the file"),
            "a\n"
        );
        let beside: Vec<_> = fs::read_dir(home.path().join("new"))
            .expect("the parent")
            .collect();
        assert_eq!(beside.len(), 1);
    }

    #[test]
    fn only_an_empty_folder_is_replaced() {
        let home = tempfile::tempdir().expect("a folder for the test");
        let at = |name: &str| home.path().join(name);
        fs::create_dir(at("empty")).expect("empty");
        create(&at("empty"), &plan()).expect("an empty folder is vacant");
        fs::create_dir_all(at("full/sub")).expect("full");
        assert!(matches!(create(&at("full"), &plan()), Err(Error::NotEmpty(_))));
        fs::create_dir_all(at("ours").join(STATE_DIR)).expect("ours");
        assert!(matches!(create(&at("ours"), &plan()), Err(Error::IsOurs(_))));
        fs::write(at("file"), "x").expect("file");
        assert!(matches!(create(&at("file"), &plan()), Err(Error::NotAFolder(_))));
        assert_eq!(fs::read_to_string(at("file")).expect("the file"), "x");
    }
}
