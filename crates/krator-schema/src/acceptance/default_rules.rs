//! Checks defaults against the CEL rules of their schema.

use serde_json::Value as Json;

use super::field_path;
use crate::cel::{self, Outcome};
use crate::{Items, Path, Problem, ProblemKind, Rule, Schema, Segment};

/// The rules of a schema that its default violates. A rule that cannot be evaluated counts as satisfied.
///
/// The API server evaluates a default like an update without changes, so `oldSelf` is the default, too.
pub(super) fn broken(schema: &Schema, default: &Json, path: &Path) -> Vec<Problem> {
    cel::evaluate(schema, &Path::root(), default, Some(default))
        .into_iter()
        .filter_map(|found| {
            let (Outcome::Violated(message) | Outcome::Failed(message)) = found.outcome else {
                return None;
            };
            let (schema, rule) = rule_at(schema, found.rule.segments())?;
            let field = rule.field_path.as_deref().unwrap_or_default();
            let field = field_path::resolve(field, schema, true).map(|(path, _)| path);
            let segments = [path, &found.value, &field.unwrap_or_default()];
            let at: Path = segments
                .iter()
                .flat_map(|path| path.segments().iter().cloned())
                .collect();
            Some(Problem::new(&at, kind(rule), format!("breaks a rule: {message}")))
        })
        .collect()
}

fn kind(rule: &Rule) -> ProblemKind {
    match rule.reason.as_deref() {
        Some("FieldValueRequired") => ProblemKind::Required,
        Some("FieldValueForbidden") => ProblemKind::Forbidden,
        Some("FieldValueDuplicate") => ProblemKind::Duplicate,
        _ => ProblemKind::Invalid,
    }
}

/// The rule at a path in a schema, and the subschema that contains it.
fn rule_at<'a>(mut schema: &'a Schema, mut path: &[Segment]) -> Option<(&'a Schema, &'a Rule)> {
    loop {
        let Segment::Field(keyword) = path.first()? else {
            return None;
        };
        path = &path[1..];
        match (keyword.as_str(), path.first()) {
            ("properties", Some(Segment::Key(name))) => {
                schema = schema.property(name)?;
                path = &path[1..];
            }
            ("items", _) => {
                let Some(Items::All(items)) = &schema.items else {
                    return None;
                };
                schema = items;
            }
            ("additionalProperties", _) => schema = schema.additional()?,
            ("x-kubernetes-validations", Some(Segment::Index(index))) => {
                return Some((schema, schema.validations.as_ref()?.get(*index)?));
            }
            _ => return None,
        }
    }
}
