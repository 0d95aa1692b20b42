//! Problems for which the API server would refuse the CRD of a kind, except for its CEL rules.

use krator_schema::{Path, Problem, Segment};

use super::{Check, RuleHit, Subject};
use crate::catalog::INVALID_SCHEMA;
use crate::finding::Finding;

pub(super) const CHECK: Check = Check {
    needs_sound_schemas: true,
    ..Check::of_kind(&INVALID_SCHEMA, find)
};

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let hit = |problem: &Problem| {
        let part = part_of_default(&problem.path);
        let what = if part.is_some() { "this default" } else { "this" };
        let message = format!("the API server would refuse {what}: {}", problem.detail);
        let mut finding = Finding::new(&INVALID_SCHEMA, subject.place(&problem.path), message);
        if let Some(part) = part.filter(|part| !part.is_empty()) {
            finding = finding.label(format!("at `{part}`"));
        }
        RuleHit::of_document(finding)
    };
    subject.problems().iter().map(hit).collect()
}

/// The path within a default, if the problem is in one.
pub(super) fn part_of_default(path: &Path) -> Option<String> {
    let is_default = |segment: &Segment| matches!(segment, Segment::Field(name) if name == "default");
    let at = path.segments().iter().rposition(is_default)?;
    let rest: Path = path.segments()[at + 1..].iter().cloned().collect();
    Some(rest.to_string())
}
