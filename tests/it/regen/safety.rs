//! Guarantees of `krator gen` in every situation.

use crate::descriptions::MOOSE as DESCRIPTION;
use crate::operator::{files, run};
use crate::regenerate::{VENDORED, generate, new, text, write};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A crate of the moose operator whose description was edited, so that a run has something to do.
fn edited() -> (TempDir, PathBuf) {
    let work = tempfile::tempdir().expect("a temporary folder");
    let description = work.path().join("moose.yaml");
    fs::write(&description, DESCRIPTION).expect("writable");
    let dir = work.path().join("crate");
    new(&description, &dir, VENDORED);
    let edit = BTreeMap::from([(
        "krator.yaml".into(),
        DESCRIPTION.replace("[mo]", "[mo, mos]").into_bytes(),
    )]);
    write(&edit, &dir);
    (work, dir)
}

/// Asserts that a run fails with this message and changes nothing.
fn assert_refused(dir: &Path, args: &[&str], why: &str) {
    let before = files(dir);
    let output = generate(dir, args);
    let printed = text(output.stderr);
    assert!(!output.status.success(), "{printed}");
    assert!(printed.contains(why), "{printed}");
    let mut after = files(dir);
    after.remove(Path::new(".krator/lock"));
    assert_eq!(after, before, "{printed}");
}

fn move_and_link(dir: &Path, path: &str, to: &Path) {
    run(Command::new("mv").arg(dir.join(path)).arg(to));
    symlink(to, dir.join(path)).expect("a link");
}

#[test]
fn links_that_lead_out_of_the_crate_are_not_followed() {
    for path in ["src/moose/generated", "deploy/crd.yaml", "README.md", "vendor"] {
        let (work, dir) = edited();
        let outside = work.path().join("outside");
        move_and_link(&dir, path, &outside);
        let before = files(work.path());
        assert_refused(&dir, &[], "leads out of the crate");
        let mut after = files(work.path());
        after.remove(Path::new("crate/.krator/lock"));
        assert_eq!(after, before);
    }
    // Links within the crate are followed.
    let (_work, dir) = edited();
    move_and_link(&dir, "deploy", &dir.join("manifests"));
    assert!(generate(&dir, &[]).status.success());
    assert!(dir.join("deploy").is_symlink());
    assert!(
        fs::read_to_string(dir.join("manifests/crd.yaml"))
            .expect("written")
            .contains("mos")
    );
}

#[test]
fn paths_in_a_forged_record_do_not_lead_out_of_the_crate() {
    let (work, dir) = edited();
    fs::write(work.path().join("precious"), "").expect("writable");
    let list = dir.join(".krator/files");
    let forged = fs::read_to_string(&list).expect("generated");
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    fs::write(list, format!("{forged}generated {empty} ../precious\n")).expect("writable");
    assert_refused(&dir, &[], "leads out of the crate");
    assert!(work.path().join("precious").exists());
}

#[test]
fn a_folder_that_cannot_be_written_to_is_left_as_it_was() {
    let (work, dir) = edited();
    let is_root = user_is_root();
    // A copy for another user, because the target folder may be below a folder that other users cannot read.
    let krator = work.path().join("krator");
    run(Command::new("cp").arg(krator_tests::program()).arg(&krator));
    // The superuser may write everywhere, so as root, krator runs as the user `nobody`.
    let generate_unprivileged = |dir: &Path| {
        let mut command = Command::new(&krator);
        command
            .arg("gen")
            .current_dir(dir)
            .env_clear()
            .stdin(Stdio::null());
        if is_root {
            command.uid(65534);
        }
        command.output().expect("krator runs")
    };
    let set = |path: &str, mode: u32| {
        fs::set_permissions(dir.join(path), fs::Permissions::from_mode(mode)).expect("our own");
    };
    run(Command::new("chmod").args(["-R", "a+rwX"]).arg(work.path()));
    set("deploy", 0o555);
    let before = files(&dir);
    let output = generate_unprivileged(&dir);
    let printed = text(output.stderr);
    assert_eq!(output.status.code(), Some(2), "{printed}");
    assert!(
        printed.contains("nothing was changed: cannot write into"),
        "{printed}"
    );
    let mut after = files(&dir);
    after.remove(Path::new(".krator/lock"));
    assert_eq!(after, before);
    set("deploy", 0o777);
    assert!(generate_unprivileged(&dir).status.success());
}

