//! CEL rules that the API server may reject as too costly.

use std::collections::BTreeSet;

use krator_schema::cel::{self, CostEstimate};

use super::{Check, RuleHit, Subject};
use crate::catalog::{INVALID_RULE, INVALID_SCHEMA, Rule, Severity};
use crate::finding::{Finding, Span};

pub(super) static RULE: Rule = Rule {
    name: "costly-rule",
    severity: Severity::Warning,
    summary: "a CEL rule whose estimated cost exceeds the limit of the API server",
    explanation: "The API server estimates the worst-case cost of each rule and of all rules together, and rejects a CRD that exceeds its
budget. A list without `maxItems`, a map without `maxProperties` and a string without `maxLength` count as very long, so
a rule that iterates over a list for each item of another list is likely to exceed the budget. krator makes the same
estimate.

Bad:

    tags: list of string
    validations: [{rule: \"self.tags.all(a, self.tags.exists_one(b, a == b))\"}]

Good:

    tags: {type: list of string, maxItems: 64}
    validations: [{rule: \"self.tags.all(a, self.tags.exists_one(b, a == b))\"}]",
};

pub(super) const CHECK: Check = Check {
    needs_sound_schemas: true,
    unless: &[&INVALID_SCHEMA, &INVALID_RULE],
    ..Check::of_kind(&RULE, find)
};

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let (root, path) = subject.schema();
    let costs = cel::costs(root, &path);
    let too_high: Vec<&CostEstimate> = costs.iter().filter(|cost| cost.cost > cost.limit).collect();
    // The total of all rules is only reported if no single rule explains it.
    let is_total = |cost: &CostEstimate| cost.path == path;
    let has_single = too_high.iter().any(|cost| !is_total(cost));
    too_high
        .into_iter()
        .filter(|cost| !(has_single && is_total(cost)))
        .map(|cost| hit(subject, cost, is_total(cost)))
        .collect()
}

fn hit(subject: &Subject<'_>, cost: &CostEstimate, is_total: bool) -> RuleHit {
    let times = match cost.cost / cost.limit {
        1 => "more than".to_owned(),
        times @ ..100 => format!("more than {times} times"),
        _ => "more than 100 times".to_owned(),
    };
    let what = match is_total {
        true => "all rules of this kind together may cost",
        false => "this rule may cost",
    };
    let message = format!("{what} {times} the limit of the API server");
    let mut finding = Finding::new(&RULE, subject.place(&cost.path), message)
        .label("the API server may reject this as too costly");
    // A list and its items may be written at the same place.
    let places: BTreeSet<Span> = cost.unbounded.iter().map(|part| subject.place(part)).collect();
    for place in places {
        finding = finding.related(place, "has no maximum size");
    }
    RuleHit::of_document(match cost.unbounded.is_empty() {
        true => finding.help("simplify the rule, or lower the limits of the values that it iterates over"),
        false => {
            finding.help("limit the size with `maxItems`, `maxProperties` or `maxLength`, for example 64")
        }
    })
}
