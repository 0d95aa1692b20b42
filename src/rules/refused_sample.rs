//! Sample objects that the API server would refuse.

use krator_schema::cel::{self, Outcome, RuleOutcome};
use krator_schema::{Problem, validate};

use super::{Check, RuleHit, Subject};
use crate::catalog::{INVALID_RULE, INVALID_SCHEMA, REFUSED_SAMPLE};
use crate::crd;
use crate::finding::Finding;
use crate::sample;
use crate::text::shown;

pub(super) const CHECK: Check = Check {
    needs_sound: true,
    unless: &[&INVALID_SCHEMA, &INVALID_RULE],
    ..Check::of_kind(&REFUSED_SAMPLE, find)
};

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let sample = sample::stored(subject.description, subject.kind);
    let (root, path) = subject.schema();
    let problems = validate(root, &sample);
    let hits: Vec<RuleHit> = problems.iter().map(|problem| invalid(subject, problem)).collect();
    if !hits.is_empty() {
        return hits;
    }
    cel::evaluate(root, &path, &sample, None)
        .iter()
        .filter_map(|outcome| broken(subject, outcome))
        .collect()
}

/// The sample breaks a bound of the schema.
fn invalid(subject: &Subject<'_>, problem: &Problem) -> RuleHit {
    let message = format!(
        "the sample object would be refused: `{}` {}",
        problem.path, problem.detail
    );
    let place = crd::place_of_value(subject.description, subject.kind, &problem.path);
    let finding = Finding::new(&REFUSED_SAMPLE, place, message);
    RuleHit::of_document(finding.help("give the type an `example` that is valid"))
}

/// The sample breaks a rule in CEL.
fn broken(subject: &Subject<'_>, outcome: &RuleOutcome) -> Option<RuleHit> {
    let Outcome::Violated(message) = &outcome.outcome else {
        return None;
    };
    let rule = subject.place(&outcome.rule.field("rule"));
    let place = crd::place_of_value(subject.description, subject.kind, &outcome.value);
    let message = format!(
        "the sample object would be refused: `{}` breaks a rule: {}",
        outcome.value,
        shown(message)
    );
    let finding = Finding::new(&REFUSED_SAMPLE, rule, message)
        .related(place, "the value is made from this type")
        .help("give the types of the fields that the rule reads an `example` that satisfies it");
    Some(RuleHit::of_document(finding))
}
