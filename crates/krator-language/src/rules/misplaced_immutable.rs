//! `immutable`, `onceSet` and `transition` at places where the API server cannot enforce them, or must not.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::crd::{self, Obstacle};
use crate::finding::Finding;

pub(super) static RULE: Rule = Rule {
    name: "misplaced-immutable",
    severity: Severity::Error,
    summary: "`immutable`, `onceSet` or `transition` where the API server cannot compare, or must not",
    explanation: "These keys become rules of the CRD over the former and the new value of a field. In a list whose items have no identity
there is no former value, and fields of any name, as of the types `any` and `object`, are not compared. The status is written by the operator, which
would stop at the first write that is refused.

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
                    "is in a list whose items have no identity, so that the API server knows no former value",
                    "make the list a map by `x-kubernetes-list-type: map` and `x-kubernetes-list-map-keys`, or move it to \
                     the list as a whole",
                ),
                Obstacle::Unwritable => (
                    "has a name on the way that rules in CEL cannot write",
                    "move it to the enclosing object, if that may not change either",
                ),
                Obstacle::Untyped => (
                    "may have fields of any name, which the rules of the API server do not compare",
                    "give it a type without `any`, `object` and unknown fields",
                ),
            };
            let message = format!("`{}` {why}", rule.field);
            let finding = Finding::new(&RULE, rule.key, message).help(help);
            Some(RuleHit::of_document(finding))
        })
        .collect()
}
