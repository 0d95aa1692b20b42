//! Validates, prunes and defaults values like the API server.

mod check;
mod fill;
mod lists;
pub(crate) mod meta;
pub(crate) mod number;
mod object_meta;
mod prune;

pub use fill::default;
pub use meta::{admit_metadata, validate_metadata};
pub use prune::prune;

pub(crate) use check::{Reading, Validator, equal};
pub(crate) use prune::prune_at;

use serde_json::Value as Json;

use crate::at::At;
use crate::{Path, Problem, Schema};

/// Validates a value by its schema: its types, bounds and formats, the entries of its sets and maps, and the metadata
/// of embedded objects. CEL rules are not evaluated.
///
/// The value must be in its stored form, after pruning and defaulting. The `metadata` of the object itself is not
/// validated. For many values, create a [`CompiledSchema`] once.
pub fn validate(schema: &Schema, value: &Json) -> Vec<Problem> {
    validate_by(&Validator::new(Reading::Value), schema, value)
}

fn validate_by(validator: &Validator, schema: &Schema, value: &Json) -> Vec<Problem> {
    let path = Path::root();
    let mut problems = validator.validate(schema, value, &path);
    problems.extend(meta::validate(&At::Path(&path), value, schema));
    problems.extend(lists::validate(&At::Path(&path), schema, value));
    problems
}

/// A schema for many values, whose patterns are each compiled once.
#[derive(Debug)]
pub struct CompiledSchema {
    schema: Schema,
    validator: Validator,
}

impl CompiledSchema {
    /// Creates it from a schema, whose patterns are compiled at their first use.
    pub fn new(schema: Schema) -> Self {
        CompiledSchema {
            schema,
            validator: Validator::new(Reading::Value),
        }
    }

    /// The schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Validates a value, as [`validate`] does.
    pub fn validate(&self, value: &Json) -> Vec<Problem> {
        validate_by(&self.validator, &self.schema, value)
    }
}

/// Converts a value to its stored form, and returns its problems: the metadata of embedded objects is normalized,
/// unknown fields are pruned, and defaults are applied. CEL rules are not evaluated.
pub fn admit(schema: &Schema, value: &mut Json) -> Vec<Problem> {
    if let Err(problem) = meta::coerce(&At::Path(&Path::root()), value, schema, false) {
        return vec![problem];
    }
    prune(schema, value);
    default(schema, value);
    validate(schema, value)
}
