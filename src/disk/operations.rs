//! Each way in which an existing crate is written to. Between two of these anything may end the program; tests end it
//! between any two, and in the midst of one.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

/// Writes a new file, to the platter.
pub(super) fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    let (now, later) = contents.split_at(contents.len() / 2);
    fault()?;
    let mut file = File::create(path)?;
    file.write_all(now)?;
    fault()?;
    file.write_all(later)?;
    sync(&file)
}

/// Gives a file the permissions of another one.
pub(super) fn copy_permissions(from: &Path, to: &Path) -> io::Result<()> {
    fault()?;
    fs::set_permissions(to, fs::metadata(from)?.permissions())
}

/// Renames a file; what has the new name is replaced in the same moment.
pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fault()?;
    fs::rename(from, to)
}

/// Removes a file.
pub(super) fn remove_file(path: &Path) -> io::Result<()> {
    fault()?;
    fs::remove_file(path)
}

/// Makes a folder and those above it.
pub(super) fn create_folder(path: &Path) -> io::Result<()> {
    fault()?;
    fs::create_dir_all(path)
}

/// Removes an empty folder.
pub(super) fn remove_folder(path: &Path) -> io::Result<()> {
    fault()?;
    fs::remove_dir(path)
}

/// Brings the entries of a folder to the platter, where the system has a way to.
pub(super) fn sync_folder(path: &Path) {
    if let Ok(folder) = File::open(path) {
        // Without it, only a power cut in the next moments could hurt.
        let _ = sync(&folder);
    }
}

#[cfg(not(test))]
fn sync(file: &File) -> io::Result<()> {
    file.sync_all()
}

#[cfg(not(test))]
fn fault() -> io::Result<()> {
    Ok(())
}

/// No test cuts the power, and hundreds of regenerations would wait for the platter.
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

    /// What happens at the operation of a number, from 0.
    #[derive(Debug, Clone, Copy)]
    pub(in crate::disk) enum Fault {
        /// The program ends: nothing is written any more, not by any handling of errors either.
        Killed(usize),
        /// This one fails, and the program goes on.
        Fails(usize),
    }

    /// Does something under a fault; tells how many operations there were.
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
