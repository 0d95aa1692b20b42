//! The crates of all good descriptions, and those of random large ones. They are members of one workspace, so that one
//! run of cargo checks them all and compiles the runtime once. `KRATOR_CRATES` is the number of random ones,
//! `KRATOR_SEED` the seed of the first description. A normal test run checks a few, and `KRATOR_CRATES=60` is the
//! thorough run, which also runs the tests of all crates: otherwise only the tests of the random crates and of the
//! example are run.
//!
//! The descriptions of `testdata/crates/` are included: forms that each failed once. Hostile names and texts are
//! included, too, and the example with written handlers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use krator::finding::has_errors;
use krator::model::Effects;
use krator::plan::IGNORED_TEST;
use krator::render::{self, Runtime};
use serde_json::json;

use super::defaults;
use crate::case_file::entries;
use crate::descriptions::cases;
use crate::dice::{Dice, number};
use crate::injection;
use crate::operator::{build_folder, cargo, copy_example, write_handlers};
use crate::random_description::{Documents, Size};

/// The check of the format. Not `--all`, which would follow the path of the runtime into this repository.
const FORMAT: &[&str] = &["fmt", "--check"];
/// The other checks of a crate, as arguments of cargo.
const CHECKS: [&[&str]; 2] = [
    &[
        "clippy",
        "--workspace",
        "--all-targets",
        "--keep-going",
        "--",
        "-D",
        "warnings",
    ],
    &["doc", "--workspace", "--no-deps", "--keep-going"],
];
/// The number of random crates in a normal test run.
const SLICE: u64 = 4;

/// The descriptions are as large as real ones. A few risky changes lead to forms that `check` accepts, but that authors
/// rarely write.
const SIZE: Size = Size {
    risks: 2,
    ..Size::LARGE
};

/// The example with written handlers. Its description is among the others, too.
const EXAMPLE: &str = "database";

/// The folder of the crates. It is always the same, because cargo identifies crates by their paths.
fn folder() -> PathBuf {
    build_folder().join("workspace")
}

/// A random description, and the name of its crate.
fn random(seed: u64) -> (String, String) {
    let mut dice = Dice::new(seed);
    let mut documents = Documents::random(&mut dice, SIZE);
    documents.own_taken_names(&mut dice);
    let name = format!("seed-{seed}");
    let first = documents.0[0].as_object_mut().expect("a mapping");
    first.insert("operator".to_owned(), json!(name));
    (name, documents.text())
}

/// Generates the crate of a description into the folder of this name, if the description is correct.
fn generate(name: &str, text: &str) -> bool {
    let checked = krator::check("krator.yaml", text.as_bytes());
    let Some(description) = checked.description.filter(|_| !has_errors(&checked.findings)) else {
        return false;
    };
    let runtime = format!("{}/crates/krator-runtime", krator_tests::root().display());
    let plan = render::plan(&description, &checked.source, &Runtime::Path(runtime));
    let dir = folder().join(name);
    // After a crash, the handler of the state in `resume` has to find out whether the effects have happened. Generated
    // handlers take the first edge, and if it leads back, the crash tests rightly fail.
    let mut states = description.kinds.iter().flat_map(|kind| &kind.states);
    let repeats = states.any(|state| state.effects.value == Effects::Once);
    for (path, file) in plan.files() {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder of our own");
        let mut contents = file.contents.clone();
        if repeats {
            contents = contents.replace(
                &format!("{IGNORED_TEST}async fn crashes_"),
                "#[ignore]\nasync fn crashes_",
            );
        }
        fs::write(path, contents).expect("a folder of our own");
    }
    take_in(&dir);
    fs::rename(dir.join("Cargo.lock"), folder().join("Cargo.lock")).expect("a folder of our own");
    let (test, data) = defaults::test(&plan);
    for (name, text) in [("defaults.rs", test), ("defaults.json", data)] {
        fs::write(dir.join("tests").join(name), text).expect("a folder of our own");
    }
    true
}

