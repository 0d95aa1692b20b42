//! Two branches of a crate, each with edits of the description and of handlers, and with runs of `krator gen`. Git
//! merges them, and a simulated user resolves the conflicts in krator.yaml and in the user's files. One run of `krator
//! gen` completes the merge: no line of the user is lost, and the crate is up to date.
//!
//! `KRATOR_MERGES` is the number of merges, `KRATOR_SEED` the seed of the dice.

use super::crates::{Member, Workspace};
use super::{CASES, edits};
use crate::descriptions::{cases, is_repeated};
use crate::dice::{Dice, number};
use crate::operator::{files, krator};
use crate::regenerate::{generate, text};
use crate::yaml::documents;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The numbers of merges and conflicts.
#[derive(Debug, Default)]
struct Count {
    merges: usize,
    /// The number of merges with conflicts, and of merges with conflicts in files of each sort.
    with_conflicts: usize,
    conflicts: BTreeMap<&'static str, usize>,
    /// Merged descriptions that could only be resolved by taking one side.
    one_side: usize,
    /// Merges after which code had to be changed by hand, as krator reported.
    to_mend: usize,
}

#[test]
fn branches_merge_without_a_lost_line() {
    let (merges, seed) = (number("KRATOR_MERGES", 6), number("KRATOR_SEED", 1));
    let mut count = Count::default();
    for number in 0..merges {
        let mut dice = Dice::new(seed.wrapping_mul(1_000_003).wrapping_add(number));
        let work = tempfile::tempdir().expect("a temporary folder");
        let workspace = Workspace::at(work.path().join("merges"));
        let case = CASES[number as usize % CASES.len()];
        let member = workspace.member(case, &cases()[case], &mut dice);
        let place = format!("seed {seed}, merge {number}, {case}");
        if let Err(wrong) = merge(member, &mut dice, &mut count) {
            panic!("{place}: {wrong}\nthe crate is in {}", work.keep().display());
        }
    }
    println!("seed {seed}: {count:#?}");
}

/// Creates a branch, edits both branches, and merges them. The error is the defect of the result.
fn merge(mut base: Member, dice: &mut Dice, count: &mut Count) -> Result<(), String> {
    base.reformat();
    let dir = base.dir().to_owned();
    git(&dir, &["init", "--quiet", "--initial-branch=main"]);
    commit(&dir, "base");
    git(&dir, &["branch", "right"]);
    let mut left = base.clone();
    let mut told = work(&mut left, dice);
    commit(&dir, "left");
    git(&dir, &["checkout", "--quiet", "right"]);
    let mut right = base.after(&left);
    told += &work(&mut right, dice);
    commit(&dir, "right");
    git(&dir, &["checkout", "--quiet", "main"]);
    let merged = try_git(&dir, &["merge", "--quiet", "--no-edit", "right"]);
    count.merges += 1;
    count.with_conflicts += usize::from(!merged.status.success());
    let unmerged = text(git(&dir, &["diff", "--name-only", "--diff-filter=U"]).stdout);
    for sort in unmerged
        .lines()
        .map(sort_of)
        .collect::<std::collections::BTreeSet<_>>()
    {
        *count.conflicts.entry(sort).or_default() += 1;
    }

    resolve_description(&dir, [&left, &right], count)?;
    resolve_code(&dir)?;
    let mut all = left.with(&right, documents(&read(&dir.join("krator.yaml"))));
    let first = all.bring_in_step(&["--allow-breaking"]);
    let wrong = |what: &str| Err(format!("{what}\nedits: {told}\ngit: {unmerged}\nkrator: {first}"));
    let lost = all.lost();
    if !lost.is_empty() {
        return wrong(&lost.join("\n"));
    }
    count.to_mend += usize::from(first.contains("error["));
    let before = files(&dir);
    let again = generate(&dir, &["--check"]);
    let again = text(again.stderr);
    if files(&dir) != before || again.contains("out of date") || again.contains("nothing was written") {
        return wrong(&format!("not in step: {again}"));
    }
    for rule in [
        "edited-file",
        "occupied-path",
        "conflict-markers",
        "merge-conflict",
    ] {
        if again.contains(rule) {
            return wrong(&again);
        }
    }
    Ok(())
}

/// Makes the edits of one branch. Returns their descriptions.
fn work(member: &mut Member, dice: &mut Dice) -> String {
    let mut told = String::new();
    for _ in 0..=dice.below(3) {
        member.edit(dice, |_| true);
        told += &format!("{}; ", member.last());
        member.mark(dice);
        for _ in 0..dice.below(4) {
            member.write_somewhere(dice);
        }
    }
    told + "| "
}

