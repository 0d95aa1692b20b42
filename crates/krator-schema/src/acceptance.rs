//! The API server's validation of definitions, after `pkg/apis/apiextensions/validation` of apiextensions.

mod default_rules;
mod defaults;
mod definition;
mod field_path;
mod keywords;
mod list_types;
mod problems;
mod size;
mod structural;
#[cfg(test)]
mod tests;

pub use definition::{is_approval, validate_definition};

use crate::{Path, Problem, Schema};

/// Validates the schema of a version without its CEL rules; its defaults are also checked against the rules.
fn validate_schema(schema: &Schema, path: &Path, status: bool) -> Vec<Problem> {
    let mut problems = Vec::new();
    if status {
        problems.extend(keywords::validate_root_with_status(schema, path));
    }
    problems.extend(keywords::validate_root(schema, path));
    let unsupported = structural::unsupported(schema);
    if unsupported.is_none() {
        let found = structural::validate(schema, path);
        if found.is_empty() {
            problems.extend(defaults::validate(schema, path));
        } else {
            problems.extend(found);
        }
    }
    problems.extend(keywords::validate(schema, path));
    // Usually, another check reports why a schema is not structural. Only otherwise is it reported here.
    if problems.is_empty() {
        problems.extend(unsupported.map(|detail| Problem::new(path, crate::ProblemKind::Invalid, detail)));
    }
    problems
}
