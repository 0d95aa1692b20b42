//! The limits of a type: those that the language has, and those that only `allOf` can express.

use serde_json::{Map, Number, Value as Json, json};

use super::Reader;

/// The categories of types that limits apply to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Text,
    Number,
    TextOrNumber,
    List,
    Object,
    Boolean,
    Any,
}

impl Reader<'_, '_> {
    /// The allowed values, if the language can list them.
    pub(super) fn enumeration(&mut self, sort: Sort) {
        let Some(listed) = self
            .rest
            .take("enum")
            .and_then(Json::as_array)
            .filter(|values| !values.is_empty())
        else {
            return;
        };
        // The API server refuses null for a type with an `enum`, even if the `enum` contains null.
        if self.rest.is_true("nullable") {
            self.findings.add(
                &self.path.field("nullable"),
                "null is left out, because the API server refuses it for a value with an `enum`",
            );
        }
        let values: Vec<Json> = listed.iter().filter(|value| !value.is_null()).cloned().collect();
        let values = values.as_slice();
        let fits = match (sort, self.out.get("type").and_then(Json::as_str)) {
            (Sort::Text, Some("string")) => values.iter().all(|value| value.is_string()),
            (Sort::Number, Some("number")) => values.iter().all(Json::is_number),
            (Sort::Number, Some("int32")) => values
                .iter()
                .all(|value| value.as_i64().is_some_and(|it| i32::try_from(it).is_ok())),
            (Sort::Number, _) => values.iter().all(Json::is_i64),
            _ => false,
        };
        let limits: Map<String, Json> = LIMITS
            .iter()
            .filter_map(|(key, _)| Some(((*key).to_owned(), (*self.rest.0.get(key)?).clone())))
            .collect();
        if !fits || values.is_empty() || !all_hold(&Json::Object(limits), values) {
            self.beside.push(json!({ "enum": listed }));
            return;
        }
        let mut distinct: Vec<&Json> = Vec::new();
        for value in values {
            let is_same = |other: &&Json| **other == *value || is_equal(other.as_number(), value.as_number());
            if !distinct.iter().any(is_same) {
                distinct.push(value);
            }
        }
        if sort == Sort::Text {
            self.out.remove("type");
        }
        self.put("enum", json!(distinct));
    }

    /// Reads the limits of the type. Limits of other types, which the API server ignores, go under `allOf`, where they
    /// are harmless.
    pub(super) fn limits(&mut self, sort: Sort) {
        for (key, of) in LIMITS {
            let Some(value) = self.rest.take(key) else {
                continue;
            };
            let applies = sort == Sort::Any
                || *of == Sort::Any
                || *of == sort
                || sort == Sort::TextOrNumber && *key == "pattern";
            let is_no_limit = *value == Json::Bool(false);
            if is_no_limit {
                continue;
            }
            if applies && is_written(key, value) {
                self.put(key, value.clone());
            } else {
                self.beside.push(json!({ *key: value }));
            }
        }
        // The API server only accepts false here.
        self.rest.take("uniqueItems");
    }
}

/// The limits, with the category of types for each.
const LIMITS: &[(&str, Sort)] = &[
    ("format", Sort::Any),
    ("minimum", Sort::Number),
    ("maximum", Sort::Number),
    ("exclusiveMinimum", Sort::Number),
    ("exclusiveMaximum", Sort::Number),
    ("multipleOf", Sort::Number),
    ("minLength", Sort::Text),
    ("maxLength", Sort::Text),
    ("pattern", Sort::Text),
    ("minItems", Sort::List),
    ("maxItems", Sort::List),
    ("minProperties", Sort::Object),
    ("maxProperties", Sort::Object),
];

/// Whether the language accepts the value of a limit unchanged.
fn is_written(key: &str, value: &Json) -> bool {
    match key {
        "format" => value.as_str().is_some_and(|text| {
            !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        }),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            value.is_u64()
        }
        _ => true,
    }
}

/// Whether limits allow each of some values.
fn all_hold(limits: &Json, values: &[Json]) -> bool {
    let read: Result<krator_schema::Schema, _> = serde_json::from_value(limits.clone());
    read.is_ok_and(|limits| {
        values
            .iter()
            .all(|value| krator_schema::validate(&limits, value).is_empty())
    })
}

fn is_equal(a: Option<&Number>, b: Option<&Number>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.as_f64() == b.as_f64(),
        _ => false,
    }
}
