//! Each rule finds its mutant: a description with one mistake. It is found at the marked line, and there is no other
//! error. Good descriptions have no errors.
//!
//! `testdata/err/<rule>[.<variant>].txt` is a case: the section `spec.yaml` is a description with one mistake, whose
//! line is marked by `#<`. For a mistake that depends on a former description, the section `before.yaml` has it.
//! `expected` is the output of `krator check`; `KRATOR_UPDATE=1 cargo test` rewrites it.

use crate::case_file::{CaseFile, case_files};
use krator::Checked;
use krator::catalog::Severity;
use krator::finding::{Style, has_errors, to_text};
use std::collections::BTreeSet;
use std::fs;

/// Every case, with the rule that it breaks.
fn mutants() -> Vec<(String, CaseFile)> {
    let cases = case_files("err", &["before.yaml", "spec.yaml", "expected"]);
    let with_rule = cases.into_iter().map(|case| {
        let rule = case.name().split('.').next().expect("the part before a dot");
        (rule.to_owned(), case)
    });
    with_rule.collect()
}

fn check(case: &CaseFile) -> Checked {
    let text = case.section("spec.yaml").as_bytes();
    let mut checked = krator::check("spec.yaml", text);
    if let Some(before) = case.optional("before.yaml") {
        let before = krator::check("spec.yaml", before.as_bytes());
        checked.findings.extend(checked.breaking_changes(&before));
        krator::finding::sort(&mut checked.findings);
    }
    checked
}

#[test]
fn every_mutant_gives_its_finding_and_no_other_error() {
    let mut wrong = Vec::new();
    for (rule, case) in mutants() {
        let (name, checked) = (case.name(), check(&case));
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
            wrong.push(format!("{name}: not found at the marked line"));
        }
        for finding in &checked.findings {
            if finding.rule.severity == Severity::Error && finding.rule.name != rule {
                wrong.push(format!("{name}: also {}: {}", finding.rule.name, finding.message));
            }
        }
        let text: String = checked
            .findings
            .iter()
            // Hints about the common base of all mutants do not matter here.
            .filter(|finding| finding.rule.severity != Severity::Info || finding.rule.name == rule)
            .map(|finding| to_text(&checked.source, finding, Style::Plain))
            .collect();
        case.expect("expected", &text, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Mistakes in every stage of the pipeline: one run finds them all, without consequential findings.
#[test]
fn one_run_finds_the_mistakes_of_all_stages() {
    let text = r#"krator: 1
resource: {group: animals.com, version: v1, kind: Moose}
spec:
  weight: {type: quantity, default: heavy}
  height: {type: integer, validations: [{rule: self > '1'}]}
machine: {initial: Roam}
states:
  Roam: {next: [Rome, Rest], wait: {poll: 1}}
  Rest: {kind: redy}
  tired: {kind: failed}
"#;
    let checked = krator::check("krator.yaml", text.as_bytes());
    let errors = checked
        .findings
        .iter()
        .filter(|finding| finding.rule.severity == Severity::Error);
    let found: Vec<(usize, &str)> = errors
        .map(|finding| {
            (
                checked.source.position(finding.span.start).line,
                finding.rule.name,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (4, "invalid-schema"),
            (5, "invalid-rule"),
            (8, "unknown-state"),
            (8, "invalid-duration"),
            (9, "wrong-type"),
            (10, "invalid-name"),
        ]
    );
}

#[test]
fn every_rule_has_a_mutant() {
    let covered: BTreeSet<String> = mutants()
        .into_iter()
        .map(|(rule, _)| rule)
        .chain(crate::regen::covered())
        .chain(crate::code::covered())
        .collect();
    let rules: BTreeSet<String> = krator::rules::all().map(|rule| rule.name.to_owned()).collect();
    assert_eq!(rules, covered);
}

#[test]
fn good_descriptions_have_no_errors() {
    for (name, path) in crate::descriptions::cases() {
        let text = fs::read(path.join("spec.yaml")).expect("a case has a description");
        let checked = krator::check("spec.yaml", &text);
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
