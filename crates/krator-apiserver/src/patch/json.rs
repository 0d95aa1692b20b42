//! JSON patches (RFC 6902), after `patch.go` of `gopkg.in/evanphx/json-patch.v4`. The crate `json-patch` is not used,
//! because it keeps to the RFC where the API server does not: there an index may be negative, `replace` adds a field
//! that is missing, `copy` copies a missing field as `null`, and `test` takes it for `null`.

use super::{json_form, unprocessable};
use crate::refusal::Refusal;
use serde_json::{Map, Value as Json};

/// How many operations a patch may have.
const MAX_OPERATIONS: usize = 10_000;

/// The object after the operations of the patch.
///
/// # Errors
/// 400 if the patch is malformed, 413 if it is too long, and 422 if an operation fails.
pub fn json_patch(live: &Json, patch: &Json) -> Result<Json, Refusal> {
    let operations =
        read(patch).map_err(|why| Refusal::bad_request(format!("error decoding patch: json: {why}")))?;
    if operations.len() > MAX_OPERATIONS {
        return Err(Refusal::too_large(format!(
            "The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {}",
            operations.len()
        )));
    }
    let mut object = live.clone();
    for operation in operations {
        run(&mut object, &operation).ok_or_else(unprocessable)?;
    }
    Ok(object)
}

#[derive(Default)]
struct Operation<'a> {
    op: &'a str,
    path: Option<&'a str>,
    from: Option<&'a str>,
    value: Json,
}

/// Reads a patch as Go decodes it.
///
/// # Errors
/// What has a wrong type.
fn read(patch: &Json) -> Result<Vec<Operation<'_>>, String> {
    match patch {
        Json::Null => Ok(Vec::new()),
        Json::Array(operations) => operations.iter().map(operation).collect(),
        other => Err(format!(
            "cannot unmarshal {} into Go value of type []handlers.jsonPatchOp",
            json_form(other)
        )),
    }
}

fn operation(json: &Json) -> Result<Operation<'_>, String> {
    let map = match json {
        Json::Object(map) => map,
        Json::Null => return Ok(Operation::default()),
        other => {
            return Err(format!(
                "cannot unmarshal {} into Go value of type handlers.jsonPatchOp",
                json_form(other)
            ));
        }
    };
    let text = |key: &str| match map.get(key) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok(Some(text.as_str())),
        Some(other) => Err(format!(
            "cannot unmarshal {} into Go struct field jsonPatchOp.{key} of type string",
            json_form(other)
        )),
    };
    Ok(Operation {
        op: text("op")?.unwrap_or_default(),
        path: text("path")?,
        from: text("from")?,
        value: map.get("value").cloned().unwrap_or_default(),
    })
}

/// Runs an operation; none if it fails.
fn run(document: &mut Json, operation: &Operation<'_>) -> Option<()> {
    let path = operation.path?;
    match operation.op {
        "add" => add(document, path, operation.value.clone()),
        "remove" => remove(document, path).map(|_| ()),
        "replace" => replace(document, path, operation.value.clone()),
        "move" => {
            let moved = remove(document, operation.from?)?;
            add(document, path, moved)
        }
        "copy" => {
            let copied = get(document, operation.from?)?;
            add(document, path, copied)
        }
        "test" => test(document, path, &operation.value).then_some(()),
        _ => None,
    }
}

/// A map or a list in a document.
enum Container<'a> {
    Map(&'a mut Map<String, Json>),
    List(&'a mut Vec<Json>),
}

/// What contains the last step of a path, and that step.
fn find<'a>(document: &'a mut Json, path: &str) -> Option<(Container<'a>, String)> {
    let mut steps: Vec<String> = path.split('/').skip(1).map(decode).collect();
    let last = steps.pop()?;
    let mut place = document;
    for step in &steps {
        place = match place {
            Json::Object(map) => map.get_mut(step)?,
            Json::Array(items) => {
                let index = index(step, items.len(), items.len())?;
                items.get_mut(index)?
            }
            _ => return None,
        };
    }
    match place {
        Json::Object(map) => Some((Container::Map(map), last)),
        Json::Array(items) => Some((Container::List(items), last)),
        _ => None,
    }
}

fn decode(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// The index that a step names, which may count from the end: `limit` is one more than the greatest that is possible.
fn index(step: &str, len: usize, limit: usize) -> Option<usize> {
    let index: i64 = step.parse().ok()?;
    let index = match usize::try_from(index) {
        Ok(index) => index,
        Err(_) => len.checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?,
    };
    (index < limit).then_some(index)
}

fn get(document: &mut Json, path: &str) -> Option<Json> {
    match find(document, path)? {
        (Container::Map(map), key) => Some(map.get(&key).cloned().unwrap_or_default()),
        (Container::List(items), step) => items.get(index(&step, items.len(), items.len())?).cloned(),
    }
}

fn add(document: &mut Json, path: &str, value: Json) -> Option<()> {
    match find(document, path)? {
        (Container::Map(map), key) => {
            map.insert(key, value);
        }
        (Container::List(items), step) if step == "-" => items.push(value),
        (Container::List(items), step) => {
            // The list counts as longer by the item that is added.
            let len = items.len() + 1;
            items.insert(index(&step, len, len)?, value);
        }
    }
    Some(())
}

fn remove(document: &mut Json, path: &str) -> Option<Json> {
    match find(document, path)? {
        (Container::Map(map), key) => map.shift_remove(&key),
        (Container::List(items), step) => {
            let index = index(&step, items.len(), items.len())?;
            Some(items.remove(index))
        }
    }
}

fn replace(document: &mut Json, path: &str, value: Json) -> Option<()> {
    if path.is_empty() {
        if !value.is_object() && !value.is_array() {
            return None;
        }
        *document = value;
        return Some(());
    }
    match find(document, path)? {
        (Container::Map(map), key) => {
            map.insert(key, value);
        }
        (Container::List(items), step) => {
            let index = index(&step, items.len(), items.len())?;
            items[index] = value;
        }
    }
    Some(())
}

fn test(document: &mut Json, path: &str, expected: &Json) -> bool {
    if path.is_empty() {
        return document == expected;
    }
    get(document, path).is_some_and(|value| value == *expected)
}
