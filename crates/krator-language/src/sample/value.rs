//! The simplest value that a schema accepts.

use std::collections::BTreeSet;

use krator_schema::{Items, Properties, Rule, Schema};
use serde_json::{Map, Number, Value as Json, json};

use super::pattern::string_matching;
use crate::crd::DURATION_PATTERN;
use crate::model::kubernetes::QUANTITY_PATTERN;

/// A value of the schema. It may break a complex validation rule, or an assertion in a pattern.
pub(super) fn of(schema: &Schema) -> Json {
    if let Some(value) = schema.example.as_ref().or(schema.default.as_ref()) {
        return value.clone();
    }
    if let Some(first) = schema.enum_.as_ref().and_then(|values| values.first()) {
        return first.clone();
    }
    if schema.int_or_string == Some(true) {
        return if schema.pattern.as_deref() == Some(QUANTITY_PATTERN) {
            "1Gi".into()
        } else {
            1.into()
        };
    }
    match schema.type_.as_deref() {
        Some("boolean") => false.into(),
        Some("integer") => (number(schema).ceil() as i64).into(),
        Some("number") => Number::from_f64(number(schema)).map_or(Json::Null, Json::Number),
        Some("string") => string(schema).into(),
        Some("array") => list(schema),
        Some("object") => object(schema),
        // Any value is allowed. Most such fields hold an object.
        _ => json!({}),
    }
}

/// 1 if the bounds allow it, or otherwise the nearest allowed number.
fn number(schema: &Schema) -> f64 {
    // The distance to an exclusive bound.
    let step = match (
        schema.type_.as_deref(),
        float(&schema.minimum),
        float(&schema.maximum),
    ) {
        (Some("integer"), ..) => 1.0,
        (_, Some(least), Some(most)) => (most - least) / 2.0,
        _ => 0.5,
    };
    let distance = |flag: Option<bool>| if flag == Some(true) { step } else { 0.0 };
    let least = float(&schema.minimum).map(|least| least + distance(schema.exclusive_minimum));
    let most = float(&schema.maximum).map(|most| most - distance(schema.exclusive_maximum));
    let number = 1.0_f64.min(most.unwrap_or(1.0));
    let number = number.max(least.unwrap_or(number));
    match float(&schema.multiple_of) {
        Some(multiple) if multiple > 0.0 => {
            let above = (number / multiple).ceil() * multiple;
            let is_too_much = most.is_some_and(|most| above > most);
            if is_too_much {
                (number / multiple).floor() * multiple
            } else {
                above
            }
        }
        _ => number,
    }
}

fn float(number: &Option<Number>) -> Option<f64> {
    number.as_ref().and_then(Number::as_f64)
}

/// An example for each format that the API server checks.
const FORMATS: [(&str, &str); 24] = [
    ("bsonobjectid", "507f1f77bcf86cd799439011"),
    ("byte", "a3JhdG9y"),
    ("cidr", "192.0.2.0/24"),
    ("creditcard", "4111111111111111"),
    ("date", "2030-01-01"),
    ("date-time", "2030-01-01T00:00:00Z"),
    ("datetime", "2030-01-01T00:00:00Z"),
    ("duration", "1h"),
    ("email", "name@example.com"),
    ("hexcolor", "#ffffff"),
    ("hostname", "example.com"),
    ("ipv4", "192.0.2.1"),
    ("ipv6", "2001:db8::1"),
    ("isbn", "0321751043"),
    ("isbn10", "0321751043"),
    ("isbn13", "978-0321751041"),
    ("mac", "00:00:5e:00:53:01"),
    ("rgbcolor", "rgb(0,0,0)"),
    ("ssn", "111-11-1111"),
    ("uri", "https://example.com"),
    ("uuid", "123e4567-e89b-42d3-a456-426614174000"),
    ("uuid3", "6fa459ea-ee8a-3ca4-894e-db77e160355e"),
    ("uuid5", "886313e1-3b8a-5372-9b90-0c9aee199e5d"),
    ("uuid4", "123e4567-e89b-42d3-a456-426614174000"),
];

