//! Reads and changes objects by paths such as `spec.template`. Null counts as absent here, as in Go's decoder.

use serde_json::{Map, Value as Json};

/// The value at a path of fields, unless it is null.
pub(super) fn get<'a>(value: &'a Json, path: &str) -> Option<&'a Json> {
    let found = path.split('.').try_fold(value, |value, field| value.get(field))?;
    (!found.is_null()).then_some(found)
}

/// The text at a path; empty if there is none.
pub(super) fn text<'a>(value: &'a Json, path: &str) -> &'a str {
    get(value, path).and_then(Json::as_str).unwrap_or_default()
}

/// The integer at a path.
pub(super) fn int(value: &Json, path: &str) -> Option<i64> {
    get(value, path).and_then(Json::as_i64)
}

/// Whether the boolean at a path is true.
pub(super) fn flag(value: &Json, path: &str) -> bool {
    get(value, path).and_then(Json::as_bool).unwrap_or_default()
}

/// The items at a path, or none.
pub(super) fn list<'a>(value: &'a Json, path: &str) -> &'a [Json] {
    get(value, path)
        .and_then(Json::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

/// The texts at a path, or none.
pub(super) fn texts<'a>(value: &'a Json, path: &str) -> Vec<&'a str> {
    list(value, path).iter().filter_map(Json::as_str).collect()
}

/// The entries of the map at a path, or none.
pub(super) fn entries<'a>(value: &'a Json, path: &str) -> impl Iterator<Item = (&'a String, &'a Json)> {
    get(value, path).and_then(Json::as_object).into_iter().flatten()
}

/// One entry of the map at a path, such as an annotation.
pub(super) fn entry<'a>(value: &'a Json, path: &str, key: &str) -> Option<&'a Json> {
    get(value, path)?.get(key).filter(|value| !value.is_null())
}

/// Sets the value at a path, and creates the objects on the path.
pub(super) fn set(value: &mut Json, path: &str, new: impl Into<Json>) {
    let mut at = value;
    for field in path.split('.') {
        if !at.is_object() {
            *at = Json::Object(Map::new());
        }
        at = at
            .as_object_mut()
            .expect("was made an object")
            .entry(field)
            .or_insert(Json::Null);
    }
    *at = new.into();
}

/// Sets the value at a path, or removes it if `new` is none.
pub(super) fn set_or_remove(value: &mut Json, path: &str, new: Option<&Json>) {
    match new {
        Some(new) => set(value, path, new.clone()),
        None => remove(value, path),
    }
}

/// Sets an entry of the map at a path.
pub(super) fn set_entry(value: &mut Json, path: &str, key: &str, new: impl Into<Json>) {
    let mut map = get(value, path)
        .and_then(Json::as_object)
        .cloned()
        .unwrap_or_default();
    map.insert(key.to_owned(), new.into());
    set(value, path, map);
}

/// Sets the value at a path if it is absent or an empty text.
pub(super) fn set_default(value: &mut Json, path: &str, default: impl Into<Json>) {
    let is_zero = match get(value, path) {
        None => true,
        Some(Json::String(text)) => text.is_empty(),
        Some(Json::Number(_) | Json::Bool(_) | Json::Array(_) | Json::Object(_) | Json::Null) => false,
    };
    if is_zero {
        set(value, path, default);
    }
}

/// Removes the value at a path.
pub(super) fn remove(value: &mut Json, path: &str) {
    let (parent, field) = match path.rsplit_once('.') {
        Some((parent, field)) => (
            value.pointer_mut(&format!("/{}", parent.replace('.', "/"))),
            field,
        ),
        None => (Some(value), path),
    };
    if let Some(fields) = parent.and_then(Json::as_object_mut) {
        fields.shift_remove(field);
    }
}

/// The items at a path, for changes.
pub(super) fn list_mut<'a>(value: &'a mut Json, path: &str) -> impl Iterator<Item = &'a mut Json> {
    let found = value.pointer_mut(&format!("/{}", path.replace('.', "/")));
    found.and_then(Json::as_array_mut).into_iter().flatten()
}
