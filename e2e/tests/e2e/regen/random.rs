//! Random sequences of edits of descriptions, in crates with lines of a user. After each edit every line is in the
//! handler that it was written for, and the crate compiles, apart from lines of handlers that the compiler names.
//!
//! A sequence is five edits of one description. Six crates, of six descriptions, are members of one workspace and are
//! edited at once, so that one run of cargo checks them. `KRATOR_SEQUENCES` is the number of sequences, `KRATOR_SEED`
//! the seed of the dice. In a third test, the files are changed between edits, and one of them cannot be read while
//! krator runs. Edits that rename have a test of their own. A normal test run has a few sequences of each, and
//! `KRATOR_SEQUENCES=200` is the thorough run.

mod crates;
mod edits;
mod merges;
mod promise;

use crate::descriptions::cases;
use crate::dice::{Dice, number};
use crate::operator::files;
use crate::regenerate::{VENDORED, generate, new, text};
use crate::yaml::documents;
use crates::Member;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// The descriptions that are edited.
const CASES: [&str; 6] = ["backup", "cronjob", "helmrelease", "memcached", "moose", "order"];
/// The number of edits of a sequence.
const STEPS: usize = 5;

/// The crates of one round of sequences.
fn members(workspace: &crates::Workspace, dice: &mut Dice) -> Vec<Member> {
    CASES
        .iter()
        .map(|case| workspace.member(case, &cases()[*case], dice))
        .collect()
}

#[test]
fn every_line_follows_its_state_through_all_renames() {
    let (sequences, seed) = (number("KRATOR_SEQUENCES", SLICE), number("KRATOR_SEED", 1));
    let rounds = sequences.div_ceil(CASES.len() as u64);
    let mut edits: BTreeMap<&str, usize> = BTreeMap::new();
    let is_wanted =
        |sort: &str| renames(sort) || ["state added", "state removed", "kind added"].contains(&sort);
    for round in 0..rounds {
        let mut dice = Dice::new(seed.wrapping_mul(1_000_003).wrapping_add(round));
        let workspace = crates::Workspace::new("renames");
        for mut member in members(&workspace, &mut dice) {
            for step in 0..STEPS {
                *edits.entry(member.edit(&mut dice, is_wanted)).or_default() += 1;
                let mut wrong = member.lost();
                wrong.extend(member.misplaced());
                assert!(
                    wrong.is_empty(),
                    "seed {seed}, round {round}, step {step}, {}:\n{}\n{}",
                    member.last(),
                    wrong.join("\n"),
                    workspace.keep()
                );
                member.mark(&mut dice);
            }
        }
    }
    println!(
        "{} sequences, seed {seed}: {edits:?}",
        rounds * CASES.len() as u64
    );
}

/// Whether an edit renames.
fn renames(sort: &str) -> bool {
    ["renamed", "swapped", "rotated"]
        .iter()
        .any(|word| sort.contains(word))
}

/// In an unchanged crate, `krator gen` completes every rename, and all files stay formatted.
#[test]
fn renames_leave_nothing_to_do_in_a_crate_that_nobody_touched() {
    let (sequences, seed) = (number("KRATOR_SEQUENCES", SLICE), number("KRATOR_SEED", 1));
    let rounds = sequences.div_ceil(CASES.len() as u64);
    for round in 0..rounds {
        let mut dice = Dice::new(seed.wrapping_mul(1_000_003).wrapping_add(round));
        for case in CASES {
            let work = tempfile::tempdir().expect("a temporary folder");
            let dir = work.path().join(case);
            let spec = cases()[case].join("spec.yaml");
            new(&spec, &dir, VENDORED);
            let mut described = documents(&fs::read(spec).expect("a description"));
            for step in 0..STEPS {
                let edited = edits::random(&described, &mut dice, renames);
                described = edited.documents;
                fs::write(dir.join("krator.yaml"), edits::text(&described)).expect("our own");
                let told = text(generate(&dir, &["--allow-breaking"]).stderr);
                let place = format!("seed {seed}, round {round}, step {step}, {case}: {}", edited.what);
                assert!(!told.contains("differently"), "{place}\n{told}");
                let code = files(&dir).into_keys().filter(|path| {
                    ["src/lib.rs", "src/main.rs"]
                        .map(Path::new)
                        .contains(&path.as_path())
                        || path.starts_with("tests")
                });
                let formatted = Command::new("rustfmt")
                    .args(["--check", "--edition", "2024"])
                    .args(code)
                    .current_dir(&dir)
                    .stdin(Stdio::null())
                    .output()
                    .expect("rustfmt runs");
                assert!(formatted.status.success(), "{place}\n{}", text(formatted.stdout));
            }
        }
    }
}

/// One sequence of each description. Without `KRATOR_SEQUENCES`, a test runs one slice, or two with the compiler.
const SLICE: u64 = 6;

#[test]
fn no_line_is_lost_whatever_happens_to_files() {
    let (sequences, seed) = (number("KRATOR_SEQUENCES", SLICE), number("KRATOR_SEED", 1));
    let rounds = sequences.div_ceil(CASES.len() as u64);
    let (mut happened, mut faults, mut edits) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
    for round in 0..rounds {
        let mut dice = Dice::new(seed.wrapping_mul(1_000_003).wrapping_add(round));
        let workspace = crates::Workspace::new("files");
        for mut member in members(&workspace, &mut dice) {
            for step in 0..STEPS {
                let event = member.disturb(&mut dice);
                *happened.entry(event).or_insert(0) += 1;
                let (edit, fault) = member.edit_with_fault(&mut dice);
                edits.insert(edit);
                *faults.entry(fault).or_insert(0) += 1;
                let mut wrong = member.lost();
                wrong.extend(member.misplaced());
                assert!(
                    wrong.is_empty(),
                    "seed {seed}, round {round}, step {step}, {event}, {}:\n{}\n{}",
                    member.last(),
                    wrong.join("\n"),
                    workspace.keep()
                );
                member.mark(&mut dice);
            }
        }
    }
    println!(
        "{} sequences, seed {seed}: {happened:?}, {faults:?}, {} sorts of edits",
        rounds * CASES.len() as u64,
        edits.len()
    );
}

#[test]
fn after_every_edit_only_lines_of_handlers_may_not_compile() {
    let (sequences, seed) = (number("KRATOR_SEQUENCES", 2 * SLICE), number("KRATOR_SEED", 1));
    let rounds = sequences.div_ceil(CASES.len() as u64);
    let (mut named, mut wrong, mut edits) = (0, Vec::new(), BTreeSet::new());
    for round in 0..rounds {
        let mut dice = Dice::new(seed.wrapping_mul(1_000_003).wrapping_add(round));
        let workspace = crates::Workspace::new("edits");
        let mut members = members(&workspace, &mut dice);
        for step in 0..STEPS {
            for member in &mut members {
                edits.insert(member.edit(&mut dice, |_| true));
            }
            let errors = workspace.check();
            for member in &mut members {
                let place = format!("seed {seed}, round {round}, step {step}, {}", member.last());
                wrong.extend(
                    member
                        .judge(&errors)
                        .into_iter()
                        .map(|what| format!("{place}: {what}")),
                );
                named += member.mend();
                member.mark(&mut dice);
            }
            assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), workspace.keep());
        }
    }
    println!(
        "{} sequences, seed {seed}: {named} lines named, edits: {edits:?}",
        rounds * CASES.len() as u64
    );
    assert!(named > 0, "no edit ever asked for a change of handlers");
}
