//! All changes of a run, or none, whenever it is cut short.
//!
//! What is to be written is first written into `.krator/journal/`, a file a change, with the list of what goes where. The
//! list gets its name, `operations.json`, last: up to that moment the run has not happened, and what lies there is
//! dropped by the next one. From that moment on it has: file after file is renamed into its place, by this run or by the
//! next one, and then the list is removed.
//!
//! A file that somebody changed after a run was cut short is not what the journal knows, and stays as it is: what krator
//! would do about it is for the next comparison to say.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Error, Folder, cannot, operations};
use crate::changes::Changes;
use crate::record::{STATE_DIR, hash_bytes};

#[cfg(test)]
mod tests;

/// One change: hashes of what is at a path before and after it; none where there is no file.
#[derive(Debug, Serialize, Deserialize)]
struct Step {
    path: String,
    before: Option<String>,
    after: Option<String>,
}

/// The folder of the journal.
struct Journal<'a> {
    folder: &'a Folder,
    path: PathBuf,
}

impl<'a> Journal<'a> {
    fn of(folder: &'a Folder) -> Self {
        let path = folder.root().join(STATE_DIR).join("journal");
        Journal { folder, path }
    }

    /// What is to be done, once it is certain that it shall be.
    fn list(&self) -> PathBuf {
        self.path.join("operations.json")
    }

    /// Where the new contents of a step lie.
    fn staged(&self, number: usize) -> PathBuf {
        self.path.join(number.to_string())
    }
}

/// Whether there is something to end.
pub(super) fn is_committed(folder: &Folder) -> bool {
    Journal::of(folder).list().exists()
}

/// Ends what was committed, drops what was not.
pub(super) fn recover(folder: &Folder) -> Result<(), Error> {
    let journal = Journal::of(folder);
    let path = journal.list();
    match fs::read(&path) {
        Ok(text) => {
            let steps: Vec<Step> =
                serde_json::from_slice(&text).map_err(|error| unreadable(&path, &error))?;
            finish(&journal, &steps).map_err(|error| Error::Halfway(Box::new(error)))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => drop_all(&journal),
        Err(error) => Err(cannot("read", &path)(error)),
    }
}

/// Makes the changes; there is no journal yet.
pub(super) fn apply(folder: &Folder, changes: &Changes) -> Result<(), Error> {
    let journal = Journal::of(folder);
    let steps = match stage(&journal, changes) {
        Ok(steps) => steps,
        Err(error) => {
            // The error counts; what it leaves here, the next run drops.
            let _ = drop_all(&journal);
            return Err(Error::Unchanged(Box::new(error)));
        }
    };
    finish(&journal, &steps).map_err(|error| Error::Halfway(Box::new(error)))
}

/// Up to the moment from which on the run has happened.
fn stage(journal: &Journal<'_>, changes: &Changes) -> Result<Vec<Step>, Error> {
    operations::create_folder(&journal.path).map_err(cannot("create the folder", &journal.path))?;
    let mut steps = Vec::new();
    for (number, (path, change)) in changes.iter().enumerate() {
        let place = journal.folder.resolve_new(path)?;
        is_writable(&place)?;
        if let Some(contents) = &change.after {
            let draft = journal.staged(number);
            operations::write(&draft, contents).map_err(cannot("write", &draft))?;
            if place.is_file() {
                operations::copy_permissions(&place, &draft).map_err(cannot("write", &draft))?;
            }
        }
        let hash = |contents: &Option<Vec<u8>>| contents.as_deref().map(hash_bytes);
        steps.push(Step {
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

/// Whether files can be made in the folder of a place, found out by one without a name.
fn is_writable(place: &Path) -> Result<(), Error> {
    // There is one: the crate's own.
    let folder = place
        .ancestors()
        .skip(1)
        .find(|folder| folder.exists())
        .unwrap_or(place);
    tempfile::tempfile_in(folder).map_err(cannot("write into", folder))?;
    Ok(())
}

/// Does what is not done yet, then forgets that there was something to do.
fn finish(journal: &Journal<'_>, steps: &[Step]) -> Result<(), Error> {
    for (number, step) in steps.iter().enumerate() {
        let place = journal.folder.resolve_new(&step.path)?;
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

/// Removes a folder and those above it, as long as nothing is left in them.
fn remove_empty(folder: &Folder, from: &Path) {
    let within = from.ancestors().take_while(|above| *above != folder.root());
    for above in within {
        match operations::remove_folder(above) {
            Ok(()) => {}
            // By the run that was cut short.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // What is in use, or cannot be removed, does no harm.
            Err(_) => return,
        }
    }
}

/// Removes the journal, which tells nothing any more.
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
