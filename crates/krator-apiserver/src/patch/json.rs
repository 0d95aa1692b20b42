//! JSON patches (RFC 6902).

use super::unprocessable;
use crate::refusal::Refusal;
use json_patch::jsonptr::Pointer;
use json_patch::{AddOperation, Patch, PatchOperation, ReplaceOperation};
use serde::Deserialize as _;
use serde_json::Value as Json;

/// The largest number of operations in a patch.
const MAX_OPERATIONS: usize = 10_000;

/// The object after the operations of the patch.
///
/// # Errors
/// 400 if the patch is malformed, 413 if it is too long, and 422 if an operation fails.
pub fn json_patch(live: &Json, patch: &Json) -> Result<Json, Refusal> {
    let count = patch.as_array().map_or(0, Vec::len);
    if count > MAX_OPERATIONS {
        return Err(Refusal::too_large(format!(
            "The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {count}"
        )));
    }
    let Patch(operations) = Patch::deserialize(patch).map_err(|why| match patch {
        Json::Array(operations) if operations.iter().all(Json::is_object) => unprocessable(),
        _ => Refusal::bad_request(format!("error decoding patch: json: {why}")),
    })?;
    let mut object = live.clone();
    for operation in operations {
        let operation = match operation {
            // The API server adds a field that is to be replaced and missing.
            PatchOperation::Replace(ReplaceOperation { path, value }) if is_missing_field(&object, &path) => {
                PatchOperation::Add(AddOperation { path, value })
            }
            other => other,
        };
        json_patch::patch(&mut object, &[operation]).map_err(|_| unprocessable())?;
    }
    match object {
        Json::Object(_) => Ok(object),
        _ => Err(unprocessable()),
    }
}

/// Whether a path leads to an object that lacks its last step.
fn is_missing_field(object: &Json, path: &Pointer) -> bool {
    let around = path.parent().and_then(|around| around.resolve(object).ok());
    around.is_some_and(Json::is_object) && path.resolve(object).is_err()
}
