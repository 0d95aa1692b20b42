//! The first description of a user: `krator init` and the examples of `krator new`.

use crate::case_file::is_update;
use crate::dice::{Dice, number};
use crate::operator::{krator as run, run as run_to_end};
use krator::catalog::Severity;
use krator::finding::{Style, to_text};
use krator::names::{GroupName, KindName, StateName};
use krator::starter::starter;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The findings of a description, without infos.
fn findings(text: &str) -> String {
    let checked = krator::check("krator.yaml", text.as_bytes());
    let found = checked.findings.iter();
    found
        .filter(|finding| finding.rule.severity != Severity::Info)
        .map(|finding| to_text(&checked.source, finding, Style::Plain))
        .collect()
}

/// The parts of names: some indicate the kind of a state, and some have a special meaning in YAML.
const WORDS: &[&str] = &[
    "Pending", "Live", "Failed", "Ready", "Deleting", "Released", "Error", "Null", "True", "Yes", "No",
    "Off", "Y", "NaN", "Not", "Retry", "X1", "Done", "Lost", "Mod", "Con", "E1", "Inf", "DeleteVM",
];

fn pascal(dice: &mut Dice, longest: usize) -> String {
    let count = 1 + dice.below(3);
    let words: String = (0..count).map(|_| *dice.among(WORDS)).collect();
    words.chars().take(longest).collect()
}

/// Whether the language refuses a name of the right form, which the user has to change.
fn is_taken(text: &str) -> bool {
    let checked = krator::check("krator.yaml", text.as_bytes());
    let mut found = checked.findings.iter();
    found.any(|finding| finding.rule.name == "name-collision")
}

#[test]
fn a_starter_has_no_errors_and_no_warnings_whatever_its_names() {
    let mut dice = Dice::new(number("KRATOR_SEED", 11));
    let mut taken = 0;
    const TRIES: usize = 500;
    for _ in 0..TRIES {
        let kind = KindName::parse(&pascal(&mut dice, 59)).expect("a name of the right form");
        let group = format!(
            "{}.{}",
            dice.among(&["web", "1", "on", "a-b"]),
            dice.among(&["example.com", "2", "io", "no"])
        );
        let group = GroupName::parse(&group).expect("a name of the right form");
        let names: BTreeSet<String> = (0..dice.below(7)).map(|_| pascal(&mut dice, 63)).collect();
        let mut names: Vec<StateName> = names
            .iter()
            .map(|name| StateName::parse(name).expect("a name of the right form"))
            .collect();
        let turn = dice.below(names.len());
        names.rotate_left(turn);
        let text = starter(&kind, &group, &names);
        if is_taken(&text) {
            taken += 1;
            continue;
        }
        assert_eq!(findings(&text), "", "{text}");
    }
    assert!(taken < TRIES / 2, "most names are free: {taken}");
}

#[test]
fn init_writes_a_description_once() {
    let work = tempfile::tempdir().expect("a temporary folder");
    let file = work.path().join("krator.yaml");
    let args = [
        "init",
        "--kind",
        "Website",
        "--group",
        "web.example.com",
        "--output",
    ];
    let args: Vec<&Path> = args.iter().map(Path::new).chain([file.as_path()]).collect();
    assert!(run(&args).status.success());
    let text = fs::read_to_string(&file).expect("it was written");
    assert_eq!(findings(&text), "");
    assert!(text.contains("\n  Pending:\n"), "{text}");
    fs::write(&file, "mine").expect("our own");
    assert_eq!(run(&args).status.code(), Some(2));
    assert_eq!(fs::read_to_string(&file).expect("our own"), "mine");
}

/// Names that indicate a deletion.
#[test]
fn init_knows_names_of_deletion() {
    for (states, entry, end) in [
        (
            "Creating,Running,Degraded,Deregistering,Gone",
            "Deregistering",
            "Gone",
        ),
        ("Creating,Running,Deleting,Deleted", "Deleting", "Deleted"),
        ("Creating,Running,Uninstalling", "Uninstalling", "Uninstalling"),
    ] {
        let work = tempfile::tempdir().expect("a temporary folder");
        let file = work.path().join("krator.yaml");
        let args = [
            "init",
            "--kind",
            "Cache",
            "--group",
            "example.com",
            "--states",
            states,
            "--output",
        ];
        let args: Vec<&Path> = args.iter().map(Path::new).chain([file.as_path()]).collect();
        assert!(run(&args).status.success());
        let text = fs::read_to_string(&file).expect("it was written");
        assert!(
            text.contains(&format!("  deletion: {entry}\n")),
            "{states}: {text}"
        );
        assert!(
            text.contains(&format!("  {end}:\n    kind: final\n")),
            "{states}: {text}"
        );
        assert_eq!(findings(&text), "", "{states}: {text}");
    }
}

#[test]
fn there_are_seven_examples_without_findings() {
    assert_eq!(krator::examples::ALL.len(), 7);
    let listed = run(&[Path::new("new"), Path::new("--list")]);
    let listed = String::from_utf8(listed.stdout).expect("text");
    for example in krator::examples::ALL {
        assert_eq!(findings(example.text), "", "{}", example.name);
        let line = listed.lines().find(|line| line.starts_with(example.name));
        assert!(line.is_some_and(|line| line.ends_with(example.shows)), "{listed}");
    }
    assert_eq!(listed.lines().count(), 7);
}

#[test]
fn an_example_becomes_a_crate() {
    let work = tempfile::tempdir().expect("a temporary folder");
    let out = work.path().join("made");
    let args = ["new", "--example", "moose", "--out"].map(Path::new);
    let made = run(&[&args[..], &[&out]].concat());
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let text = fs::read_to_string(out.join("krator.yaml")).expect("a crate has its description");
    let moose = krator::examples::named("moose").expect("it was made");
    assert_eq!(text, moose.text);
    // The handlers of an example are written, and so are its tests.
    let eat = fs::read_to_string(out.join("src/moose/states/eat.rs")).expect("a handler");
    let test = fs::read_to_string(out.join("tests/moose.rs")).expect("a test");
    assert!(
        !eat.contains("WRITTEN") && !test.contains("#[ignore"),
        "{eat}\n{test}"
    );
}

/// The finished example is checked in as a crate, and is updated like the crates of users: by `krator gen`.
#[test]
fn the_finished_example_is_in_step() {
    let folder = krator_tests::root().join("examples/database");
    let krator = |args: &[&str]| {
        run_to_end(
            Command::new(krator_tests::program())
                .args(args)
                .current_dir(&folder),
        )
    };
    let text = fs::read_to_string(folder.join("krator.yaml")).expect("its description");
    let example = krator::examples::named("database").expect("it is embedded");
    assert_eq!(text, example.text);
    if is_update(&folder) {
        krator(&["gen"]);
    }
    krator(&["gen", "--check"]);
    krator(&["check", "--deny", "warnings"]);
}