fn string(schema: &Schema) -> String {
    let length = |length: Option<i64>| length.and_then(|length| usize::try_from(length).ok());
    let least = length(schema.min_length).unwrap_or(0);
    if let Some(pattern) = schema.pattern.as_deref() {
        return if pattern == DURATION_PATTERN {
            "1h".to_owned()
        } else {
            string_matching(pattern, least)
        };
    }
    let format = schema.format.as_deref();
    if let Some((_, text)) = FORMATS.iter().find(|(name, _)| Some(*name) == format) {
        return (*text).to_owned();
    }
    let most = length(schema.max_length).unwrap_or(usize::MAX);
    let example = "example";
    if example.len() > most {
        return example[..most].to_owned();
    }
    // A longer string would only enlarge the file, and real minimum lengths are far below this limit.
    format!(
        "{example}{}",
        "x".repeat(least.min(4096).saturating_sub(example.len()))
    )
}

fn list(schema: &Schema) -> Json {
    let count = schema
        .min_items
        .and_then(|count| usize::try_from(count).ok())
        .unwrap_or(0)
        .min(64);
    let Some(Items::All(items)) = &schema.items else {
        return json!([]);
    };
    let is_distinct = matches!(schema.list_type.as_deref(), Some("set" | "map"));
    let keys = schema.list_map_keys.iter().flatten();
    let keys: Vec<&str> = keys.map(String::as_str).collect();
    (0..count)
        .map(|at| {
            let mut item = of(items);
            if is_distinct && at > 0 {
                make_distinct(&mut item, &keys, at);
            }
            item
        })
        .collect()
}

/// Makes an item of a set or a map different from the items before it.
fn make_distinct(item: &mut Json, keys: &[&str], at: usize) {
    match item {
        Json::String(text) => text.push_str(&at.to_string()),
        Json::Number(number) => {
            let distinct = match number.as_i64() {
                Some(integer) => integer.checked_add(at as i64).map(Number::from),
                None => number
                    .as_f64()
                    .and_then(|float| Number::from_f64(float + at as f64)),
            };
            *number = distinct.unwrap_or_else(|| number.clone());
        }
        Json::Object(fields) => {
            if let Some(value) = keys.first().and_then(|key| fields.get_mut(*key)) {
                make_distinct(value, &[], at);
            }
        }
        _ => {}
    }
}

fn object(schema: &Schema) -> Json {
    let least = schema
        .min_properties
        .and_then(|count| usize::try_from(count).ok())
        .unwrap_or(0)
        .min(64);
    let mut object = Map::new();
    if schema.embedded_resource == Some(true) {
        object.insert("apiVersion".to_owned(), "v1".into());
        object.insert("kind".to_owned(), "ConfigMap".into());
    }
    if let Some(properties) = &schema.properties {
        let mut wanted: BTreeSet<&str> = schema.required.iter().flatten().map(String::as_str).collect();
        let exemplary = properties.iter().filter(|(_, field)| field.example.is_some());
        wanted.extend(exemplary.map(|(name, _)| name.as_str()));
        for rule in schema.validations.iter().flatten() {
            wanted.extend(required_by(rule, &wanted));
        }
        let further = properties
            .keys()
            .map(String::as_str)
            .filter(|name| !wanted.contains(name));
        let further: Vec<&str> = further.take(least.saturating_sub(wanted.len())).collect();
        wanted.extend(further);
        let fields = wanted
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), of(properties.get(name)?))));
        object.extend(fields);
        if let Some(metadata) = object
            .get_mut("metadata")
            .filter(|_| schema.embedded_resource == Some(true))
        {
            // The metadata of an object has the fields of Kubernetes, regardless of other fields in the schema. If it
            // is not even metadata, the rule refused-sample reports the reason.
            let _ = krator_schema::admit_metadata(metadata);
        }
    } else if let Some(Properties::Schema(values)) = &schema.additional_properties {
        object.extend((1..=least).map(|at| (format!("key{at}"), of(values))));
    } else {
        object.extend((1..=least).map(|at| (format!("key{at}"), json!({}))));
    }
    Json::Object(object)
}

