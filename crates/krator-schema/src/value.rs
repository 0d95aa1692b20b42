//! Values as the API server treats them: validated by a schema, pruned, and completed with defaults.

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

/// Validates a value by its schema: its types, bounds and formats, the entries of its sets and maps, and the
/// metadata of objects within it. Rules in CEL are not looked at.
///
/// The value is the object as it is stored, so it has been pruned and its defaults are filled in. The `metadata` of the
/// object itself is not looked at. For many values, make a [`CompiledSchema`] once.
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

/// A schema for many values: each of its patterns is compiled once.
#[derive(Debug)]
pub struct CompiledSchema {
    schema: Schema,
    validator: Validator,
}

impl CompiledSchema {
    /// Takes a schema, whose patterns are compiled when they are first needed.
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

/// Makes of a value what the API server stores of it, and says what is wrong with it, if anything: the metadata of objects
/// within it is written anew, what the schema does not know is removed, and defaults are filled in. Rules in CEL are not
/// looked at.
pub fn admit(schema: &Schema, value: &mut Json) -> Vec<Problem> {
    if let Err(problem) = meta::coerce(&At::Path(&Path::root()), value, schema, false) {
        return vec![problem];
    }
    prune(schema, value);
    default(schema, value);
    validate(schema, value)
}
