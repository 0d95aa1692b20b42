//! What Go writes for a new object of a built-in kind. The OpenAPI documents tell it: a field that is a struct has the
//! default `{}`, and a field without `omitempty` is required.

use super::openapi::{Components, referred};
use serde_json::{Map, Value as Json, json};

/// The new object of a schema.
pub(super) fn object(schema: &Json, components: &Components<'_>) -> Json {
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .collect();
    let mut object = Map::new();
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        let value = if member.get("default") == Some(&json!({})) {
            let of_struct = referred(member).and_then(|name| components.get(name).copied());
            of_struct.map(|of_struct| self::object(of_struct, components))
        } else if required.contains(&name.as_str()) {
            Some(zero(member))
        } else {
            None
        };
        if let Some(value) = value {
            object.insert(name.clone(), value);
        }
    }
    Json::Object(object)
}

/// What Go writes for a required field that nobody has set. Pointers, slices and maps are `null` and have no default.
fn zero(member: &Json) -> Json {
    match (member["type"].as_str(), member.get("default")) {
        (Some("string"), Some(_)) => json!(""),
        (Some("integer" | "number"), Some(_)) => json!(0),
        (Some("boolean"), Some(_)) => json!(false),
        _ => Json::Null,
    }
}
