//! CEL rules that the API server would not compile.

use krator_schema::cel;

use super::{Check, RuleHit, Subject};
use crate::catalog::{INVALID_RULE, INVALID_SCHEMA};
use crate::finding::Finding;

pub(super) const CHECK: Check = Check {
    needs_sound: true,
    // The API server does not look at the rules of a schema that it refuses otherwise.
    unless: &[&INVALID_SCHEMA],
    ..Check::of_kind(&INVALID_RULE, find)
};

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let (root, path) = subject.schema();
    let hit = |found: &cel::CelProblem| {
        let problem = &found.problem;
        let message = format!("the API server would not compile this: {}", problem.detail);
        RuleHit::of_document(Finding::new(&INVALID_RULE, subject.place(&problem.path), message))
    };
    cel::check_rules(root, &path).iter().map(hit).collect()
}
