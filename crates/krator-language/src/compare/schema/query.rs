//! Queries about a value that its OpenAPI schema can answer.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use crate::compare::affected::ValueType;

/// The schema that accepts any value.
pub(super) fn open() -> Json {
    json!({"x-kubernetes-preserve-unknown-fields": true})
}

pub(super) fn is_true(schema: &Json, key: &str) -> bool {
    schema[key] == true
}

/// Whether the API server keeps fields that the schema does not contain.
pub(super) fn is_open(schema: &Json) -> bool {
    is_true(schema, "x-kubernetes-preserve-unknown-fields")
}

pub(in crate::compare) fn value_types(schema: &Json) -> BTreeSet<ValueType> {
    let types: &[ValueType] = match schema["type"].as_str() {
        _ if is_true(schema, "x-kubernetes-int-or-string") => &[ValueType::Integer, ValueType::String],
        Some("string") => &[ValueType::String],
        Some("integer") => &[ValueType::Integer],
        Some("number") => &[ValueType::Integer, ValueType::Fraction],
        Some("boolean") => &[ValueType::Boolean],
        Some("array") => &[ValueType::List],
        Some("object") => &[ValueType::Object],
        _ => &ValueType::ALL,
    };
    types.iter().copied().collect()
}

/// The schema of a list's items.
pub(super) fn items_of(list: &Json) -> Json {
    list.get("items").cloned().unwrap_or_else(open)
}

/// Whether null can be an item of a list.
pub(super) fn takes_null(schema: &Json) -> bool {
    let is_any = schema.get("type").is_none() && !is_true(schema, "x-kubernetes-int-or-string");
    schema["nullable"] == true || is_any
}

/// Whether the API server can tell that a value is unchanged, so that it accepts a value that breaks the new schema. It
/// correlates old and new values field by field: a field that the schema does not contain counts as changed, and a list
/// is compared as a whole unless its items have keys.
pub(super) fn is_comparable(schema: &Json) -> bool {
    let members = schema["properties"].as_object().into_iter().flatten();
    let mut below = members
        .map(|(_, member)| member)
        .chain(schema.get("additionalProperties"))
        .chain(
            schema
                .get("items")
                .filter(|_| schema["x-kubernetes-list-type"] == "map"),
        );
    !is_open(schema) && below.all(is_comparable)
}

/// The type for messages.
pub(super) fn type_name(schema: &Json) -> &'static str {
    match schema["type"].as_str() {
        _ if is_true(schema, "x-kubernetes-int-or-string") => "an integer or a string",
        Some("string") => "a string",
        Some("integer") => "an integer",
        Some("number") => "a number",
        Some("boolean") => "a boolean",
        Some("array") => "a list",
        Some("object") if schema.get("additionalProperties").is_some() => "a map",
        Some("object") => "an object",
        _ => "anything",
    }
}

/// The members of an object in a schema. Empty if there is no such object.
pub(in crate::compare) fn members<'j>(schema: &'j Json, key: &str) -> BTreeMap<&'j str, &'j Json> {
    let members = schema[key].as_object().into_iter().flatten();
    members.map(|(name, member)| (name.as_str(), member)).collect()
}

pub(in crate::compare) fn required(schema: &Json) -> BTreeSet<&str> {
    let names = schema["required"].as_array().into_iter().flatten();
    names.filter_map(Json::as_str).collect()
}
