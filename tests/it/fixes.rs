//! Fixes of descriptions: after a fix, no mistake of `testdata/err` has more errors or errors of other rules, and lines
//! without a fix are unchanged.

use crate::case_file::{CaseFile, case_files};
use crate::version_pair::version_pair;
use krator::catalog::Severity;
use krator::finding::Finding;
use krator::fixes::{certain, fix};
use krator::spec::Files;
use serde_json::Value;
use std::collections::BTreeMap;

fn cases() -> Vec<CaseFile> {
    case_files("err", &["before.yaml", "spec.yaml", "expected"])
}

/// The number of errors of each rule.
fn errors(findings: &[Finding]) -> BTreeMap<&'static str, usize> {
    let mut errors = BTreeMap::new();
    for finding in findings
        .iter()
        .filter(|finding| finding.rule.severity == Severity::Error)
    {
        *errors.entry(finding.rule.name).or_default() += 1;
    }
    errors
}

#[test]
fn fixes_add_no_errors_and_are_made_once() {
    let mut fixed_cases = Vec::new();
    for case in cases() {
        let (name, text) = (case.name(), case.section("spec.yaml"));
        let before = krator::check("spec.yaml", text.as_bytes());
        let fixed = fix("spec.yaml", text, &Files::default(), None);
        let after = fixed.checked.source.text();
        for (rule, count) in errors(&fixed.checked.findings) {
            let former = errors(&before.findings).get(rule).copied().unwrap_or(0);
            assert!(count <= former, "{name}: {count} errors of {rule}\n{after}");
        }
        assert_eq!(fixed.count > 0, after != text, "{name}");
        assert_eq!(
            fix("spec.yaml", after, &Files::default(), None).count,
            0,
            "{name}:\n{after}"
        );
        // Only lines with a fix change, so that comments and layout stay.
        let changed = diffy::DiffOptions::new()
            .set_context_len(0)
            .create_patch(text, after)
            .to_string();
        let removed = changed
            .lines()
            .skip(2)
            .filter(|line| line.starts_with('-'))
            .count();
        assert!(removed <= fixed.count, "{name}:\n{changed}");
        assert_eq!(
            text.matches('#').count(),
            after.matches('#').count(),
            "{name}:\n{changed}"
        );
        if fixed.count > 0 {
            let is_sound = errors(&fixed.checked.findings).is_empty();
            assert!(is_sound, "{name} still has errors:\n{changed}");
            fixed_cases.push(name.to_owned());
        }
    }
    assert!(fixed_cases.len() >= 15, "only {fixed_cases:?} are fixed");
}

/// The user has to choose among several suggestions, and has to decide on fixes that may change the meaning.
#[test]
fn doubtful_fixes_are_offered_and_not_made() {
    let text = "krator: 1\nresource: {group: animals.com, version: v1, kind: Moose}\nspec: {weight: number}\n\
                machine: {initial: Lest}\nstates:\n  Lost: {kind: ready, next: [Last]}\n  \
                Last: {kind: ready, next: [Lost], timeout: {after: 2, to: Lost}}\n";
    let checked = krator::check("spec.yaml", text.as_bytes());
    let offered = checked
        .findings
        .iter()
        .filter(|finding| finding.fix.is_some())
        .count();
    assert_eq!(offered, 2, "{:?}", checked.findings);
    assert_eq!(certain(&checked.findings), Vec::<&krator::finding::Fix>::new());
    assert_eq!(fix("spec.yaml", text, &Files::default(), None).count, 0);
}

/// The schema of a version in a CRD, without the required fields.
fn schema_of(checked: &krator::Checked, version: &str) -> Value {
    fn without_required(schema: &mut Value) {
        if let Value::Object(keys) = schema {
            if keys.get("required").is_some_and(Value::is_array) {
                keys.remove("required");
            }
            keys.values_mut().for_each(without_required);
            keys.sort_keys();
        }
    }
    let description = checked.sound().expect("a good description");
    let definition = krator::render::crd::crd(description).remove(0);
    let mut versions = definition["spec"]["versions"].as_array().into_iter().flatten();
    let found = versions.find(|found| found["name"] == version);
    let mut schema = found.expect("the version is there")["schema"].clone();
    // The operator stores digests of the spec for converted kinds.
    let status = schema.pointer_mut("/openAPIV3Schema/properties/status/properties");
    if let Some(Value::Object(status)) = status {
        status.remove("specDigests");
    }
    without_required(&mut schema);
    schema
}

/// The recorded changes of a former version turn the new schema back into the former one. Only the required fields may
/// differ: a field that the new version lacks is optional in the old one.
#[test]
fn a_former_version_is_written_down_as_it_was() {
    let first = crate::dice::number("KRATOR_SEED", 0);
    let mut wrong = Vec::new();
    for seed in first..first + crate::dice::number("KRATOR_CASES", 100) {
        let pair = version_pair(seed, "things.example.com");
        let old = krator::check("krator.yaml", pair.old.as_bytes());
        assert!(old.sound().is_some(), "{}: {:?}", pair.old, old.findings);
        let fixed = fix("krator.yaml", &pair.new, &Files::default(), Some(&old));
        let proposed = krator::check("krator.yaml", pair.new.as_bytes()).breaking_changes(&old);
        let proposed: Vec<_> = proposed
            .iter()
            .filter_map(|finding| finding.fix.as_ref())
            .collect();
        let certain = proposed.iter().filter(|fix| fix.is_certain).count();
        assert_eq!(fixed.count, certain, "{seed}: only what is certain is written");
        let mut text = pair.new.clone();
        for fix in &proposed {
            text.replace_range(fix.span.start..fix.span.end, &fix.replacement);
        }
        let checked = krator::check("krator.yaml", text.as_bytes());
        let mut findings = checked.findings.clone();
        findings.extend(checked.breaking_changes(&old));
        let errors = errors(&findings);
        if proposed.len() != 1 || !errors.is_empty() {
            let found = findings.iter().map(|finding| &finding.message);
            wrong.push(format!(
                "{seed}: {:?}\n{}\n{text}",
                found.collect::<Vec<_>>(),
                pair.old
            ));
        } else if schema_of(&checked, "v1beta1") != schema_of(&old, "v1beta1") {
            let (now, then) = (schema_of(&checked, "v1beta1"), schema_of(&old, "v1beta1"));
            let difference = diffy::create_patch(&format!("{then:#}"), &format!("{now:#}")).to_string();
            wrong.push(format!(
                "{seed}: another schema\n{difference}\n{}\n{text}",
                pair.old
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ\n{}",
        wrong.len(),
        wrong[..wrong.len().min(3)].join("\n")
    );
}
