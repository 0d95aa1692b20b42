//! JSON merge patches (RFC 7386), after `merge.go` of `gopkg.in/evanphx/json-patch.v4`. It differs from the RFC in one
//! point, which is why the crate `json-patch` is not used: `null` is removed from objects within new lists, too.

use super::as_patch_map;
use crate::refusal::Refusal;
use serde_json::{Map, Value as Json};

/// The object with the fields of the patch; those that are `null` there are removed.
///
/// # Errors
/// 400 if the patch is not an object.
pub fn merge_patch(live: &Json, patch: &Json) -> Result<Json, Refusal> {
    let Some(patch) = as_patch_map(patch, "error decoding patch: ")? else {
        return Err(Refusal::bad_request("Invalid JSON Patch"));
    };
    let mut object = live.as_object().cloned().unwrap_or_default();
    merge(&mut object, patch);
    Ok(Json::Object(object))
}

fn merge(object: &mut Map<String, Json>, patch: &Map<String, Json>) {
    for (key, value) in patch {
        match (object.get_mut(key), value) {
            (_, Json::Null) => {
                object.shift_remove(key);
            }
            (Some(Json::Object(object)), Json::Object(patch)) => merge(object, patch),
            // Go leaves a list as it is where it replaces an object.
            (Some(place @ Json::Object(_)), other) => *place = other.clone(),
            (_, new) => {
                object.insert(key.clone(), without_nulls(new));
            }
        }
    }
}

/// A value without the fields that are `null`. Items of lists that are `null` stay.
fn without_nulls(value: &Json) -> Json {
    match value {
        Json::Object(map) => {
            let fields = map.iter().filter(|(_, value)| !value.is_null());
            Json::Object(
                fields
                    .map(|(key, value)| (key.clone(), without_nulls(value)))
                    .collect(),
            )
        }
        Json::Array(items) => Json::Array(items.iter().map(without_nulls).collect()),
        other => other.clone(),
    }
}
