//! `krator gen` in crates whose description or code was edited.
//!
//! `testdata/regen/<case>/` is one edit. First the crate of `before/krator.yaml` is generated, the other files of
//! `before/` are written over it, and the files in `without` are deleted, as edits of a user. Then the files of `edit/`
//! are written, and `krator gen` is run with the arguments in `args`. `after/` has the files in which the crate then
//! differs from a new crate of the same description; `diff.txt` is the output of `krator gen --diff`, and `output.txt`
//! the output of `krator gen` and its exit code. `KRATOR_UPDATE=1 cargo test` rewrites these three.

mod extras;
mod formatted;
mod kept;
mod order;
mod safety;

use crate::case_file::{entries, is_update};
use crate::descriptions::is_repeated;
use crate::operator::{files, krator};
use crate::regenerate::{ELSEWHERE, args, edit, generate, new, text, write};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The rules that are broken in some case.
pub fn covered() -> Vec<String> {
    let outputs = files(&krator_tests::root().join("testdata/regen"))
        .into_iter()
        .filter(|(path, _)| path.ends_with("output.txt"));
    let output: String = outputs.map(|(_, output)| text(output)).collect();
    let named = output
        .lines()
        .filter_map(|line| line.split_once('[')?.1.split_once("]: "));
    named.map(|(rule, _)| rule.to_owned()).collect()
}

/// The missing parts in the code of a crate, according to `krator check`.
fn missing_in(dir: &Path) -> BTreeSet<String> {
    let output = krator(&[
        Path::new("check"),
        &dir.join("krator.yaml"),
        Path::new("--format=json"),
    ]);
    let found = crate::outputs::printed("findings", &output.stdout);
    let found = found.as_array().expect("a list of findings").iter();
    let is_missing = |finding: &&serde_json::Value| {
        let rule = finding["rule"].as_str().expect("a name");
        ["module-missing", "handler-missing", "operator-not-run"].contains(&rule)
    };
    found
        .filter(is_missing)
        .map(|finding| finding["message"].to_string())
        .collect()
}

/// Runs a case, and returns the files of its folder that record the result.
fn outcome(case: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let work = tempfile::tempdir().expect("a temporary folder");
    let dir = work.path().join("crate");
    new(&case.join("before/krator.yaml"), &dir, ELSEWHERE);
    edit(case, &dir);
    let args = args(case);
    let args: Vec<&str> = args.split_whitespace().collect();

    let missing = missing_in(&dir);
    let found = files(&dir);
    let diff = generate(&dir, &[&["--diff"], &args[..]].concat());
    let check = generate(&dir, &[&["--check"], &args[..]].concat());
    assert_eq!(files(&dir), found, "--diff and --check write nothing");
    let output = generate(&dir, &args);
    let now = files(&dir);
    assert_eq!(
        check.status.success(),
        output.status.success() && unlocked(&now) == found,
        "--check"
    );
    let again = generate(&dir, &[]);
    assert_eq!(
        files(&dir),
        now,
        "a second run has nothing to do: {}",
        text(again.stderr.clone())
    );
    // The remaining manual work is reported until it is done.
    let is_refused = text(output.stderr.clone()).contains("nothing was written");
    assert!(
        is_refused || again.status.code() == output.status.code(),
        "a second run finds what the first one has found: {}",
        text(again.stderr)
    );

    // `krator check` cannot predict a merge by the user.
    let is_merged = args.iter().any(|arg| arg.starts_with("--merge"));
    assert!(
        is_merged || missing.is_subset(&missing_in(&dir)),
        "`krator check` asked for what `krator gen` adds: {missing:?}"
    );

    let code = output.status.code().expect("krator ends by itself");
    let printed = format!("{}exit code {code}\n", text(output.stderr));
    let mut outcome = BTreeMap::from([
        (
            PathBuf::from("diff.txt"),
            reviewed(text(diff.stdout)).into_bytes(),
        ),
        (PathBuf::from("output.txt"), printed.into_bytes()),
    ]);
    let fresh = work.path().join("fresh");
    new(&dir.join("krator.yaml"), &fresh, ELSEWHERE);
    let fresh = files(&fresh);
    for (path, contents) in now {
        let is_notes = path.starts_with(".krator") && !path.starts_with(".krator/pruned");
        if !is_notes && fresh.get(&path) != Some(&contents) {
            outcome.insert(Path::new("after").join(path), contents);
        }
    }
    outcome
}

/// A diff without the files that repeat others.
fn reviewed(diff: String) -> String {
    let is_reviewed = |file: &&str| {
        let path = file.lines().next().unwrap_or_default();
        !is_repeated(path.trim_start_matches("a/"))
    };
    let files = diff.split("--- ").filter(is_reviewed);
    files.collect::<Vec<_>>().join("--- ")
}

/// The files without the lock file that a run leaves behind.
fn unlocked(files: &BTreeMap<PathBuf, Vec<u8>>) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = files.clone();
    files.remove(Path::new(".krator/lock"));
    files
}

#[test]
fn edits_do_what_was_reviewed() {
    let cases = entries("regen");
    // The longest test runs in two threads, so that it does not delay the others.
    let (some, others) = cases.split_at(cases.len() / 2);
    let mut differ = std::thread::scope(|scope| {
        let others = scope.spawn(|| differences(others));
        let mut differ = differences(some);
        differ.extend(others.join().expect("no case panicked"));
        differ
    });
    differ.sort();
    assert!(
        differ.is_empty(),
        "these files differ; `KRATOR_UPDATE=1 cargo test regen` rewrites them:\n{}",
        differ.join("\n")
    );
}

/// The files in which cases differ from the reviewed ones.
fn differences(cases: &[PathBuf]) -> Vec<String> {
    let mut differ = Vec::new();
    for case in cases {
        println!("{}", case.display());
        let now = outcome(case);
        let is_input = |path: &PathBuf| {
            ["before", "edit", "args", "without"]
                .iter()
                .any(|input| path.starts_with(input))
        };
        let mut then = files(case);
        then.retain(|path, _| !is_input(path));
        if now != then && is_update(case) {
            then.keys()
                .for_each(|path| fs::remove_file(case.join(path)).expect("a file of our own"));
            write(&now, case);
            continue;
        }
        let paths: BTreeSet<_> = now.keys().chain(then.keys()).collect();
        for path in paths.into_iter().filter(|path| now.get(*path) != then.get(*path)) {
            differ.push(case.join(path).display().to_string());
        }
    }
    differ
}

#[test]
fn the_table_of_edits_in_the_documents_shows_every_case() {
    let documents = krator_tests::root().join("docs/regeneration.md");
    let documents = fs::read_to_string(documents).expect("the document is there");
    let (_, table) = documents.split_once("| case |").expect("a table of cases");
    let rows = table
        .lines()
        .filter_map(|line| line.strip_suffix("` |")?.rsplit_once('`'));
    let shown: BTreeSet<String> = rows.map(|(_, case)| case.to_owned()).collect();
    let there = entries("regen").into_iter();
    let there = there.map(|case| case.file_name().expect("a name").to_string_lossy().into_owned());
    assert_eq!(shown, there.collect());
}
