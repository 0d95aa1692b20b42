//! Random edits, one after the other, of descriptions whose crates somebody has written in. After each edit every line is
//! in the handler that it was written for, and a crate compiles, or the compiler names lines that `krator gen` has named.
//!
//! A sequence is five edits of one description. Six crates, of six descriptions, are members of one workspace and are
//! edited at once, so that one run of cargo judges them. `KRATOR_SEQUENCES` is the number of sequences, `KRATOR_SEED` the
//! seed of the dice. Edits that rename have a test of their own, which needs no compiler and is fast: a test run takes a
//! slice of them, and `KRATOR_SEQUENCES=200` is the thorough run.

mod crates;
mod edits;

use crate::dice::Dice;
use crate::goldens::cases;
use crates::Member;
use std::collections::{BTreeMap, BTreeSet};

/// The descriptions that are edited.
const CASES: [&str; 6] = ["backup", "cronjob", "helmrelease", "memcached", "moose", "order"];
/// Edits of a sequence.
const STEPS: usize = 5;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

/// The crates of one round of sequences.
fn members(workspace: &crates::Workspace, dice: &mut Dice) -> Vec<Member> {
    CASES
        .iter()
        .map(|case| workspace.member(case, &cases()[*case], dice))
        .collect()
}

#[test]
fn every_line_follows_its_state_through_all_renames() {
    let (sequences, seed) = (number("KRATOR_SEQUENCES", 6), number("KRATOR_SEED", 1));
    let rounds = sequences.div_ceil(CASES.len() as u64);
    let mut edits: BTreeMap<&str, usize> = BTreeMap::new();
    let is_wanted = |sort: &str| {
        ["renamed", "swapped", "rotated"]
            .iter()
            .any(|word| sort.contains(word))
            || ["state added", "state removed", "kind added"].contains(&sort)
    };
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

#[test]
fn after_every_edit_a_crate_compiles_or_the_lines_that_do_not_were_named() {
    let (sequences, seed) = (number("KRATOR_SEQUENCES", 40), number("KRATOR_SEED", 1));
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
