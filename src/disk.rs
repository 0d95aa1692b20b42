//! The only room that touches the file system.
//!
//! [`create`] makes a new folder, whole or not at all; a [`Folder`] is one that is there, which is read, and changed by
//! a journal, again wholly or not at all.

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

/// Why a plan did not reach the disk.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder is a crate that krator made.
    #[error("`{}` holds a crate that krator made: change its krator.yaml and use `krator gen` there", .0.display())]
    IsOurs(PathBuf),
    /// The folder has something in it.
    #[error("`{}` is not empty", .0.display())]
    NotEmpty(PathBuf),
    /// Something else is there.
    #[error("`{}` is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// There is no crate of ours.
    #[error("`{}` is no crate that krator made: `krator new` makes one", .0.display())]
    NotOurs(PathBuf),
    /// A path that leads out of the crate, by a symbolic link or by itself.
    #[error("`{path}` leads out of the crate, to `{}`: krator reads and writes nothing there", to.display())]
    Outside {
        /// The path in the crate.
        path: String,
        /// Where it leads.
        to: PathBuf,
    },
    /// A run was cut short, and only looking was asked for.
    #[error("a run of krator was cut short here: `krator gen` ends it")]
    Interrupted,
    /// The journal does not tell what there is to do.
    #[error("cannot read the journal `{}`: {cause}; remove its folder, and compare the crate with version control", path.display())]
    Journal {
        /// The journal.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// The system said no before anything was changed.
    #[error("nothing was changed: {0}")]
    Unchanged(Box<Error>),
    /// The system said no in the middle.
    #[error("{0}; some files are changed already: once that is mended, `krator gen` ends what it began")]
    Halfway(Box<Error>),
    /// The system said no.
    #[error("cannot {what} `{}`: {source}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// On which path.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

fn cannot(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { what, path, source }
}

/// Reads a file that may be anywhere. Of one that is larger than `limit`, only `limit` bytes and one more are read, so
/// that the caller can refuse it without loading all of it.
///
/// # Errors
///
/// If the file cannot be opened or read.
pub(crate) fn read(path: &Path, limit: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(cannot("read", path))?;
    let read = file.take(limit as u64 + 1).read_to_end(&mut bytes);
    read.map_err(cannot("read", path)).map(|_| bytes)
}

/// Writes a plan as a new folder. It appears whole, by one rename, or not at all; an empty folder of that name is
/// replaced, anything else is left alone and an error.
pub fn create(folder: &Path, plan: &Plan) -> Result<(), Error> {
    check_vacant(folder)?;
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent).map_err(cannot("create the folder", parent))?;
    // In the same folder, so that the rename stays within one file system; removed again whatever happens.
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
        // Where a rename does not replace an empty folder, it is removed first.
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
    fn a_new_folder_appears_whole_and_nothing_else_stays() {
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
    fn what_is_there_is_left_alone() {
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
