//! The only module of the library that touches the file system.
//!
//! [`create`] writes a new folder atomically. A [`Folder`] is an existing crate: it can be read, and it is changed
//! through a journal so that a run is applied completely or not at all.

mod folder;
mod operations;

pub use folder::{Folder, Hold};

use crate::changes::Unreadable;
use crate::plan::Plan;
use crate::record::STATE_DIR;
use crate::spec::{Files, LARGEST_SCHEMA};
use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

/// Why an operation on the disk failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder of a new crate already holds a crate that krator made.
    #[error("`{}` already has a crate of krator: edit its krator.yaml and run `krator gen` there", .0.display())]
    IsOurs(PathBuf),
    /// The folder of a new crate is not empty.
    #[error("`{}` is not empty: name a new folder", .0.display())]
    NotEmpty(PathBuf),
    /// The path of a new crate exists and is not a folder.
    #[error("`{}` is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// The folder of a new crate is the current one, and cannot be replaced by the crate.
    #[error("`{}` is the current folder, but krator creates the folder of a crate: name a new folder", .0.display())]
    InUse(PathBuf),
    /// The folder does not hold a crate that krator made.
    #[error("`{}` is not the folder of a krator crate; create one with `krator new`", .0.display())]
    NotOurs(PathBuf),
    /// A path leaves the crate, through a symbolic link or because it is absolute or contains `..`.
    #[error("`{path}` leads out of the crate, to `{}`, where krator reads and writes nothing", to.display())]
    Outside {
        /// The path in the crate.
        path: String,
        /// The location that it resolves to.
        to: PathBuf,
    },
    /// A file or folder at a path of the crate cannot be read or replaced.
    #[error("cannot read `{}`: {why}", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The reason.
        why: Unreadable,
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
    #[error("cannot {what} `{}`: {cause}", path.display())]
    Io {
        /// The operation that failed, as a verb phrase for the message.
        what: &'static str,
        /// The path that it was applied to.
        path: PathBuf,
        /// The error of the operating system. The message includes it, so that it is not a source.
        cause: io::Error,
    },
}

fn cannot(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |cause| Error::Io { what, path, cause }
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

/// Reads the files that a description in this folder names; see [`named_files`](crate::spec::named_files). For an
/// unreadable file, the result has the reason. No symbolic link is followed, so that nothing outside of the folder is
/// read.
pub fn read_named(folder: &Path, paths: impl IntoIterator<Item = String>) -> Files {
    let mut files = Files::default();
    for path in paths {
        let text = named_file(folder, &path);
        files.add(path, text);
    }
    files
}

fn named_file(folder: &Path, path: &str) -> Result<String, String> {
    let mut real = folder.to_owned();
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => "it is not there".to_owned(),
        _ => error.to_string(),
    };
    for part in path.split('/') {
        real.push(part);
        if fs::symlink_metadata(&real).map_err(failed)?.is_symlink() {
            return Err(format!(
                "`{part}` is a symbolic link, which krator does not follow here"
            ));
        }
    }
    // Reading a pipe or a device could block forever.
    if !fs::symlink_metadata(&real).map_err(failed)?.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(&real).map_err(failed)?;
    let read = file.take(LARGEST_SCHEMA as u64 + 1).read_to_end(&mut bytes);
    read.map_err(failed)?;
    if bytes.len() > LARGEST_SCHEMA {
        return Err(format!("it is larger than {} MiB", LARGEST_SCHEMA >> 20));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}

/// Writes a plan as a new folder. The files are written to a temporary folder next to it, which is then renamed, so that the
/// new folder is never visible half-written. An existing empty folder is replaced.
///
/// # Errors
///
/// Fails with [`Error::IsOurs`], [`Error::NotEmpty`], [`Error::NotAFolder`] or [`Error::InUse`] if anything but an empty
/// folder exists at the path, which is then left unchanged, and with [`Error::Io`] if the files cannot be written.
pub fn create(folder: &Path, plan: &Plan) -> Result<(), Error> {
    check_vacant(folder)?;
    // A symbolic link to an empty folder is kept, and the folder is replaced.
    let folder = &fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    operations::create_folder(parent).map_err(cannot("create the folder", parent))?;
    operations::fault().map_err(cannot("create a folder in", parent))?;
    let draft = tempfile::Builder::new().prefix(".krator-new-").tempdir_in(parent);
    let draft = draft.map_err(cannot("create a folder in", parent))?;
    // Only its owner may read the temporary folder itself.
    let whole = draft.path().join("crate");
    for (path, file) in plan.files() {
        let path = whole.join(path);
        let within = path.parent().unwrap_or(&whole);
        operations::create_folder(within).map_err(cannot("create the folder", within))?;
        operations::write_draft(&path, file.contents.as_bytes()).map_err(cannot("write", &path))?;
    }
    match operations::rename(&whole, folder) {
        // On some platforms a rename does not replace an empty folder, so the folder is removed first.
        Err(_) if folder.is_dir() => {
            operations::remove_folder(folder).map_err(cannot("replace", folder))?;
            operations::rename(&whole, folder).map_err(cannot("create", folder))
        }
        renamed => renamed.map_err(cannot("create", folder)),
    }
}

fn check_vacant(folder: &Path) -> Result<(), Error> {
    let is_link = folder.is_symlink();
    let mut entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !is_link => return Ok(()),
        Err(error) if [io::ErrorKind::NotADirectory, io::ErrorKind::NotFound].contains(&error.kind()) => {
            return Err(Error::NotAFolder(folder.to_owned()));
        }
        Err(error) => return Err(cannot("read", folder)(error)),
    };
    if folder.join(STATE_DIR).is_dir() {
        return Err(Error::IsOurs(folder.to_owned()));
    }
    if entries.next().is_some() {
        return Err(Error::NotEmpty(folder.to_owned()));
    }
    // A process whose current folder is replaced would continue in one that no longer exists.
    let here = fs::canonicalize(".").map_err(cannot("open", Path::new(".")))?;
    let real = fs::canonicalize(folder).map_err(cannot("open", folder))?;
    if here.starts_with(real) {
        return Err(Error::InUse(folder.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Ownership;
    use operations::faults::{Fault, under};

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
    fn a_run_that_fails_leaves_a_whole_crate_or_nothing() {
        let run = |home: &Path, fault| under(fault, || create(&home.join("moose"), &plan()));
        let home = tempfile::tempdir().expect("a folder for the test");
        let (done, operations) = run(home.path(), None);
        done.expect("a vacant place");
        for at in 0..operations {
            let home = tempfile::tempdir().expect("a folder for the test");
            let (failed, _) = run(home.path(), Some(Fault::Killed(at)));
            let is_there = home.path().join("moose").exists();
            assert!(is_there || failed.is_err(), "failed at {at}");
            assert!(!is_there || home.path().join("moose/src/a.rs").exists());
            let names = fs::read_dir(home.path()).expect("the parent").count();
            assert_eq!(names, usize::from(is_there), "failed at {at}");
        }
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
