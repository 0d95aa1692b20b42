//! krator's report on the effects of an edit: compared with reviewed reports here, and with the behavior of a real API
//! server in `e2e/tests/e2e/compare.rs`.
//!
//! `testdata/compare/<case>.txt` has a description before and after an edit, in the sections `old.yaml` and `new.yaml`.
//! `expected` is the output of `krator diff`; `KRATOR_UPDATE=1 cargo test compare` rewrites it. `objects.yaml` has
//! objects that the old CRD accepts, at least one of which breaks if the edit breaks objects. `counted` is the number
//! of them that `krator diff --against cluster` counts as broken; only a few cases have that section. Each case has an
//! API group of its own, and a field `note` in its spec that no edit changes.

use crate::edit_case::{case, cases};
use krator::compare::{Texts, compare, to_text};
use krator::finding::Style;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

#[test]
fn comparisons_are_as_reviewed() {
    let mut differ = Vec::new();
    for case in cases() {
        let texts = Texts {
            old: &case.old.0,
            new: &case.new.0,
        };
        let text = to_text(&case.comparison, texts, Style::Plain);
        case.file.expect("expected", &text, &mut differ);
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

#[test]
fn a_description_does_not_differ_from_itself() {
    for (name, folder) in crate::descriptions::cases() {
        let text = fs::read(folder.join("spec.yaml")).expect("a case has a description");
        let description = krator::check("spec.yaml", &text).description.expect("a good one");
        assert_eq!(compare(&description, &description).changes, [], "{name}");
    }
}

fn krator(folder: &Path, args: &[&str], input: &str) -> Output {
    let mut krator = Command::new(krator_tests::program())
        .current_dir(folder)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("krator starts");
    let stdin = krator.stdin.take().expect("a pipe was asked for");
    // The write fails if krator refuses its arguments and ends before it reads.
    let _ = { stdin }.write_all(input.as_bytes());
    krator.wait_with_output().expect("krator ends")
}

#[test]
fn the_rights_that_an_edit_asks_for_are_named() {
    let old = "krator: 1\nresource: {group: example.com, version: v1, kind: Website}\nspec: {size: integer}\n\
               machine: {initial: Run}\nstates: {Run: {kind: ready}}\n";
    let new = format!("{old}owns: [apps/v1.Deployment]\n");
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("new.yaml"), new).expect("a folder of our own");
    let output = krator(folder.path(), &["diff", "-", "new.yaml", "--format", "json"], old);
    let report = crate::outputs::printed("diff", &output.stdout);
    let added = [
        "`create`, `delete`, `get`, `list`, `patch`, `watch` of `deployments.apps`",
        "`update` of `websites.example.com/finalizers`",
    ];
    assert_eq!(
        report["rights"],
        serde_json::json!({"added": added, "removed": []})
    );
}

#[test]
fn the_former_description_may_come_from_standard_input() {
    for (name, code) in [("field-removed", 1), ("default-changed", 1), ("field-added", 0)] {
        let case = case(name);
        let (folder, old) = (case.folder(), case.file.section("old.yaml"));
        let output = krator(folder.path(), &["diff", "-", "new.yaml"], old);
        assert_eq!(output.status.code(), Some(code), "{name}");
        let expected = case.file.section("expected");
        let printed = String::from_utf8(output.stdout).expect("krator writes UTF-8");
        assert_eq!(printed, expected.replace("old.yaml", "<stdin>"), "{name}");

        let output = krator(folder.path(), &["diff", "-", "new.yaml", "--format", "json"], old);
        let report = crate::outputs::printed("diff", &output.stdout);
        assert_eq!(report["changes"].as_array().map(Vec::len), Some(1), "{report:#}");
    }
    let both = krator(Path::new("/"), &["diff", "-", "-"], "");
    assert_eq!(both.status.code(), Some(2));
    let broken = krator(Path::new("/"), &["diff", "-", "/nowhere"], "krator: 1\n");
    assert_eq!(
        broken.status.code(),
        Some(2),
        "a file that cannot be read is an error of another kind than one in a description"
    );
}

#[test]
fn a_crate_is_checked_against_the_description_that_it_was_last_generated_from() {
    let descriptions = case("states").folder();
    let parent = tempfile::tempdir().expect("a temporary folder");
    let folder = parent.path().join("crate");
    let out = folder.to_str().expect("temporary folders have plain names");
    let made = krator(descriptions.path(), &["new", "old.yaml", "--out", out], "");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let copy = |from: &str, to: &str| {
        fs::copy(descriptions.path().join(from), folder.join(to)).expect("a file of our own");
    };
    // Findings about the code do not matter here.
    let is_state_missed = || {
        let output = krator(&folder, &["check", "--format", "json"], "");
        let findings = crate::outputs::printed("findings", &output.stdout);
        let mut findings = findings.as_array().into_iter().flatten();
        findings.any(|finding| finding["rule"] == "state-removed")
    };
    assert!(!is_state_missed(), "nothing has changed");
    copy("new.yaml", "krator.yaml");
    assert!(is_state_missed());
    copy("new.yaml", ".krator/krator.yaml");
    assert!(
        !is_state_missed(),
        "the crate was last generated without the state"
    );
    // A former description that cannot be read prevents a comparison, so this error is reported first.
    fs::write(folder.join(".krator/krator.yaml"), "krator: [").expect("a file of our own");
    let output = krator(&folder, &["check"], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("`.krator/krator.yaml`"));
}
