//! Generated crates, compared with reviewed ones.
//!
//! `testdata/ok/<case>/spec.yaml` is a description. Some have their crate beside them in `expected/`, without the
//! vendored runtime and the lock file. `KRATOR_UPDATE=1 cargo test` rewrites it; review the difference as you would
//! review code.

use crate::case_file::is_update;
use crate::descriptions::{cases, crate_of};
use crate::operator::files;
use crate::regenerate::write;
use std::fs;

#[test]
fn crates_are_as_reviewed() {
    let mut differ = Vec::new();
    for (name, case) in cases() {
        let expected = case.join("expected");
        if !expected.is_dir() {
            continue;
        }
        let (now, then) = (crate_of(&case), files(&expected));
        if now != then && is_update(&expected) {
            fs::remove_dir_all(&expected).expect("a folder of our own");
            write(&now, &expected);
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
