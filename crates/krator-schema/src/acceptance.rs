//! Whether the API server accepts a definition, after `pkg/apis/apiextensions/validation` of apiextensions.

mod definition;
mod defaults;
mod field_path;
mod keywords;
mod structural;
#[cfg(test)]
mod tests;

use serde_json::Value as Json;

pub use definition::validate_definition;

use crate::{Path, Problem, Schema};

/// Evaluates the rules of a schema for its default: where the default is, the schema, the default, and whether the schema
/// is that of a whole object.
type DefaultRules<'a> = &'a dyn Fn(&Path, &Schema, &Json, bool) -> Vec<Problem>;

/// What is wrong with the schema of a version, apart from its CEL rules.
fn validate_schema(schema: &Schema, path: &Path, status: bool, rules: DefaultRules<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    if status {
        problems.extend(keywords::validate_root_with_status(schema, path));
    }
    problems.extend(keywords::validate_root(schema, path));
    let unsupported = structural::unsupported(schema);
    if unsupported.is_none() {
        let found = structural::validate(schema, path);
        if found.is_empty() {
            problems.extend(defaults::validate(schema, path, rules));
        } else {
            problems.extend(found);
        }
    }
    problems.extend(keywords::validate(schema, path));
    // What makes a schema not structural is mostly found as something else, too, and only told where it is not.
    if problems.is_empty() {
        problems.extend(unsupported.map(|detail| Problem::new(path, crate::ProblemKind::Invalid, detail)));
    }
    problems
}
