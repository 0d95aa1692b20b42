//! Tests of the table of checks.

use super::*;

/// The mistakes in the registration of the checks.
fn mistakes(checks: &[Check]) -> Vec<String> {
    let mut mistakes = Vec::new();
    let mut registered = BTreeSet::new();
    for check in checks {
        let name = check.rule.name;
        if !registered.insert(name) {
            mistakes.push(format!("{name} is registered twice"));
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
    mistakes
}

#[test]
fn every_check_is_registered_once() {
    assert_eq!(mistakes(CHECKS), Vec::<String>::new());
}

#[test]
fn a_registration_that_is_doubled_is_noticed() {
    let first = CHECKS[0].rule.name;
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
    const UNLESS_NO_PATH: &[&Rule] = &[&no_path_to_final::RULE];
    const UNLESS_ESCAPE: &[&Rule] = &[&no_exit::RULE, &deletion_escape::RULE];
    let check = |rule| Check::of_kind(rule, |_| Vec::new());
    let cyclic = [
        check(&no_exit::RULE),
        Check {
            unless: UNLESS_NO_PATH,
            ..check(&deletion_escape::RULE)
        },
        Check {
            unless: UNLESS_ESCAPE,
            ..check(&no_path_to_final::RULE)
        },
    ];
    assert!(ordered(&cyclic).is_err_and(|rule| *rule != no_exit::RULE));
}
