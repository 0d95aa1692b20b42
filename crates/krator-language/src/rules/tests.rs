//! Tests of the table of checks.

use super::*;
use crate::catalog::{DELETION_ESCAPE, NO_EXIT, NO_PATH_TO_FINAL};

/// The mistakes in the registration of the checks.
fn mistakes(checks: &[Check]) -> Vec<String> {
    let mut mistakes = Vec::new();
    let expected: BTreeSet<&str> = crate::catalog::checked().map(|rule| rule.name).collect();
    let mut registered = BTreeSet::new();
    for check in checks {
        let name = check.rule.name;
        if !registered.insert(name) {
            mistakes.push(format!("{name} is registered twice"));
        }
        if !expected.contains(name) {
            mistakes.push(format!("catalog::checked() does not list {name}"));
        }
        let is_of_kind = |check: &Check| matches!(check.scope, CheckScope::Kind(_));
        if !is_of_kind(check) && (check.needs_edges || !check.unless.is_empty()) {
            mistakes.push(format!(
                "{name} has a condition, but is not checked for each kind"
            ));
        }
        if matches!(check.scope, CheckScope::Description(_)) && check.rule.severity != Severity::Error {
            mistakes.push(format!("no `allow` can silence {name}, which is no error"));
        }
        for rule in check.unless {
            if !checks
                .iter()
                .any(|other| other.rule == *rule && is_of_kind(other))
            {
                mistakes.push(format!(
                    "{name} waits for {}, which no kind is checked for",
                    rule.name
                ));
            }
        }
    }
    mistakes.extend(
        expected
            .difference(&registered)
            .map(|name| format!("{name} has no check")),
    );
    mistakes
}

#[test]
fn every_rule_with_a_check_is_registered_once() {
    assert_eq!(mistakes(CHECKS), Vec::<String>::new());
}

#[test]
fn a_registration_that_is_missing_or_doubled_is_noticed() {
    let first = CHECKS[0].rule.name;
    assert_eq!(mistakes(&CHECKS[1..]), [format!("{first} has no check")]);
    let doubled: Vec<Check> = CHECKS.iter().chain(&CHECKS[..1]).copied().collect();
    assert_eq!(mistakes(&doubled), [format!("{first} is registered twice")]);
}

#[test]
fn each_check_runs_after_those_that_it_depends_on() {
    let ordered = ordered(CHECKS).expect("there is no cycle");
    assert_eq!(ordered.len(), CHECKS.len());
    for (at, check) in ordered.iter().enumerate() {
        for rule in check.unless {
            let earlier = ordered.iter().position(|other| other.rule == *rule);
            assert!(earlier < Some(at), "{} before {}", check.rule.name, rule.name);
        }
    }
}

#[test]
fn a_cycle_of_dependencies_is_noticed() {
    const UNLESS_NO_PATH: &[&Rule] = &[&NO_PATH_TO_FINAL];
    const UNLESS_ESCAPE: &[&Rule] = &[&NO_EXIT, &DELETION_ESCAPE];
    let check = |rule| Check::of_kind(rule, |_| Vec::new());
    let cyclic = [
        check(&NO_EXIT),
        Check {
            unless: UNLESS_NO_PATH,
            ..check(&DELETION_ESCAPE)
        },
        Check {
            unless: UNLESS_ESCAPE,
            ..check(&NO_PATH_TO_FINAL)
        },
    ];
    assert!(ordered(&cyclic).is_err_and(|rule| *rule != NO_EXIT));
}
