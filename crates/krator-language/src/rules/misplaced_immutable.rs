//! `immutable`, `onceSet` and `transition` at places where the API server cannot enforce them, or must not.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::crd::{self, Obstacle};
use crate::finding::Finding;

pub(super) static RULE: Rule = Rule {
    name: "misplaced-immutable",
    severity: Severity::Error,
    summary: "`immutable`, `onceSet` or `transition` where the API server cannot enforce it, or must not",
    explanation: "These keys become rules of the CRD that compare the former and the new value of a field. In a list whose items have no
keys, the API server cannot find the former value. It does not compare fields of any name, such as those of the types
`any` and `object`. The status is written by the operator, and a refused write would stop it.

Bad:

    spec:
      stops: {items: {properties: {place: {type: string, immutable: true}}}}

Good:

    spec:
      stops:
        items: {properties: {name: string, place: {type: string, immutable: true}}}
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name]",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let rules = crd::field_rules(subject.description, subject.kind).into_iter();
    rules
        .filter_map(|rule| {
            let (why, help) = match rule.obstacle? {
                Obstacle::Status => (
                    "is part of the status, which the operator writes: a refused write would stop it",
                    "move it to a field of `.spec`",
                ),
                Obstacle::Uncorrelated => (
                    "is in a list whose items have no keys, so the API server cannot find the former value",
                    "give the list `x-kubernetes-list-type: map` and `x-kubernetes-list-map-keys`, or move the key to \
                     the list as a whole",
                ),
                Obstacle::Unwritable => (
                    "has a name in its path that CEL rules cannot express",
                    "move the key to the enclosing object, if all of that may not change either",
                ),
                Obstacle::Untyped => (
                    "may have fields of any name, which the API server does not compare",
                    "give it a type without `any`, `object` and unknown fields",
                ),
            };
            let message = format!("`{}` {why}", rule.field);
            let finding = Finding::new(&RULE, rule.key, message).help(help);
            Some(RuleHit::of_document(finding))
        })
        .collect()
}
