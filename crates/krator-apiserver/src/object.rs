//! Access to metadata and other fields of objects in JSON.

use serde_json::{Map, Value as Json, json};

/// The value at a path, or `Null`.
pub(crate) fn at<'a>(object: &'a Json, path: &[&str]) -> &'a Json {
    path.iter()
        .fold(object, |value, key| value.get(key).unwrap_or(&Json::Null))
}

/// A text in the metadata; empty if there is none.
pub(crate) fn meta<'a>(object: &'a Json, key: &str) -> &'a str {
    at(object, &["metadata", key]).as_str().unwrap_or_default()
}

/// The texts of a map in the metadata: labels or annotations.
pub(crate) fn meta_map<'a>(object: &'a Json, key: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let map = at(object, &["metadata", key]).as_object();
    map.into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
}

/// An object with the texts that are not empty, as Go writes fields with `omitempty`.
pub(crate) fn of_texts<'a>(texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Map<String, Json> {
    let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
    texts.map(|(key, text)| (key.to_owned(), text.into())).collect()
}

/// The finalizers.
pub(crate) fn finalizers(object: &Json) -> impl Iterator<Item = &str> {
    let list = at(object, &["metadata", "finalizers"]).as_array();
    list.into_iter().flatten().filter_map(Json::as_str)
}

/// The references to the owners of the object.
pub(crate) fn owners(object: &Json) -> impl Iterator<Item = &Json> {
    at(object, &["metadata", "ownerReferences"])
        .as_array()
        .into_iter()
        .flatten()
}

/// Whether the object is marked for deletion.
pub(crate) fn is_deleting(object: &Json) -> bool {
    !at(object, &["metadata", "deletionTimestamp"]).is_null()
}

/// The metadata, for changes. A value that is not an object is replaced by one.
pub(crate) fn meta_mut(object: &mut Json) -> &mut Map<String, Json> {
    fields_mut(fields_mut(object).entry("metadata").or_insert_with(|| json!({})))
}

/// The fields of a value, for changes. A value that is not an object is replaced by one.
pub(crate) fn fields_mut(value: &mut Json) -> &mut Map<String, Json> {
    if !value.is_object() {
        *value = json!({});
    }
    match value {
        Json::Object(fields) => fields,
        _ => unreachable!("it was made an object"),
    }
}

/// Sets a field of the metadata, or removes it if the value is `Null`.
pub(crate) fn set_meta(object: &mut Json, key: &str, value: Json) {
    let meta = meta_mut(object);
    if value.is_null() {
        meta.shift_remove(key);
    } else {
        meta.insert(key.to_owned(), value);
    }
}

/// Sets a field of the root, or removes it if the value is `Null`.
pub(crate) fn set(object: &mut Json, key: &str, value: Json) {
    let fields = fields_mut(object);
    if value.is_null() {
        fields.shift_remove(key);
    } else {
        fields.insert(key.to_owned(), value);
    }
}

/// The approximate length of a value as JSON, computed without writing it. Escaped characters count as one.
pub(crate) fn size(value: &Json) -> usize {
    match value {
        Json::Null => 4,
        Json::Bool(value) => 5 - usize::from(*value),
        Json::Number(number) => number.to_string().len(),
        Json::String(text) => text.len() + 2,
        Json::Array(items) => items.iter().map(|item| size(item) + 1).sum::<usize>() + 2,
        Json::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| key.len() + size(value) + 4);
            fields.sum::<usize>() + 2
        }
    }
}

/// The depth of nesting of a value; 1 for a scalar.
pub(crate) fn depth(value: &Json) -> usize {
    let below = match value {
        Json::Array(items) => items.iter().map(depth).max(),
        Json::Object(fields) => fields.values().map(depth).max(),
        _ => None,
    };
    below.unwrap_or(0) + 1
}