fn user_is_root() -> bool {
    let output = Command::new("id").arg("-u").output().expect("id runs");
    output.stdout == b"0\n"
}

#[test]
fn a_second_run_waits_and_says_so() {
    let (_work, dir) = edited();
    // The test holds the lock, like another run.
    let lock = File::options()
        .create(true)
        .append(true)
        .open(dir.join(".krator/lock"))
        .expect("writable");
    lock.lock().expect("free");
    let mut second = Command::new(krator_tests::program())
        .arg("gen")
        .current_dir(&dir)
        .env_clear()
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("krator runs");
    let mut printed = BufReader::new(second.stderr.take().expect("piped"));
    let mut line = String::new();
    printed.read_line(&mut line).expect("text");
    assert_eq!(line, "note: waiting for another krator process in this folder\n");
    assert!(second.try_wait().expect("our own child").is_none());
    drop(lock);
    assert!(second.wait().expect("our own child").success());
    assert!(text(generate(&dir, &["--diff"]).stdout).is_empty());
}

#[test]
fn a_crate_of_a_newer_krator_is_refused() {
    let (_work, dir) = edited();
    let list = dir.join(".krator/files");
    let newer = fs::read_to_string(&list).expect("generated");
    let newer = newer.replace(env!("CARGO_PKG_VERSION"), "99.0.0");
    fs::write(&list, newer).expect("writable");
    assert_refused(&dir, &[], "this crate was last generated by krator 99.0.0");
}

#[test]
fn a_folder_without_a_valid_record_is_refused() {
    let (_work, dir) = edited();
    fs::remove_dir_all(dir.join(".krator")).expect("our own");
    assert_refused(&dir, &[], "is not the folder of a krator crate");
    let (_work, dir) = edited();
    fs::write(dir.join(".krator/files"), "what is this\n").expect("writable");
    assert_refused(&dir, &[], "restore it from version control");
}

#[test]
fn deleted_files_are_recreated_only_if_generated_code_needs_them() {
    let (_work, dir) = edited();
    for path in [
        "src/moose/generated/types.rs",
        "src/moose/states/roam.rs",
        "README.md",
        "Dockerfile",
    ] {
        fs::remove_file(dir.join(path)).expect("our own");
    }
    assert!(generate(&dir, &[]).status.success());
    assert!(dir.join("src/moose/generated/types.rs").exists());
    assert!(dir.join("src/moose/states/roam.rs").exists());
    assert!(!dir.join("README.md").exists() && !dir.join("Dockerfile").exists());
}

#[test]
fn a_run_with_nothing_to_do_writes_nothing() {
    let (_work, dir) = edited();
    assert!(generate(&dir, &[]).status.success());
    let times = |dir: &Path| -> BTreeMap<PathBuf, std::time::SystemTime> {
        let modified = |path: &Path| {
            fs::metadata(dir.join(path))
                .and_then(|m| m.modified())
                .expect("there")
        };
        let mut times: BTreeMap<_, _> = files(dir)
            .into_keys()
            .map(|path| (path.clone(), modified(&path)))
            .collect();
        for folder in ["", ".krator", "src", "deploy", "vendor"] {
            times.insert(folder.into(), modified(Path::new(folder)));
        }
        times
    };
    let before = times(&dir);
    // Other line endings do not count as a difference either.
    let readme = fs::read_to_string(dir.join("src/moose/mod.rs")).expect("generated");
    assert!(generate(&dir, &[]).status.success());
    assert_eq!(times(&dir), before);
    fs::write(dir.join("src/moose/mod.rs"), readme.replace('\n', "\r\n")).expect("writable");
    let before = times(&dir);
    assert!(generate(&dir, &[]).status.success());
    assert!(generate(&dir, &["--check"]).status.success());
    assert_eq!(times(&dir), before);
}
