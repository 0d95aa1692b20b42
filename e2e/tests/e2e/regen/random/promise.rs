//! Random edits with `krator dev` and without it: the output of `check` and `gen` afterwards is the same.

use super::{CASES, Dice, edits, number};
use crate::descriptions::cases;
use crate::regenerate::{ELSEWHERE, follow_as_dev, new, text};
use crate::yaml::documents;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// The number of edits in one session.
const STEPS: usize = 5;

/// Edits the older versions of a kind.
fn of_versions(documents: &mut [Json], dice: &mut Dice) -> Option<&'static str> {
    let document = &mut documents[0];
    let now = document["resource"]["version"].as_str()?.to_owned();
    let names: Vec<String> = match document["versions"].as_object() {
        Some(versions) => versions.keys().cloned().collect(),
        None => Vec::new(),
    };
    let free: Vec<&str> = ["v1", "v1beta1", "v1alpha1", "v2"]
        .into_iter()
        .filter(|name| *name != now && !names.iter().any(|there| there == name))
        .collect();
    let name = dice.pick(&free)?.to_string();
    match (dice.below(3), dice.pick(&names).cloned()) {
        (0, Some(gone)) => {
            let versions = document["versions"].as_object_mut()?;
            versions.shift_remove(&gone);
            if versions.is_empty() {
                document.as_object_mut()?.shift_remove("versions");
            }
            Some("version removed")
        }
        (1, Some(former)) => {
            let versions = document["versions"].as_object_mut()?;
            let version = versions.shift_remove(&former)?;
            versions.insert(name.clone(), version);
            Some("version renamed")
        }
        _ => {
            document["versions"][&name] = json!({"changes": []});
            Some("version added")
        }
    }
}

/// An edit of the versions, and its sort, if the resulting description is sound.
fn with_other_versions(before: &[Json], dice: &mut Dice) -> Option<(Vec<Json>, &'static str)> {
    let mut after = before.to_vec();
    let sort = of_versions(&mut after, dice)?;
    let checked = krator::check("krator.yaml", edits::text(&after).as_bytes());
    checked.sound().map(|_| (after, sort))
}

/// A random edit, and its sort.
fn edited(before: &[Json], dice: &mut Dice) -> (Vec<Json>, &'static str) {
    let tries = if dice.one_in(3) { 20 } else { 0 };
    for _ in 0..tries {
        if let Some(edited) = with_other_versions(before, dice) {
            return edited;
        }
    }
    let is_wanted =
        |sort: &str| sort.starts_with("state") || sort.contains("field") || sort == "version changed";
    let edited = edits::random(before, dice, is_wanted);
    (edited.documents, edited.sort)
}

/// The exit code of a subcommand, and its findings.
fn said(dir: &Path, args: &[&str]) -> (Option<i32>, Vec<String>) {
    let output = Command::new(krator_tests::program())
        .args(args)
        .current_dir(dir)
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .expect("krator runs");
    let all = [output.stdout, output.stderr].map(text).concat();
    // The place of the stored text does not matter.
    let all = all.replace(".krator/promised/", ".krator/");
    let is_finding = |paragraph: &&str| {
        let first = paragraph.lines().next().unwrap_or_default();
        first.starts_with("error[") || first.starts_with("warning[")
    };
    let findings = all.split("\n\n").map(str::trim_start).filter(is_finding);
    (output.status.code(), findings.map(str::to_owned).collect())
}

#[test]
fn a_session_of_dev_changes_nothing_that_is_said_of_its_edits() {
    let (sessions, seed) = (number("KRATOR_SESSIONS", 10), number("KRATOR_SEED", 1));
    let (mut counted, mut refused) = (BTreeMap::new(), 0);
    for session in 0..sessions {
        let mut dice = Dice::new(seed.wrapping_mul(1_000_003).wrapping_add(session));
        let case = *dice.among(&CASES);
        let home = tempfile::tempdir().expect("a temporary folder");
        let spec = cases()[case].join("spec.yaml");
        let mut described = documents(&fs::read(spec).expect("a description"));
        for _ in 0..dice.below(6) {
            if let Some((with, _)) = with_other_versions(&described, &mut dice) {
                described = with;
            }
        }
        let spec = home.path().join("krator.yaml");
        fs::write(&spec, edits::text(&described)).expect("a folder of our own");
        let [with, without] = ["with", "without"].map(|name| home.path().join(name).join("crate"));
        for dir in [&with, &without] {
            fs::create_dir(dir.parent().expect("its home")).expect("a folder of our own");
            new(&spec, dir, ELSEWHERE);
        }
        let mut history = Vec::new();
        for _ in 0..STEPS {
            let (after, sort) = edited(&described, &mut dice);
            described = after;
            *counted.entry(sort).or_insert(0) += 1;
            fs::write(with.join("krator.yaml"), edits::text(&described)).expect("a folder of our own");
            let is_followed = follow_as_dev(&with);
            history.push((sort, is_followed));
        }
        fs::write(without.join("krator.yaml"), edits::text(&described)).expect("a folder of our own");
        let place = || {
            format!(
                "seed {seed}, session {session}, {case}: {history:?}\n{}",
                edits::text(&described)
            )
        };
        let allowing = ["gen", "--allow-breaking"];
        for args in [
            &["check"][..],
            &["diff"],
            &["gen", "--check"],
            &["gen"],
            &["gen"],
            &allowing,
            &["gen", "--check"],
        ] {
            let (one, other) = (said(&with, args), said(&without, args));
            refused += usize::from(args == ["gen"] && other.0 == Some(1));
            assert_eq!(one, other, "krator {args:?} with dev and without it: {}", place());
        }
        assert!(!with.join(".krator/promised").exists(), "{}", place());
    }
    println!("{sessions} sessions, seed {seed}: {counted:?}, {refused} refusals");
}
