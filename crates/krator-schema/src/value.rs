//! What the API server makes of values: whether a schema allows them, what it removes from them and what it fills in.

mod check;
mod fill;
pub(crate) mod formats;
mod lists;
pub(crate) mod meta;
pub mod names;
pub(crate) mod number;
mod object_meta;
mod prune;

pub use fill::default;
pub use meta::{admit_metadata, validate_metadata};
pub use prune::prune;

pub(crate) use check::{Reading, Validator, equal};
pub(crate) use prune::prune_at;

use serde_json::Value as Json;

use crate::{Path, Problem, Schema};

/// What is wrong with a value, by its schema: its types, bounds and formats, the entries of its sets and maps, and the
/// metadata of objects within it. Rules in CEL are not looked at.
///
/// The value is the object as it is stored, so it has been pruned and its defaults are filled in. The `metadata` of the
/// object itself is not looked at.
pub fn validate(schema: &Schema, value: &Json) -> Vec<Problem> {
    let path = Path::root();
    let mut problems = Validator::new(Reading::Value).validate(schema, value, &path);
    problems.extend(meta::validate(&path, value, schema));
    problems.extend(lists::validate(&path, schema, value));
    problems
}

/// Makes of a value what the API server stores of it, and says what is wrong with it, if anything: the metadata of objects
/// within it is written anew, what the schema does not know is removed, and defaults are filled in. Rules in CEL are not
/// looked at.
pub fn admit(schema: &Schema, value: &mut Json) -> Vec<Problem> {
    if let Err(problem) = meta::coerce(&Path::root(), value, schema, false) {
        return vec![problem];
    }
    prune(schema, value);
    default(schema, value);
    validate(schema, value)
}
