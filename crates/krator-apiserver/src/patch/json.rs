//! JSON patches (RFC 6902).

use super::unprocessable;
use crate::{body::json_form, object, refusal::Refusal};
use json_patch::jsonptr::Pointer;
use json_patch::{AddOperation, CopyOperation, Patch, PatchOperation, ReplaceOperation};
use serde::Deserialize as _;
use serde_json::Value as Json;

/// The largest number of operations in a patch.
const MAX_OPERATIONS: usize = 10_000;
/// The largest number of bytes that the copies of a patch may add, as in the API server.
const MAX_COPIED: usize = 3 << 20;
/// The largest depth of nested values. It is the same as for request bodies, because they are decoded recursively, as
/// is much of this server.
const MAX_DEPTH: usize = 128;

/// The object after the operations of the patch.
///
/// # Errors
/// 400 if the patch is malformed, 413 if it has too many operations, and 422 if an operation fails or exceeds a limit.
pub fn json_patch(live: &Json, patch: &Json) -> Result<Json, Refusal> {
    let count = patch.as_array().map_or(0, Vec::len);
    if count > MAX_OPERATIONS {
        return Err(Refusal::too_large(format_args!(
            "The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {count}"
        )));
    }
    let operations = match patch {
        // Go reads null as no operations.
        Json::Null => Vec::new(),
        patch => {
            expect_operations(patch)?;
            let Patch(operations) = Patch::deserialize(&with_values(patch)).map_err(|_| unprocessable())?;
            operations
        }
    };
    let mut object = live.clone();
    let mut copied = 0;
    for operation in operations {
        let operation = match operation {
            // The API server turns a replacement of a missing field into an addition.
            PatchOperation::Replace(ReplaceOperation { path, value }) if is_missing_field(&object, &path) => {
                PatchOperation::Add(AddOperation { path, value })
            }
            // The API server copies a missing field as null.
            PatchOperation::Copy(CopyOperation { path, from }) if is_missing_field(&object, &from) => {
                let value = Json::Null;
                PatchOperation::Add(AddOperation { path, value })
            }
            other => other,
        };
        // A missing field equals null in a test.
        let is_absent = match &operation {
            PatchOperation::Test(test) => test.value.is_null() && is_missing_field(&object, &test.path),
            _ => false,
        };
        if is_absent {
            continue;
        }
        copied += copies(&object, &operation);
        if copied > MAX_COPIED || depth_after(&object, &operation) > MAX_DEPTH {
            return Err(unprocessable());
        }
        json_patch::patch(&mut object, &[operation]).map_err(|_| unprocessable())?;
    }
    match object {
        Json::Object(_) => Ok(object),
        _ => Err(unprocessable()),
    }
}

/// Refuses a patch that is not a list of objects.
fn expect_operations(patch: &Json) -> Result<(), Refusal> {
    let wrong = match patch {
        Json::Array(operations) => {
            let wrong = operations.iter().find(|operation| !operation.is_object());
            wrong.map(|wrong| (wrong, "handlers.jsonPatchOp"))
        }
        patch => Some((patch, "[]handlers.jsonPatchOp")),
    };
    wrong.map_or(Ok(()), |(wrong, type_)| {
        let form = json_form(wrong);
        Err(Refusal::bad_request(format!(
            "error decoding patch: json: cannot unmarshal {form} into Go value of type {type_}"
        )))
    })
}

/// Adds a null value to operations that lack a value, as Go reads them.
fn with_values(patch: &Json) -> Json {
    let mut patch = patch.clone();
    for operation in patch.as_array_mut().into_iter().flatten() {
        let op = operation.get("op").and_then(Json::as_str).unwrap_or_default();
        if ["add", "replace", "test"].contains(&op)
            && let Some(fields) = operation.as_object_mut()
        {
            fields.entry("value").or_insert(Json::Null);
        }
    }
    patch
}

/// The number of bytes that an operation copies.
fn copies(object: &Json, operation: &PatchOperation) -> usize {
    match operation {
        PatchOperation::Copy(copy) => copy.from.resolve(object).map_or(0, object::size),
        _ => 0,
    }
}

/// The depth of the value that an operation sets, from the root of the object.
fn depth_after(object: &Json, operation: &PatchOperation) -> usize {
    let (path, value) = match operation {
        PatchOperation::Add(add) => (&add.path, Some(&add.value)),
        PatchOperation::Replace(replace) => (&replace.path, Some(&replace.value)),
        PatchOperation::Copy(copy) => (&copy.path, copy.from.resolve(object).ok()),
        PatchOperation::Move(moved) => (&moved.path, moved.from.resolve(object).ok()),
        PatchOperation::Remove(_) | PatchOperation::Test(_) => return 0,
    };
    path.tokens().count() + value.map_or(0, object::depth)
}

/// Whether only the last step of a path is missing.
fn is_missing_field(object: &Json, path: &Pointer) -> bool {
    let around = path.parent().and_then(|around| around.resolve(object).ok());
    around.is_some_and(Json::is_object) && path.resolve(object).is_err()
}
