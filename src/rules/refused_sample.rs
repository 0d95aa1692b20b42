//! Sample objects that the API server would refuse.

use krator_schema::validate;

use super::{Check, RuleHit, Subject};
use crate::catalog::{INVALID_RULE, INVALID_SCHEMA, REFUSED_SAMPLE};
use crate::crd;
use crate::finding::Finding;
use crate::sample;

pub(super) const CHECK: Check = Check {
    needs_sound: true,
    unless: &[&INVALID_SCHEMA, &INVALID_RULE],
    ..Check::of_kind(&REFUSED_SAMPLE, find)
};

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let sample = sample::stored(subject.description, subject.kind);
    let (schema, _) = subject.schema();
    let hit = |problem: &krator_schema::Problem| {
        let message = format!(
            "the sample object would be refused: `{}` {}",
            problem.path, problem.detail
        );
        let place = crd::place_of_value(subject.description, subject.kind, &problem.path);
        let finding =
            Finding::new(&REFUSED_SAMPLE, place, message).help("give the type an `example` that is valid");
        RuleHit::of_document(finding)
    };
    validate(schema, &sample).iter().map(hit).collect()
}