/// Generates the crate of the description in a file, which has to be correct.
fn generate_good(name: &str, path: &Path) {
    let mut text = fs::read_to_string(path).expect("a description");
    if name == EXAMPLE {
        // Packages of a workspace need different names.
        text = text.replacen("operator: database-operator", "operator: database-unwritten", 1);
    }
    assert!(generate(name, &text), "{}", path.display());
}

/// Makes a crate a member: profiles and the workspace belong into the manifest of the root.
fn take_in(dir: &Path) {
    let manifest = fs::read_to_string(dir.join("Cargo.toml")).expect("a crate has a manifest");
    let (package, _) = manifest.split_once("\n# Optimized for size").expect("generated");
    fs::write(dir.join("Cargo.toml"), package).expect("a folder of our own");
}

/// Writes the manifest of the workspace.
fn write_manifest(crates: &[String]) {
    let manifest = format!("[workspace]\nresolver = \"3\"\nmembers = {crates:?}\n");
    fs::write(folder().join("Cargo.toml"), manifest).expect("the target folder is ours");
}

#[test]
fn the_crates_of_all_descriptions_pass_their_own_checks() {
    let (count, first) = (number("KRATOR_CRATES", SLICE), number("KRATOR_SEED", 1));
    let _ = fs::remove_dir_all(folder());
    fs::create_dir_all(folder()).expect("the target folder is ours");
    let mut crates = Vec::new();
    let mut seed = first;
    while (crates.len() as u64) < count {
        let (name, text) = random(seed);
        if generate(&name, &text) {
            crates.push(name);
        }
        seed += 1;
    }
    println!("{count} of {} descriptions are correct: {crates:?}", seed - first);
    let tested = if count > SLICE {
        vec!["--workspace".to_owned()]
    } else {
        let random = crates.iter().map(|name| format!("--package={name}"));
        random.chain([format!("--package={EXAMPLE}-operator")]).collect()
    };
    for file in entries("crates") {
        let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
        generate_good(&name, &file);
        crates.push(name);
    }
    for (name, case) in cases() {
        generate_good(&name, &case.join("spec.yaml"));
        crates.push(name);
    }
    for (name, text) in injection::compiled() {
        assert!(generate(name, &text), "{name}");
        crates.push(name.to_owned());
    }
    let example = folder().join("example");
    fs::create_dir_all(&example).expect("a folder of our own");
    copy_example(EXAMPLE, &example);
    take_in(&example);
    crates.push("example".to_owned());
    write_manifest(&crates);
    // The settings of this repository must not apply to generated crates.
    for settings in ["rustfmt.toml", "clippy.toml"] {
        fs::write(folder().join(settings), "").expect("the target folder is ours");
    }
    // All checks run even after a failure, because they find different mistakes.
    let failed = usize::from(!passes(FORMAT));
    // The lines with such long names are left to the owner's first `cargo fmt`, so the format of this crate is not
    // checked.
    assert!(generate("long-names", &injection::long_names()));
    crates.push("long-names".to_owned());
    write_manifest(&crates);
    let failed = failed + CHECKS.iter().filter(|arguments| !passes(arguments)).count();
    // The programs have no tests, but cargo would link each of them for the integration tests. Other tests run
    // programs.
    for name in &crates {
        fs::remove_file(folder().join(name).join("src/main.rs")).expect("generated");
    }
    write_handlers(&folder());
    // The tests of a crate are ignored until its handlers count as written.
    let tests = ["test", "--no-fail-fast"].into_iter();
    let tests: Vec<&str> = tests.chain(tested.iter().map(String::as_str)).collect();
    let failed = failed + usize::from(!passes(&tests));
    assert_eq!(failed, 0, "the crates are in {}", folder().display());
}

/// Runs cargo in all crates, and prints its output if it fails.
fn passes(arguments: &[&str]) -> bool {
    let output = cargo()
        .args(arguments)
        .current_dir(folder())
        .env("CARGO_NET_OFFLINE", "true")
        .env("RUSTDOCFLAGS", "-D warnings")
        .stdin(Stdio::null())
        .output()
        .expect("cargo runs");
    if !output.status.success() {
        let wrote = [output.stdout, output.stderr].concat();
        println!(
            "cargo {}: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&wrote)
        );
    }
    output.status.success()
}
