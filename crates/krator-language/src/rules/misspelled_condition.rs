//! Conditions of states whose names are similar to those of declared conditions.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::{Finding, nearest};

pub(super) static RULE: Rule = Rule {
    name: "misspelled-condition",
    severity: Severity::Warning,
    summary: "a state sets a condition whose name is almost that of a declared one",
    explanation: "States may set conditions that `conditions` does not declare. If such a name is very similar to a declared one, it is
probably misspelled: users would wait for the declared condition, which this state does not set.

Bad:

    conditions: {Healthy: The last check found no parasites.}
    states:
      Roam: {conditions: {Helthy: \"True\"}}

Good:

    conditions: {Healthy: The last check found no parasites.}
    states:
      Roam: {conditions: {Healthy: \"True\"}}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

/// The maximum number of undeclared conditions that are compared with the declared ones, so that a hostile file cannot
/// cause thousands times thousands of comparisons.
const MOST: usize = 100;

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let declared = &subject.kind.conditions;
    let is_declared = |name: &str| declared.iter().any(|condition| condition.name.as_str() == name);
    let set = subject
        .kind
        .state_ids()
        .flat_map(|(id, state)| state.conditions.iter().map(move |setting| (id, setting)));
    set.filter(|(_, setting)| !is_declared(setting.name.as_str()))
        .take(MOST)
        .filter_map(|(id, setting)| {
            let names = declared.iter().map(|condition| condition.name.as_str());
            let meant = nearest(setting.name.as_str(), names)?;
            let message = format!("the condition `{}` is not declared", setting.name.value);
            let mut finding = Finding::new(&RULE, setting.name.span, message).did_you_mean(Some(meant));
            if let Some(condition) = declared.iter().find(|condition| condition.name.as_str() == meant) {
                finding = finding.related(condition.name.span, "a similar condition is declared here");
            }
            Some(RuleHit::of(id, finding))
        })
        .collect()
}
