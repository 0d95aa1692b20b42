//! Operations on objects whose type is known, after package `typed` of structured-merge-diff. Everything here
//! except [`validate`] expects values that were validated, and therefore cannot fail.

mod validate;
mod fields;
mod compare;
mod merge;
mod remove;
mod reconcile;

pub(crate) use compare::{Comparison, compare};
pub(crate) use fields::field_set;
pub(crate) use merge::merge;
pub(crate) use reconcile::reconcile;
pub(crate) use remove::remove;
pub(crate) use validate::{Duplicates, validate};

use serde_json::{Map, Value as Json};

/// The map that a value is. `null` is a map without entries.
fn as_map(value: Option<&Json>) -> Option<&Map<String, Json>> {
    value.and_then(Json::as_object)
}

/// The list that a value is. `null` is a list without items.
fn as_list(value: Option<&Json>) -> Option<&[Json]> {
    value.and_then(Json::as_array).map(Vec::as_slice)
}

/// Two maps or lists without contents are leaves, so that `null` and an empty one stay different.
fn both_empty(left: Option<usize>, right: Option<usize>) -> bool {
    left.unwrap_or(0) == 0 && right.unwrap_or(0) == 0
}
