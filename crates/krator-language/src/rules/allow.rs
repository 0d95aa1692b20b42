//! The names of rules in `allow`.

use super::{all, named};
use crate::catalog::{Severity, UNKNOWN_KEY, WRONG_TYPE};
use crate::finding::{Finding, nearest};
use crate::model::Description;
use crate::text::shown;

/// The maximum number of unknown names that are compared with those of all rules, so that a hostile file cannot take
/// long.
const MOST: usize = 100;

/// A finding for each name without a rule, and for each rule that cannot be silenced.
pub(super) fn findings(description: &Description) -> Vec<Finding> {
    let mut findings = Vec::new();
    let of_kinds = description.kinds.iter();
    let allowed = of_kinds.flat_map(|kind| {
        let of_states = kind.states.iter().flat_map(|state| &state.allow);
        kind.allow.iter().chain(of_states)
    });
    for allow in allowed {
        let name = &allow.rule.value;
        let (rule, message) = match named(name) {
            None => (&UNKNOWN_KEY, format!("there is no rule `{}`", shown(name))),
            Some(rule) if rule.severity == Severity::Error => (
                &WRONG_TYPE,
                format!("`{name}` is an error, which `allow` does not silence"),
            ),
            Some(_) => continue,
        };
        let mut finding = Finding::new(rule, allow.rule.span, message);
        if rule == &UNKNOWN_KEY && findings.len() < MOST {
            finding = finding.did_you_mean(nearest(name, all().map(|rule| rule.name)));
        }
        findings.push(finding);
    }
    findings
}
