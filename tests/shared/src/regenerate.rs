//! `krator new` and `krator gen` in crates of tests.

use crate::operator::{files, krator};
use krator::disk::Folder;
use krator::regen::{Breaking, Options};
use krator::workspace::Workspace;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Runs `krator gen` in a crate.
pub fn generate(dir: &Path, args: &[&str]) -> Output {
    Command::new(crate::program())
        .arg("gen")
        .args(args)
        .current_dir(dir)
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .expect("krator runs")
}

/// Writes files into a folder.
pub fn write(files: &BTreeMap<PathBuf, Vec<u8>>, over: &Path) {
    for (path, contents) in files {
        let path = over.join(path);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder of our own");
        fs::write(path, contents).expect("a folder of our own");
    }
}

/// The source of a generated crate's runtime, as the argument of `--runtime`.
pub const VENDORED: &str = "vendored";
/// For crates that are never built: writing and reading the files of the runtime takes most of the time of a run.
pub const ELSEWHERE: &str = "path=../krator-runtime";

/// Generates the crate of a description.
pub fn new(description: &Path, dir: &Path, runtime: &str) {
    let args = ["new", "--runtime", runtime, "--out"].map(Path::new);
    let output = krator(&[&args[..], &[dir, description]].concat());
    assert!(output.status.success(), "{}", text(output.stderr));
}

pub fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("krator prints text")
}

/// Applies the edits of a case to a new crate.
pub fn edit(case: &Path, dir: &Path) {
    write(&files(&case.join("before")), dir);
    for path in fs::read_to_string(case.join("without"))
        .unwrap_or_default()
        .lines()
    {
        fs::remove_file(dir.join(path)).expect("a generated file");
    }
    write(&files(&case.join("edit")), dir);
}

/// The arguments of `krator gen` in a case.
pub fn args(case: &Path) -> String {
    fs::read_to_string(case.join("args")).unwrap_or_default()
}

/// Regenerates a crate as `krator dev` does after an edit, when its server has objects that the edit may break. Returns
/// whether any file was written.
pub fn follow_as_dev(dir: &Path) -> bool {
    let workspace = Workspace::open(dir).expect("a crate");
    if workspace.description().sound().is_none() {
        return false;
    }
    let options = Options {
        breaking: Breaking::HalfRenamesRefused,
        ..Options::default()
    };
    let regen = workspace.regen(options).expect("a crate that can be read");
    let folder = Folder::open(dir).expect("a crate");
    let hold = folder.hold(|| ()).expect("nobody else works on it");
    hold.apply(&regen.changes).expect("a folder of our own");
    !regen.is_refused
}
