//! Generated crates, compared with crates that somebody has reviewed.
//!
//! `testdata/ok/<case>/spec.yaml` is a description. Some have their crate beside them in `expected/`, without the vendored
//! runtime and the lock file. `KRATOR_UPDATE=1 cargo test` rewrites it; review the difference as you would review code.

use crate::case_file::is_update;
use crate::operator::files;
use krator::render::{self, Runtime};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders of the good descriptions, by name.
pub fn cases() -> BTreeMap<String, PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/ok");
    let folders = fs::read_dir(root).expect("testdata/ok is there");
    let cases: BTreeMap<_, _> = folders
        .map(|entry| entry.expect("a folder of our own").path())
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy();
            (name.into_owned(), path)
        })
        .collect();
    assert!(!cases.is_empty());
    cases
}

/// The files of the crate of a case, without those that `expected/` leaves out.
pub fn crate_of(case: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let text = fs::read(case.join("spec.yaml")).expect("a case has a description");
    let checked = krator::check("krator.yaml", &text);
    let description = checked.description.expect("a good description");
    let plan = render::plan(&description, &checked.source, &Runtime::Vendored);
    plan.files()
        .filter(|(path, _)| {
            !path.starts_with("vendor/") && !path.starts_with(".krator/") && *path != "Cargo.lock"
        })
        .map(|(path, file)| (PathBuf::from(path), file.contents.clone().into_bytes()))
        .collect()
}

#[test]
fn crates_are_as_reviewed() {
    let update = is_update();
    let mut differ = Vec::new();
    for (name, case) in cases() {
        let expected = case.join("expected");
        if !expected.is_dir() {
            continue;
        }
        let (now, then) = (crate_of(&case), files(&expected));
        if update && now != then {
            fs::remove_dir_all(&expected).expect("a folder of our own");
            for (path, contents) in &now {
                let path = expected.join(path);
                fs::create_dir_all(path.parent().expect("a file is in a folder"))
                    .expect("a folder of our own");
                fs::write(path, contents).expect("a folder of our own");
            }
            continue;
        }
        let paths: std::collections::BTreeSet<_> = now.keys().chain(then.keys()).collect();
        for path in paths.into_iter().filter(|path| now.get(*path) != then.get(*path)) {
            differ.push(format!("{name}/expected/{}", path.display()));
        }
    }
    assert!(
        differ.is_empty(),
        "these files differ; `KRATOR_UPDATE=1 cargo test goldens` rewrites them:\n{}",
        differ.join("\n")
    );
}
