//! Hand-written code, checked against its description.
//!
//! `testdata/code/<case>/` is a crate. `spec.yaml` is its description; the other files replace generated ones, as edits
//! of a user. `former.yaml` is the description that the crate was last generated from, if it differs. `expected.txt`
//! has the findings of `krator check` in the code; `KRATOR_UPDATE=1 cargo test` rewrites it.

use crate::case_file::expect_file;
use crate::code_case::{Described, Renaming, cases, check, rename, text};
use crate::descriptions;
use krator::catalog::Severity;
use krator::code;
use std::collections::BTreeSet;
use std::fs;

#[test]
fn each_case_gives_the_expected_findings() {
    let mut wrong = Vec::new();
    for (_, case) in cases("code") {
        expect_file(&case.join("expected.txt"), &text(&check(&case)), &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `testdata/rename/<case>/` is a crate that was generated from `former.yaml`, with names that change to those of
/// `spec.yaml`. `after/` has its written files after the renaming, and `reports.txt` the names that were left
/// unchanged. `e2e` compiles the renamed crate.
#[test]
fn each_case_is_renamed_as_expected() {
    let mut wrong = Vec::new();
    for (name, case) in cases("rename") {
        let Renaming {
            now,
            before,
            after,
            renamed,
        } = rename(&case);
        for path in before.keys().filter(|path| case.join(path).is_file()) {
            let path = renamed.files.get(path).map_or(path, |(path, _)| path);
            let expected = case.join("after").join(path);
            fs::create_dir_all(expected.parent().expect("a folder")).expect("the repository can be written");
            expect_file(&expected, &after[path], &mut wrong);
        }
        expect_file(&case.join("reports.txt"), &text(&renamed.reports), &mut wrong);
        let found = code::findings(&now.code(&after));
        let errors = found
            .iter()
            .flat_map(|file| &file.findings)
            .any(|f| f.rule.severity == Severity::Error);
        if errors {
            wrong.push(format!("{name} has errors when it is renamed:\n{}", text(&found)));
        }
        // Renaming must not move lines.
        for (path, contents) in &renamed.files {
            assert_eq!(before[path].lines().count(), contents.1.lines().count());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn crates_as_generated_have_no_findings() {
    for (name, case) in descriptions::cases() {
        let described = Described::read(&case.join("spec.yaml"));
        for is_written in [false, true] {
            let mut texts = described.seeded();
            if is_written {
                // As in the crates of examples, whose handlers count as written.
                let written = described.plan.clone().written();
                texts.retain(|path, text| {
                    let file = written.get(path).expect("the same files");
                    text.clone_from(&file.contents);
                    true
                });
            }
            let found = code::findings(&described.code(&texts));
            assert!(found.is_empty(), "{name}: {}", text(&found));
        }
    }
}

/// The rules that are broken in some case.
pub fn covered() -> BTreeSet<String> {
    let expected = cases("code")
        .into_iter()
        .map(|(_, case)| case.join("expected.txt"))
        .chain(
            cases("rename")
                .into_iter()
                .map(|(_, case)| case.join("reports.txt")),
        );
    let texts: String = expected
        .map(|path| fs::read_to_string(path).unwrap_or_default())
        .collect();
    let rules = krator::rules::all();
    rules
        .filter(|rule| texts.contains(&format!("[{}]", rule.name)))
        .map(|rule| rule.name.to_owned())
        .collect()
}
