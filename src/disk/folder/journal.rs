//! A write-ahead journal that applies all changes of a run or none of them, even if the run is interrupted.
//!
//! The new contents are first staged in `.krator/journal/`, one file for each change, together with a list that says
//! which file each of them replaces. Renaming that list to `operations.json` commits the run. The next run discards a
//! journal that was not committed. The changes of a committed journal are renamed into place one by one, by the same run
//! or, if that was interrupted, by the next one; then the list is removed.
//!
//! A file that was edited after the interruption no longer matches the hash in the journal. It is left unchanged, and the
//! next comparison reports it as it would report any other edit.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Folder;
use crate::changes::Changes;
use crate::disk::{Error, cannot, operations};
use crate::record::{STATE_DIR, hash_bytes};

#[cfg(test)]
mod tests;

/// One change, with the hashes of the file before and after it; `None` if the file does not exist.
#[derive(Debug, Serialize, Deserialize)]
struct FileStep {
    path: String,
    before: Option<String>,
    after: Option<String>,
}

/// The journal of a crate.
struct Journal<'a> {
    folder: &'a Folder,
    path: PathBuf,
}

impl<'a> Journal<'a> {
    fn of(folder: &'a Folder) -> Self {
        let path = folder.root().join(STATE_DIR).join("journal");
        Journal { folder, path }
    }

    /// The path of the list of steps, which exists only once the run is committed.
    fn list(&self) -> PathBuf {
        self.path.join("operations.json")
    }

    /// The path at which the new contents of a step are staged.
    fn staged(&self, number: usize) -> PathBuf {
        self.path.join(number.to_string())
    }
}

/// Whether a run was committed but not completed.
pub(super) fn is_committed(folder: &Folder) -> bool {
    Journal::of(folder).list().exists()
}

/// Completes a run that was committed and discards one that was not.
pub(super) fn recover(folder: &Folder) -> Result<(), Error> {
    let journal = Journal::of(folder);
    let path = journal.list();
    match fs::read(&path) {
        Ok(text) => {
            let steps: Vec<FileStep> =
                serde_json::from_slice(&text).map_err(|error| unreadable(&path, &error))?;
            finish(&journal, &steps).map_err(|error| Error::Halfway(Box::new(error)))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => drop_all(&journal),
        Err(error) => Err(cannot("read", &path)(error)),
    }
}

/// Makes the changes of a run. The caller has already recovered, so no other journal exists.
pub(super) fn apply(folder: &Folder, changes: &Changes) -> Result<(), Error> {
    let journal = Journal::of(folder);
    let steps = match stage(&journal, changes) {
        Ok(steps) => steps,
        Err(error) => {
            // The first error is the one to report; the next run discards the journal if this does not.
            let _ = drop_all(&journal);
            return Err(Error::Unchanged(Box::new(error)));
        }
    };
    finish(&journal, &steps).map_err(|error| Error::Halfway(Box::new(error)))
}

/// Stages all changes and commits the run.
fn stage(journal: &Journal<'_>, changes: &Changes) -> Result<Vec<FileStep>, Error> {
    operations::create_folder(&journal.path).map_err(cannot("create the folder", &journal.path))?;
    let mut steps = Vec::new();
    for (number, (path, change)) in changes.iter().enumerate() {
        let place = place(journal.folder, path, change.after.is_none())?;
        is_writable(&place)?;
        if let Some(contents) = &change.after {
            let draft = journal.staged(number);
            operations::write(&draft, contents).map_err(cannot("write", &draft))?;
            if place.is_file() {
                operations::copy_permissions(&place, &draft).map_err(cannot("write", &draft))?;
            }
        }
        let hash = |contents: &Option<Vec<u8>>| contents.as_deref().map(hash_bytes);
        steps.push(FileStep {
            path: path.to_owned(),
            before: hash(&change.before),
            after: hash(&change.after),
        });
    }
    let (draft, list) = (journal.path.join("operations.draft"), journal.list());
    let text = serde_json::to_vec_pretty(&steps).map_err(|error| unreadable(&list, &error))?;
    operations::write(&draft, &text).map_err(cannot("write", &draft))?;
    operations::sync_folder(&journal.path);
    operations::rename(&draft, &list).map_err(cannot("write", &list))?;
    operations::sync_folder(&journal.path);
    Ok(steps)
}

/// The path of a change.
fn place(folder: &Folder, path: &str, is_removed: bool) -> Result<PathBuf, Error> {
    if is_removed {
        folder.resolve_removed(path)
    } else {
        folder.resolve_new(path)
    }
}

/// Checks that the folder of a path is writable by creating an unnamed temporary file in it, so that a missing
/// permission is found before the run is committed.
fn is_writable(place: &Path) -> Result<(), Error> {
    // An existing ancestor is always found, because the folder of the crate exists.
    let folder = place
        .ancestors()
        .skip(1)
        .find(|folder| folder.exists())
        .unwrap_or(place);
    tempfile::tempfile_in(folder).map_err(cannot("write into", folder))?;
    Ok(())
}

/// Applies the steps that have not been applied yet, then removes the journal.
fn finish(journal: &Journal<'_>, steps: &[FileStep]) -> Result<(), Error> {
    for (number, step) in steps.iter().enumerate() {
        let place = place(journal.folder, &step.path, step.after.is_none())?;
        let now = match fs::read(&place) {
            Ok(contents) => Some(hash_bytes(&contents)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(cannot("read", &place)(error)),
        };
        let is_ours = now == step.before && now != step.after;
        let folder = place.parent().unwrap_or(&place);
        match step.after {
            Some(_) if is_ours => {
                operations::create_folder(folder).map_err(cannot("create the folder", folder))?;
                operations::rename(&journal.staged(number), &place).map_err(cannot("write", &place))?;
            }
            None if is_ours => operations::remove_file(&place).map_err(cannot("remove", &place))?,
            _ => {}
        }
        operations::sync_folder(folder);
        if step.after.is_none() {
            remove_empty(journal.folder, folder);
        }
    }
    let list = journal.list();
    operations::remove_file(&list).map_err(cannot("remove", &list))?;
    drop_all(journal)
}

/// Removes a folder and its ancestors inside the crate, up to the first that is not empty.
fn remove_empty(folder: &Folder, from: &Path) {
    let within = from.ancestors().take_while(|above| *above != folder.root());
    for above in within {
        match operations::remove_folder(above) {
            Ok(()) => {}
            // The interrupted run has removed it already.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // A folder that is in use or cannot be removed does no harm.
            Err(_) => return,
        }
    }
}

/// Removes the journal and everything staged in it.
fn drop_all(journal: &Journal<'_>) -> Result<(), Error> {
    let path = &journal.path;
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(cannot("read", path)(error)),
    };
    for entry in entries {
        let entry = entry.map_err(cannot("read", path))?.path();
        operations::remove_file(&entry).map_err(cannot("remove", &entry))?;
    }
    operations::remove_folder(path).map_err(cannot("remove", path))
}

fn unreadable(path: &Path, cause: &serde_json::Error) -> Error {
    Error::Journal {
        path: path.to_owned(),
        cause: cause.to_string(),
    }
}
