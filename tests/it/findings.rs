//! Each rule finds its mutant, at the marked line, and nothing else is an error; good descriptions give none.
//!
//! `testdata/err/<rule>[.<variant>]/spec.yaml` is a description with one mistake, its line marked by `#<`; where it is
//! a mistake only against the description as it was, that is `before.yaml` beside it. `expected.txt` is what `krator check` says. `KRATOR_UPDATE=1 cargo test` rewrites the latter.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use krator::Checked;
use krator::finding::{Severity, Style, has_errors, to_text};

fn cases(folder: &str) -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata")
        .join(folder);
    let mut cases: Vec<_> = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("spec.yaml").is_file())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path))
        .collect();
    cases.sort();
    cases
}

fn check(case: &Path) -> Checked {
    let text = fs::read(case.join("spec.yaml")).unwrap();
    match fs::read(case.join("before.yaml")) {
        Ok(before) => krator::check_against(&before, "spec.yaml", &text),
        Err(_) => krator::check("spec.yaml", &text),
    }
}

#[test]
fn every_mutant_gives_its_finding_and_no_other_error() {
    let mut wrong = Vec::new();
    for (name, path) in cases("err") {
        let rule = name.split('.').next().unwrap();
        let checked = check(&path);
        let lines: Vec<&str> = checked.source.text().lines().collect();
        let of_rule: Vec<_> = checked
            .findings
            .iter()
            .filter(|finding| finding.rule.name == rule)
            .collect();
        let is_marked = |offset| {
            lines
                .get(checked.source.position(offset).line - 1)
                .is_some_and(|line| line.contains("#<"))
        };
        if !of_rule.iter().any(|finding| is_marked(finding.span.start)) {
            wrong.push(format!("{name}: not found at its line"));
        }
        for finding in &checked.findings {
            if finding.rule.severity == Severity::Error && finding.rule.name != rule {
                wrong.push(format!("{name}: also {}: {}", finding.rule.name, finding.message));
            }
        }
        let text: String = checked
            .findings
            .iter()
            // Hints about the description that all mutants are made of say nothing about the mutant.
            .filter(|finding| finding.rule.severity != Severity::Info || finding.rule.name == rule)
            .map(|finding| to_text(&checked.source, finding, Style::Plain))
            .collect();
        let expected = path.join("expected.txt");
        if std::env::var_os("KRATOR_UPDATE").is_some() {
            fs::write(&expected, &text).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != text {
            wrong.push(format!(
                "{name}: expected.txt differs (KRATOR_UPDATE=1 rewrites it), now:\n{text}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_has_a_mutant() {
    let covered: BTreeSet<String> = cases("err")
        .into_iter()
        .map(|(name, _)| name.split('.').next().unwrap().to_owned())
        .chain(crate::regen::covered())
        .chain(crate::code::covered())
        .collect();
    let rules: BTreeSet<String> = krator::rules::all().map(|rule| rule.name.to_owned()).collect();
    assert_eq!(rules, covered);
}

#[test]
fn good_descriptions_have_no_errors() {
    for (name, path) in cases("ok") {
        let checked = check(&path);
        let text: String = checked
            .findings
            .iter()
            .map(|finding| to_text(&checked.source, finding, Style::Plain))
            .collect();
        assert!(
            checked.description.is_some() && !has_errors(&checked.findings),
            "{name}:\n{text}"
        );
    }
}

#[test]
fn every_explanation_has_a_bad_and_a_good_example_or_is_a_hint() {
    for rule in krator::rules::all() {
        let has_both = rule.explanation.contains("Bad:") && rule.explanation.contains("Good:");
        assert!(
            has_both || matches!(rule.severity, Severity::Info) || rule.name == "syntax",
            "{}",
            rule.name
        );
    }
}
