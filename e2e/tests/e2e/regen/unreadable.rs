//! Existing files that cannot be read must not be treated as missing.

use crate::operator::{files, krator};
use crate::regenerate::{generate, text, write};
use crate::unreadable::{Instead, readable};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const BEFORE: &str = "\
krator: 1
operator: doors
resource: {group: example.com, version: v1, kind: Door}
spec:
  width: integer
machine: {initial: Closed}
states:
  Closed: {next: [Ajar], wait: {poll: 2s}}
  Ajar: {next: [Open], wait: {poll: 5s}}
  Open: {kind: ready, next: [Closed]}
";

/// Renames a state, removes one, adds one, and changes the samples and documents.
const AFTER: &str = "\
krator: 1
operator: doors
doc: Doors of houses.
resource: {group: example.com, version: v1, kind: Door}
spec:
  width: integer
  height: integer
machine: {initial: Shut}
states:
  Shut: {renamedFrom: Closed, next: [Open], wait: {poll: 2s}}
  Open: {kind: ready, next: [Shut, Locked]}
  Locked: {next: [Shut], wait: {poll: 1m}}
";

/// A crate with an edited description.
fn edited() -> (TempDir, PathBuf) {
    let work = tempfile::tempdir().expect("a temporary folder");
    let description = work.path().join("doors.yaml");
    fs::write(&description, BEFORE).expect("our own");
    let dir = work.path().join("doors");
    let new = [
        "new",
        "doors.yaml",
        "--out",
        "doors",
        "--runtime",
        "path=../runtime",
    ]
    .map(Path::new);
    let args = [new[0], &description, new[2], &dir, new[4], new[5]];
    assert!(krator(&args).status.success());
    fs::write(dir.join("krator.yaml"), AFTER).expect("our own");
    (work, dir)
}

/// Files whose contents affect each run.
const MATTER: [&str; 8] = [
    "Cargo.toml",
    "src/lib.rs",
    "src/door/states/closed.rs",
    "src/door/generated/machine.rs",
    "deploy/crd.yaml",
    ".krator/base/crate",
    ".krator/files",
    ".krator/krator.yaml",
];

/// A run with an unreadable file either fails, names the file and changes nothing, or does not depend on the file's
/// contents: then it has the usual effects, and the unreadable file stays.
#[test]
fn what_cannot_be_read_is_named_or_left_alone() {
    let args = ["--allow-breaking", "--merge", "--prune"];
    let (_work, edited) = edited();
    let before = readable(&edited);
    let copy = || {
        let work = tempfile::tempdir().expect("a temporary folder");
        let dir = work.path().join("doors");
        let files = before
            .iter()
            .map(|(path, contents)| (path.clone(), contents.clone()));
        write(&files.collect(), &dir);
        (work, dir)
    };
    assert!(generate(&edited, &args).status.success());
    let after = readable(&edited);
    let (mut refused, mut harmless) = (Vec::new(), Vec::new());
    for (number, path) in before.keys().enumerate() {
        let is_chosen = |instead: &Instead| {
            MATTER.iter().any(|matters| path == Path::new(matters))
                || matches!(instead, Instead::NotUtf8)
                || Instead::ALL[number % 3] == *instead
        };
        for instead in Instead::ALL.into_iter().filter(is_chosen) {
            let (_work, dir) = copy();
            let place = dir.join(path);
            let original = fs::read(&place).expect("our own");
            instead.put(&place);
            let faulty = readable(&dir);
            let what = format!("{instead:?} at {}", path.display());

            let output = generate(&dir, &args);
            let told = text(output.stderr);
            if output.status.success() {
                let stays = [path.clone(), Path::new(".krator/pruned").join(path)];
                assert!(
                    stays.iter().any(|path| instead.is_at(&dir.join(path))),
                    "{what} is gone: {told}"
                );
                for (other, contents) in readable(&dir) {
                    let is_same = after.get(&other).is_some_and(|after| *after == contents);
                    assert!(
                        is_same || stays.contains(&other),
                        "{what}: {} differs",
                        other.display()
                    );
                }
                harmless.push(what);
                continue;
            }
            // For the description itself, findings are reported instead.
            let is_finding = path == Path::new("krator.yaml") && matches!(instead, Instead::NotUtf8);
            assert_eq!(
                output.status.code(),
                Some(if is_finding { 1 } else { 2 }),
                "{what}: {told}"
            );
            assert!(
                told.contains(path.to_str().expect("a plain name")),
                "{what} is not named: {told}"
            );
            assert_eq!(readable(&dir), faulty, "{what}: something was changed");
            if path != Path::new("krator.yaml") {
                assert_eq!(told.lines().count(), 1, "{what}: one clear message: {told}");
            }
            // After the file is restored, the run has the usual effects.
            instead.remove(&place);
            fs::write(&place, original).expect("our own");
            assert!(generate(&dir, &args).status.success(), "{what}");
            assert_eq!(readable(&dir), after, "{what}");
            refused.push(what);
        }
    }
    println!(
        "{} refused, {} harmless: {harmless:?}",
        refused.len(),
        harmless.len()
    );
    let matters = |path: &str| {
        Instead::ALL
            .iter()
            .all(|instead| refused.contains(&format!("{instead:?} at {path}")))
    };
    for path in MATTER {
        assert!(matters(path), "{path}: {refused:?}");
    }
}

/// The same for folders in the paths of files.
#[test]
fn a_file_in_the_place_of_a_folder_is_named() {
    for folder in ["src", "src/door", "src/door/states", "deploy", ".krator"] {
        let (_work, dir) = edited();
        fs::rename(dir.join(folder), dir.join("elsewhere")).expect("our own");
        fs::write(dir.join(folder), "").expect("our own");
        let before = files(&dir);
        let output = generate(&dir, &["--allow-breaking"]);
        let told = text(output.stderr);
        assert_eq!(output.status.code(), Some(2), "{folder}: {told}");
        let names_it = told.contains(&format!("`{folder}` is not a folder")) || folder == ".krator";
        assert!(names_it, "{folder}: {told}");
        let mut after = files(&dir);
        after.remove(Path::new(".krator/lock"));
        assert_eq!(after, before, "{folder}");
    }
}
