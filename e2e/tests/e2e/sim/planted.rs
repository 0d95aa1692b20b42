//! Defects of the runtime that simulations have to find.
//!
//! `testdata/simulated/<defect>.txt` names a file below `crates/` in its first line. Its sections are the `right` text
//! in that file, the `planted` text that replaces it, and a part of the finding (`red`). All defects are planted in one
//! copy of the repository, which is compiled once: `PLANTED` in the text of a defect is true if this defect is active.
//! `KRATOR_DEFECTS` selects some of them.

use crate::dice::number;
use crate::operator::cargo;
use crate::planted::{Defect, files_below, repository, write_changed};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Output;

/// The variable with the active defect, which the runtime reads.
const WHICH: &str = "KRATOR_PLANTED";

/// The tests that find defects, the fastest ones first. After one has found a defect, the others are skipped.
const SCENARIOS: [&str; 7] = [
    "sim::a_kill_before_or_after",
    "sim::fleet",
    "sim::objects_live_through",
    "sim::an_operator_that_was_frozen",
    "sim::of_several_replicas",
    "sim::each_edit_is_judged",
    "sim::objects_whose_handlers_never_stay",
];
/// This test cannot find defects.
const SKIPPED: &str = "--skip=two_processes";

/// The folder of the copy.
fn folder() -> PathBuf {
    crate::operator::build_folder().with_file_name("simulated")
}

/// The changed files of the repository, by their paths: those with a defect, and the one with the switch.
fn planted(defects: &[Defect]) -> BTreeMap<String, String> {
    const LIBRARIES: [&str; 2] = [
        "crates/krator-machine/src/lib.rs",
        "crates/krator-runtime/src/lib.rs",
    ];
    let mut files = BTreeMap::new();
    let switch = format!(
        "\npub(crate) fn is_planted(name: &str) -> bool {{\n    \
         std::env::var({WHICH:?}).is_ok_and(|planted| planted == name)\n}}\n"
    );
    for library in LIBRARIES {
        files.insert(library.to_owned(), repository(library) + &switch);
    }
    for defect in defects {
        let path = format!("crates/{}", defect.file);
        let file = files.entry(path).or_insert_with_key(|path| repository(path));
        *file = defect.planted_in(file, &format!("crate::is_planted({:?})", defect.name));
    }
    files
}

/// Copies the repository. Unchanged files are not written, so that cargo compiles only changes.
fn copy(changed: &BTreeMap<String, String>) {
    for path in files_below(".") {
        let contents = match changed.get(&path) {
            Some(text) => text.clone().into_bytes(),
            None => fs::read(krator_tests::root().join(&path)).expect("a file of the repository"),
        };
        write_changed(&folder().join("repository").join(&path), &contents);
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
    let mut defects = Defect::all("simulated");
    if let Ok(named) = std::env::var("KRATOR_DEFECTS") {
        defects.retain(|defect| named.split(',').any(|name| name == defect.name));
    }
    copy(&planted(&defects));
    let built = run(&["--no-run"], "", 0);
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let none = run(&["--", "sim::", SKIPPED], "", 1);
    assert!(none.status.success(), "{}", String::from_utf8_lossy(&none.stderr));
    let mut missed = Vec::new();
    for defect in &defects {
        let (mut said, mut is_found) = (String::new(), false);
        for scenario in SCENARIOS {
            let output = run(
                &["--", scenario, SKIPPED],
                &defect.name,
                number("KRATOR_SEEDS", 20),
            );
            // The operator is in the same process, and panics are printed by its own hook.
            said += &String::from_utf8_lossy(&[output.stdout, output.stderr].concat());
            is_found = !output.status.success() && said.contains(&defect.red);
            if is_found {
                break;
            }
        }
        // The beginning of the message of a scenario or a walk.
        let findings = said.lines().filter_map(|line| Some(&line[line.find("seed ")?..]));
        let findings = findings.filter(|line| line[5..].starts_with(|first: char| first.is_ascii_digit()));
        for finding in findings {
            let finding: String = finding.chars().take(300).collect();
            crate::cluster::say(&format!("{}: {finding}", defect.name));
        }
        if !is_found {
            missed.push(format!("{}: not found: {}\n{said}", defect.name, defect.red));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
