//! Patches of objects: JSON merge patches, JSON patches and strategic merge patches, as
//! `k8s.io/apiserver/pkg/endpoints/handlers/patch.go` applies them. The caller decodes the patched object and updates
//! its managed fields.

mod merge;
mod json;
mod strategic;

pub use json::json_patch;
pub use merge::merge_patch;
pub use strategic::strategic_merge_patch;

use crate::{body::json_form, refusal::Refusal};
use serde_json::{Map, Value as Json};

/// The fields of a patch that must be a map. None if it is `null`, which Go reads as a map without entries.
fn as_patch_map<'a>(patch: &'a Json, prefix: &str) -> Result<Option<&'a Map<String, Json>>, Refusal> {
    match patch {
        Json::Object(map) => Ok(Some(map)),
        Json::Null => Ok(None),
        other => Err(Refusal::bad_request(format!(
            "{prefix}json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
            json_form(other)
        ))),
    }
}

/// The refusal of a well-formed patch that cannot be applied. The API server gives no details.
fn unprocessable() -> Refusal {
    let message = "the server rejected our request due to an error in our request";
    Refusal::generic(422, "Invalid", message)
}

#[cfg(test)]
mod tests;
