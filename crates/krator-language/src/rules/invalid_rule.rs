//! CEL rules that the API server would not compile.

use krator_schema::cel;

use super::invalid_schema::part_of_default;
use super::{Check, RuleHit, Subject};
use crate::catalog::INVALID_RULE;
use crate::finding::Finding;

pub(super) const CHECK: Check = Check {
    needs_sound_schemas: true,
    ..Check::of_kind(&INVALID_RULE, find)
};

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    // The types of the rules depend on the schema. A refused default does not affect them.
    if subject
        .problems()
        .iter()
        .any(|problem| part_of_default(&problem.path).is_none())
    {
        return Vec::new();
    }
    let hit = |found: &cel::CelProblem| {
        let problem = &found.problem;
        let message = format!("the API server would not compile this: {}", problem.detail);
        RuleHit::of_document(Finding::new(&INVALID_RULE, subject.place(&problem.path), message))
    };
    let problems = subject
        .schemas()
        .flat_map(|(root, path)| cel::check_rules(root, &path));
    problems.map(|problem| hit(&problem)).collect()
}
