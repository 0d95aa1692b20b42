//! Regenerates a crate of a former krator, and checks what cargo has to rebuild after a run.
//!
//! `testdata/upgrade/former.tar.gz` is the output of `krator new testdata/ok/moose/spec.yaml` at commit a15127d5, when
//! the runtime was vendored in many files, and krator recorded each file of the crate in a separate file. It contains
//! four files of that runtime.

use crate::moose::DESCRIPTION;
use crate::operator::{Crate, files, run};
use crate::regenerate::{generate, text};
use krator_runtime::source;
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn a_crate_of_a_former_krator_is_upgraded_by_one_run() {
    let krate = Crate::of("moose-tracker", |dir| {
        let parent = dir.parent().expect("a temporary folder");
        let archive = krator_tests::root().join("testdata/upgrade/former.tar.gz");
        run(Command::new("tar")
            .arg("-xzmf")
            .arg(archive)
            .arg("-C")
            .arg(parent));
        fs::rename(parent.join("moose-tracker"), dir).expect("our own");
        let edit = |path: &str, from: &str, to: &str| {
            let text = fs::read_to_string(dir.join(path)).expect("generated");
            assert!(text.contains(from), "{path}");
            fs::write(dir.join(path), text.replacen(from, to, 1)).expect("writable");
        };
        edit("Cargo.toml", "[dependencies]\n", "[dependencies]\n# Mine.\n");
        edit(
            "src/moose/states/roam.rs",
            "        if cx",
            "        // It is wild.\n        if cx",
        );

        let output = generate(dir, &[]);
        let printed = text(output.stderr);
        assert!(output.status.success(), "{printed}");
        let now = files(dir);
        for (path, contents) in [("LICENSE", source::LICENSE), ("src/lib.rs", source::LIBRARY)] {
            let path = Path::new("vendor/krator-runtime").join(path);
            assert!(
                now.get(&path).is_some_and(|there| there == contents.as_bytes()),
                "{}",
                path.display()
            );
        }
        let count = now.keys().filter(|path| path.starts_with("vendor")).count();
        assert_eq!(count, 3, "no file of the old runtime is left");
        let bases = now.keys().filter(|path| path.starts_with(".krator/base"));
        assert_eq!(bases.count(), 2, "one for the crate and one for its kind");
        let there = |path: &str| text(now[Path::new(path)].clone());
        assert!(there("Cargo.toml").contains("# Mine.\n"));
        assert!(there("src/moose/states/roam.rs").contains("// It is wild.\n"));
        assert!(text(generate(dir, &["--diff"]).stdout).is_empty());
    });
    krate.cargo(&[&["test", "--locked", "--quiet"]]);
}

#[test]
fn cargo_compiles_only_what_was_changed() {
    // The crate has a name of its own, because crates of the same name are built in the same folder.
    let description = DESCRIPTION.replace("operator: moose-tracker", "operator: moose-rebuilt");
    let krate = Crate::generate(&description, |_| ());
    krate.cargo(&[&["build", "--locked"]]);
    assert!(generate(&krate.dir(), &[]).status.success());
    assert_eq!(krate.compiled(), [""; 0]);
    let handler = krate.dir().join("src/moose/states/roam.rs");
    let text = fs::read_to_string(&handler).expect("generated");
    fs::write(&handler, format!("{text}\n// Wilder.\n")).expect("writable");
    assert!(generate(&krate.dir(), &[]).status.success());
    // The library and the program of the operator are rebuilt.
    assert_eq!(krate.compiled(), ["\"moose_rebuilt\"", "\"moose-rebuilt\""]);
}
