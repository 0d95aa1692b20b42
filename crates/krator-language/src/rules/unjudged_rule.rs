//! CEL rules of which it is not known what the API server says.

use krator_schema::cel;

use super::{Check, RuleHit, Subject};
use crate::catalog::{INVALID_SCHEMA, UNJUDGED_RULE};
use crate::finding::Finding;

pub(super) const CHECK: Check = Check {
    needs_sound_schemas: true,
    unless: &[&INVALID_SCHEMA],
    ..Check::of_kind(&UNJUDGED_RULE, find)
};

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let (root, path) = subject.schema();
    let hit = |rule| {
        let message =
            "krator cannot read this rule, so only an API server can tell whether objects keep to it";
        let finding = Finding::new(&UNJUDGED_RULE, subject.place(&rule), message);
        RuleHit::of_document(
            finding
                .help("`krator dev` and tests in memory do not take such a rule: write it in another form"),
        )
    };
    cel::unjudged(root, &path).into_iter().map(hit).collect()
}