/// The sort of a file in conflict.
fn sort_of(path: &str) -> &'static str {
    match path {
        "krator.yaml" => "krator.yaml",
        _ if path.starts_with(".krator/") => "record",
        _ if path.contains("/generated/") || path.ends_with("/mod.rs") || is_repeated(path) => "generated",
        _ if path.starts_with("docs/") || path.starts_with("deploy/components/monitoring/") => "generated",
        "deploy/chart/templates/rules.yaml" | "deploy/chart/templates/dashboard.yaml" => "generated",
        "deploy/crd.yaml" | "deploy/rbac.yaml" | "src/types.rs" => "generated",
        _ if path.contains("/states/") => "handlers",
        _ => "other files",
    }
}

/// Resolves krator.yaml like a user who keeps both sides, or takes one of them if the result is invalid.
fn resolve_description(dir: &Path, branches: [&Member; 2], count: &mut Count) -> Result<(), String> {
    let path = dir.join("krator.yaml");
    let merged = text(read(&path));
    if let Some(sides) = sides(&merged) {
        let output = generate(dir, &[]);
        let told = text(output.stderr);
        let is_clear = told.matches("error[").count() == 1 && told.contains("error[conflict-markers]");
        if !is_clear || output.status.code() != Some(1) {
            return Err(format!(
                "krator.yaml has conflict markers, and krator says: {told}"
            ));
        }
        let whole = branches.map(|branch| edits::text(branch.documents()));
        let is_sound = |text: &&String| krator::check("krator.yaml", text.as_bytes()).sound().is_some();
        let resolved = sides.iter().chain(&whole).find(is_sound);
        count.one_side += usize::from(!sides.iter().any(|side| is_sound(&side)));
        fs::write(&path, resolved.expect("each branch is sound")).expect("writable");
    } else if krator::check("krator.yaml", merged.as_bytes()).sound().is_none() {
        count.one_side += 1;
        fs::write(&path, edits::text(branches[0].documents())).expect("writable");
    }
    Ok(())
}

/// Resolves conflicts in the user's files: in handlers the lines of both sides stay, in other files those of this
/// branch.
fn resolve_code(dir: &Path) -> Result<(), String> {
    for (path, contents) in files(dir) {
        let name = path.to_string_lossy().into_owned();
        let Ok(contents) = String::from_utf8(contents) else {
            continue;
        };
        let is_mine = matches!(sort_of(&name), "handlers" | "other files");
        let Some([ours, _]) = sides(&contents).filter(|_| is_mine) else {
            continue;
        };
        let output = krator(&[Path::new("check"), &dir.join("krator.yaml")]);
        let told = text([output.stdout, output.stderr].concat());
        if !told.contains("error[conflict-markers]") || !told.contains(&name) {
            return Err(format!("{name} has conflict markers, and krator says: {told}"));
        }
        let is_handler = sort_of(&name) == "handlers";
        let both = |line: &&str| {
            !["<<<<<<< ", "=======", ">>>>>>> "]
                .iter()
                .any(|marker| line.starts_with(marker))
        };
        let resolved = match is_handler {
            true => contents.split_inclusive('\n').filter(both).collect(),
            false => ours,
        };
        fs::write(dir.join(path), resolved).expect("writable");
    }
    Ok(())
}

/// Both sides of a text with conflict markers.
fn sides(text: &str) -> Option<[String; 2]> {
    let mut sides = [String::new(), String::new()];
    let (mut is_wanted, mut found) = ([true, true], false);
    for line in text.split_inclusive('\n') {
        match line {
            _ if line.starts_with("<<<<<<< ") => (is_wanted, found) = ([true, false], true),
            _ if line.starts_with(">>>>>>> ") => is_wanted = [true, true],
            "=======\n" if is_wanted == [true, false] => is_wanted = [false, true],
            _ => {
                for (side, is_wanted) in sides.iter_mut().zip(is_wanted) {
                    side.push_str(if is_wanted { line } else { "" });
                }
            }
        }
    }
    found.then_some(sides)
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn commit(dir: &Path, what: &str) {
    git(dir, &["add", "--all"]);
    git(dir, &["commit", "--quiet", "--allow-empty", "--message", what]);
}

fn git(dir: &Path, args: &[&str]) -> Output {
    let output = try_git(dir, args);
    assert!(
        output.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Runs git without the user's settings.
fn try_git(dir: &Path, args: &[&str]) -> Output {
    Command::new("git")
        .args(["-c", "user.name=Moose", "-c", "user.email=moose@example.com"])
        .args(["-c", "gc.auto=0", "-c", "core.autocrlf=false"])
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .stdin(Stdio::null())
        .output()
        .expect("git is there")
}
