//! Generated crates, and cargo and krator as processes.

mod build;

pub use build::{Crate, OWN_CHECKS, build_folder, cargo, copy_example, write_handlers};

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Runs a command to its end, and panics with its output when it fails.
pub fn run(command: &mut Command) {
    let output = command
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let wrote = [output.stdout, output.stderr].concat();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}",
        output.status,
        String::from_utf8_lossy(&wrote)
    );
}

/// Runs the krator of this build with an empty environment, so that its output depends only on its arguments.
pub fn krator(args: &[&Path]) -> Output {
    let mut krator = Command::new(crate::program());
    krator
        .args(args)
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .expect("krator runs")
}

/// All files below a folder, by their paths relative to it.
pub fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten() {
            let path = entry.expect("a folder of our own").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path
                    .strip_prefix(folder)
                    .expect("found below the folder")
                    .to_owned();
                found.insert(name, fs::read(&path).expect("a file of our own"));
            }
        }
    }
    found
}