/// The field that a simple validation rule requires. The supported rules are `has(self.a)`, and several of these joined
/// by `!=` or `||` if none of their fields is present.
fn required_by<'a>(rule: &'a Rule, present: &BTreeSet<&str>) -> Option<&'a str> {
    let fields: Option<Vec<&str>> = rule
        .rule
        .split("!=")
        .flat_map(|side| side.split("||"))
        .map(|side| side.trim().strip_prefix("has(self.")?.strip_suffix(')'))
        .collect();
    let fields = fields?;
    let is_there = fields.iter().any(|field| present.contains(field));
    fields.first().copied().filter(|_| !is_there)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(schema: Json) -> Json {
        of(&serde_json::from_value(schema).unwrap())
    }

    #[test]
    fn numbers_are_within_their_bounds() {
        for (schema, expected) in [
            (json!({"type": "integer"}), json!(1)),
            (json!({"type": "integer", "minimum": 0}), json!(1)),
            (
                json!({"type": "integer", "minimum": 5, "exclusiveMinimum": true}),
                json!(6),
            ),
            (json!({"type": "integer", "maximum": -3}), json!(-3)),
            (
                json!({"type": "integer", "minimum": 5, "multipleOf": 4}),
                json!(8),
            ),
            (
                json!({"type": "integer", "minimum": 5, "maximum": 11, "multipleOf": 4}),
                json!(8),
            ),
            (
                json!({"type": "number", "maximum": 0, "exclusiveMaximum": true}),
                json!(-0.5),
            ),
        ] {
            assert_eq!(sample(schema.clone()), expected, "{schema}");
        }
    }

    #[test]
    fn strings_have_an_allowed_length() {
        for (schema, expected) in [
            (json!({"type": "string"}), "example"),
            (json!({"type": "string", "maxLength": 3}), "exa"),
            (json!({"type": "string", "minLength": 9}), "examplexx"),
            (json!({"type": "string", "enum": ["on", "off"]}), "on"),
            (json!({"type": "string", "format": "ipv4"}), "192.0.2.1"),
        ] {
            assert_eq!(sample(schema.clone()), expected, "{schema}");
        }
    }

    #[test]
    fn objects_have_required_fields_and_no_others() {
        let fields = json!({"a": {"type": "string"}, "b": {"type": "boolean"}, "c": {"type": "integer", "default": 3}});
        let object = |more: Json| {
            let mut schema = json!({"type": "object", "properties": fields});
            schema
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            sample(schema)
        };
        let ruled = |rule: &str| object(json!({"x-kubernetes-validations": [{"rule": rule}]}));
        assert_eq!(object(json!({})), json!({}));
        assert_eq!(object(json!({"required": ["b"]})), json!({"b": false}));
        assert_eq!(object(json!({"minProperties": 1})), json!({"a": "example"}));
        assert_eq!(ruled("has(self.a) != has(self.b)"), json!({"a": "example"}));
        assert_eq!(ruled("has(self.b) || has(self.a)"), json!({"b": false}));
        assert_eq!(ruled("!has(self.a) || self.a != ''"), json!({}));
    }

    #[test]
    fn items_of_sets_differ() {
        let items = json!({"type": "string"});
        let list = json!({"type": "array", "items": items, "minItems": 2, "x-kubernetes-list-type": "set"});
        assert_eq!(sample(list), json!(["example", "example1"]));
        let items = json!({"type": "object", "properties": {"at": {"type": "number"}}, "required": ["at"]});
        let list = json!({"type": "array", "items": items, "minItems": 2, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["at"]});
        assert_eq!(sample(list), json!([{"at": 1.0}, {"at": 2.0}]));
    }
}
