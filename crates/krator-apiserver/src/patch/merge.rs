//! JSON merge patches (RFC 7386).

use super::as_patch_map;
use crate::refusal::Refusal;
use serde_json::Value as Json;

/// The object merged with the patch; fields that are `null` in the patch are removed.
///
/// # Errors
/// 400 if the patch is not an object.
pub fn merge_patch(live: &Json, patch: &Json) -> Result<Json, Refusal> {
    if as_patch_map(patch, "error decoding patch: ")?.is_none() {
        return Err(Refusal::bad_request("Invalid JSON Patch"));
    }
    let mut object = live.clone();
    json_patch::merge(&mut object, patch);
    Ok(object)
}
