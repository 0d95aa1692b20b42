//! What Go writes for a new object of a built-in kind. The OpenAPI documents tell it: a field that is a struct has the
//! default `{}`, a scalar without `omitempty` has the default of Go, and other fields without `omitempty` are required.

use super::openapi::{Components, referred};
use serde_json::{Map, Value as Json, json};

/// Fields of events that are structs and have no default: an unset time is `null`.
const TIMES: [&str; 5] = [
    "deprecatedFirstTimestamp",
    "deprecatedLastTimestamp",
    "eventTime",
    "firstTimestamp",
    "lastTimestamp",
];

/// The new object of a schema.
pub(super) fn object(schema: &Json, components: &Components<'_>) -> Json {
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .collect();
    let is_event = schema["properties"].get("reportingInstance").is_some();
    let mut object = Map::new();
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        let value = match member.get("default") {
            Some(default) if *default == json!({}) => {
                let of_struct = referred(member).and_then(|name| components.get(name).copied());
                of_struct.map(|of_struct| self::object(of_struct, components))
            }
            // Other defaults are set by the API server, not by Go.
            Some(default) if [json!(""), json!(0), json!(false)].contains(default) => Some(default.clone()),
            _ if required.contains(&name.as_str()) => Some(Json::Null),
            _ if is_event && TIMES.contains(&name.as_str()) => Some(Json::Null),
            _ => None,
        };
        if let Some(value) = value {
            object.insert(name.clone(), value);
        }
    }
    Json::Object(object)
}
