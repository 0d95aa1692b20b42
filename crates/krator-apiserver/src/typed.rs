//! Operations on objects of a known type, after package `typed` of structured-merge-diff. Except for [`validate`], they
//! expect validated values, and therefore cannot fail.

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

/// The value as a map. `null` counts as an empty map.
fn as_map(value: Option<&Json>) -> Option<&Map<String, Json>> {
    value.and_then(Json::as_object)
}

/// The value as a list. `null` counts as an empty list.
fn as_list(value: Option<&Json>) -> Option<&[Json]> {
    value.and_then(Json::as_array).map(Vec::as_slice)
}

/// Two empty maps or lists are treated as leaves, so that `null` and an empty one remain different.
fn both_empty(left: Option<usize>, right: Option<usize>) -> bool {
    left.unwrap_or(0) == 0 && right.unwrap_or(0) == 0
}
