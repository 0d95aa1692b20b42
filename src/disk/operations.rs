//! Every operation that writes a crate, new or old. The process may end between any two of them; tests inject a fault
//! before each operation and in the middle of a write.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

/// Writes a new file and syncs it to the disk.
pub(super) fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    let (now, later) = contents.split_at(contents.len() / 2);
    fault()?;
    let mut file = File::create(path)?;
    file.write_all(now)?;
    fault()?;
    file.write_all(later)?;
    sync(&file)
}

/// Writes a file of a new crate, which is invisible to other processes until it is complete.
pub(super) fn write_draft(path: &Path, contents: &[u8]) -> io::Result<()> {
    fault()?;
    fs::write(path, contents)
}

/// Copies the permissions of one file to another.
pub(super) fn copy_permissions(from: &Path, to: &Path) -> io::Result<()> {
    fault()?;
    fs::set_permissions(to, fs::metadata(from)?.permissions())
}

/// Renames a file or a folder, atomically replacing one that exists at the new path. A folder has to be empty.
pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fault()?;
    fs::rename(from, to)
}

pub(super) fn remove_file(path: &Path) -> io::Result<()> {
    fault()?;
    fs::remove_file(path)
}

/// Creates a folder and its missing ancestors.
pub(super) fn create_folder(path: &Path) -> io::Result<()> {
    fault()?;
    fs::create_dir_all(path)
}

pub(super) fn remove_folder(path: &Path) -> io::Result<()> {
    fault()?;
    fs::remove_dir(path)
}

/// Syncs the entries of a folder to the disk, on platforms that support it.
pub(super) fn sync_folder(path: &Path) {
    if let Ok(folder) = File::open(path) {
        // A failed sync only matters if the power fails before the system writes the folder by itself.
        let _ = sync(&folder);
    }
}

#[cfg(not(test))]
fn sync(file: &File) -> io::Result<()> {
    file.sync_all()
}

#[cfg(not(test))]
pub(super) fn fault() -> io::Result<()> {
    Ok(())
}

/// Tests do not sync: they do not simulate power failures, and syncing hundreds of regenerations would be slow.
#[cfg(test)]
fn sync(_file: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
pub(super) use faults::fault;

#[cfg(test)]
pub(super) mod faults {
    use std::cell::Cell;
    use std::io;

    thread_local! {
        static COUNT: Cell<usize> = const { Cell::new(0) };
        static FAULT: Cell<Option<Fault>> = const { Cell::new(None) };
    }

    /// A fault that is injected at the operation with a given number, counted from 0.
    #[derive(Debug, Clone, Copy)]
    pub(in crate::disk) enum Fault {
        /// The process ends: this and all later operations fail, including those of error handling.
        Killed(usize),
        /// Only this operation fails, and the process continues.
        Fails(usize),
    }

    /// Runs `act` with a fault injected. Also returns the number of operations.
    pub(in crate::disk) fn under<T>(fault: Option<Fault>, act: impl FnOnce() -> T) -> (T, usize) {
        COUNT.set(0);
        FAULT.set(fault);
        let done = act();
        FAULT.set(None);
        (done, COUNT.get())
    }

    pub(in crate::disk) fn fault() -> io::Result<()> {
        let now = COUNT.get();
        COUNT.set(now + 1);
        match FAULT.get() {
            Some(Fault::Killed(at)) if now >= at => Err(io::Error::other("killed")),
            Some(Fault::Fails(at)) if now == at => Err(io::ErrorKind::StorageFull.into()),
            _ => Ok(()),
        }
    }
}
