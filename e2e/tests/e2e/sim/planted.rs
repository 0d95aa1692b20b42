//! Defects of the runtime that simulations have to find.
//!
//! `testdata/simulated/<defect>.txt` names a file of the runtime in its first line. Its sections are what is `right` in that file,
//! what is `planted` instead, and what the finding says (`red`). All defects are planted in one copy of the repository, which is
//! compiled once: `PLANTED` in the text of a defect is whether that one is to be found now.

use crate::dice::number;
use crate::operator::cargo;
use crate::planted::{Defect, files_below};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

/// The runtime asks this variable which defect it has.
const WHICH: &str = "KRATOR_PLANTED";

/// Where the copy is.
fn folder() -> PathBuf {
    crate::operator::build_folder().with_file_name("simulated")
}

/// The files of the repository that change, by their paths: those with a defect, and the one with the switch.
fn planted(defects: &[Defect]) -> BTreeMap<String, String> {
    const LIBRARY: &str = "crates/krator-runtime/src/lib.rs";
    let original = |path: &str| {
        let path = Path::new(crate::REPOSITORY).join(path);
        fs::read_to_string(path).expect("a file of the runtime")
    };
    let mut files = BTreeMap::new();
    let switch = format!(
        "\npub(crate) fn is_planted(name: &str) -> bool {{\n    \
         std::env::var({WHICH:?}).is_ok_and(|planted| planted == name)\n}}\n"
    );
    files.insert(LIBRARY.to_owned(), original(LIBRARY) + &switch);
    for defect in defects {
        let path = format!("crates/krator-runtime/{}", defect.file);
        let file = files.entry(path).or_insert_with_key(|path| original(path));
        *file = defect.planted_in(file, &format!("crate::is_planted({:?})", defect.name));
    }
    files
}

/// Copies the repository. Files that are there already are left alone, so that cargo compiles only what has changed.
fn copy(changed: &BTreeMap<String, String>) {
    for path in files_below(".") {
        let contents = match changed.get(&path) {
            Some(text) => text.clone().into_bytes(),
            None => fs::read(Path::new(crate::REPOSITORY).join(&path)).expect("a file of the repository"),
        };
        let to = folder().join("repository").join(&path);
        if fs::read(&to).ok().as_ref() != Some(&contents) {
            fs::create_dir_all(to.parent().expect("a file is in a folder")).expect("a folder of our own");
            fs::write(to, contents).expect("a folder of our own");
        }
    }
}

fn run(arguments: &[&str], which: &str, seeds: u64) -> Output {
    cargo()
        .current_dir(folder().join("repository"))
        .args(["test", "--offline", "--package=e2e", "--test=e2e"])
        .args(arguments)
        .env("CARGO_TARGET_DIR", folder().join("target"))
        // Hundreds of runs are tried for each defect to find a short one.
        .env("CARGO_PROFILE_TEST_OPT_LEVEL", "1")
        .env("RUST_BACKTRACE", "0")
        .env("KRATOR_SEEDS", seeds.to_string())
        .env(WHICH, which)
        .output()
        .expect("cargo runs")
}

#[ignore = "compiles this package once more, which takes minutes"]
#[test]
fn each_planted_defect_is_found() {
    let defects = Defect::all("simulated");
    copy(&planted(&defects));
    let built = run(&["--no-run"], "", 0);
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let mut missed = Vec::new();
    let scenarios = ["--", "sim::", "--skip=two_processes"];
    let none = run(&scenarios, "", 1);
    assert!(none.status.success(), "{}", String::from_utf8_lossy(&none.stdout));
    for defect in &defects {
        let output = run(&scenarios, &defect.name, number("KRATOR_SEEDS", 20));
        let text = String::from_utf8_lossy(&output.stdout);
        let is_found = !output.status.success() && text.contains(&defect.red);
        let found = text
            .lines()
            .filter_map(|line| Some(line.split_once(": seed ")?.1));
        let found: Vec<String> = found.map(|line| line.chars().take(300).collect()).collect();
        crate::cluster::say(&format!(
            "{}:\n    seed {}",
            defect.name,
            found.join("\n    seed ")
        ));
        if !is_found {
            missed.push(format!("{}: not found: {}\n{text}", defect.name, defect.red));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
