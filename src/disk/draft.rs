//! The folder in which a new crate is written before it is renamed into place. It is next to that place, because a rename
//! cannot cross file systems.
//!
//! A run that is killed leaves its draft behind, and the next run beside it removes that. A draft whose run is alive is
//! recognized by the lock that the run holds: the operating system releases it with the process.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::{Error, cannot, operations};

/// How the names of drafts begin.
const PREFIX: &str = ".krator-new-";
// The contents of a draft: the lock, and the files of the crate.
const LOCK: &str = "lock";
const CRATE: &str = "crate";
/// How often a draft is begun anew because another run took it for an abandoned one.
const MOST_ATTEMPTS: usize = 100;

/// The draft of a new crate. Dropping it removes what is left of it.
pub(super) struct Draft {
    path: PathBuf,
    _lock: File,
}

impl Draft {
    /// Begins a draft in a folder.
    pub fn new(parent: &Path) -> Result<Self, Error> {
        for _ in 0..MOST_ATTEMPTS {
            operations::fault().map_err(cannot("create a folder in", parent))?;
            let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent);
            let path = folder.map_err(cannot("create a folder in", parent))?.keep();
            if let Some(lock) = claim(&path).map_err(cannot("write into", &path))? {
                return Ok(Draft { path, _lock: lock });
            }
        }
        let why = io::Error::other("other runs of krator remove it");
        Err(cannot("create a folder in", parent)(why))
    }

    /// Where the crate is written.
    pub fn crate_folder(&self) -> PathBuf {
        self.path.join(CRATE)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // The next run removes the rest.
        let _ = remove(&self.path);
    }
}

/// Takes the lock of a new draft; `None` if another run was faster and has removed the draft.
fn claim(draft: &Path) -> io::Result<Option<File>> {
    let path = draft.join(LOCK);
    operations::fault()?;
    let lock = match File::create(&path) {
        Ok(lock) => lock,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let is_ours = lock.try_lock().is_ok() && path.exists();
    Ok(is_ours.then_some(lock))
}

/// Removes the drafts that killed runs have left in a folder. A failure does no harm: the next run tries again.
pub(super) fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_draft = name.to_str().is_some_and(|name| name.starts_with(PREFIX));
        if is_draft && entry.file_type().is_ok_and(|file_type| file_type.is_dir()) {
            let _ = sweep_draft(&entry.path());
        }
    }
}

fn sweep_draft(draft: &Path) -> io::Result<()> {
    let is_known = |entry: fs::DirEntry| [LOCK, CRATE].iter().any(|known| entry.file_name() == *known);
    for entry in fs::read_dir(draft)? {
        if !is_known(entry?) {
            return Ok(());
        }
    }
    match File::open(draft.join(LOCK)) {
        // Held until everything is removed, so that a run that has just begun this draft gives it up.
        Ok(lock) => lock
            .try_lock()
            .map_err(io::Error::from)
            .and_then(|()| remove(draft)),
        // The run was killed before it made the lock, or while it removed the draft.
        Err(_) => operations::remove_folder(draft),
    }
}

/// Removes a draft, the lock last: until then another run can see that nobody holds it.
fn remove(draft: &Path) -> io::Result<()> {
    match operations::remove_tree(&draft.join(CRATE)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    operations::remove_file(&draft.join(LOCK))?;
    operations::remove_folder(draft)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_abandoned_drafts_are_removed() {
        let home = tempfile::tempdir().expect("a folder for the test");
        let alive = Draft::new(home.path()).expect("writable");
        let at = |name: &str| home.path().join(format!("{PREFIX}{name}"));
        let abandoned = |name: &str, files: &[&str]| {
            fs::create_dir(at(name)).expect("writable");
            for file in files {
                fs::create_dir_all(at(name).join(file).parent().expect("a folder")).expect("writable");
                fs::write(at(name).join(file), "").expect("writable");
            }
        };
        abandoned("empty", &[]);
        abandoned("begun", &["lock"]);
        abandoned("written", &["lock", "crate/src/lib.rs"]);
        abandoned("foreign", &["lock", "mine"]);
        sweep(home.path());
        let left = |name: &str| at(name).exists();
        assert_eq!(
            ["empty", "begun", "written", "foreign"].map(left),
            [false, false, false, true]
        );
        assert!(alive.path.exists());
        let path = alive.path.clone();
        drop(alive);
        assert!(!path.exists());
    }
}
