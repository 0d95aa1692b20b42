//! The size of a definition in storage.
//!
//! The API server accepts requests of 3 MiB, but etcd stores only 1.5 MiB: a larger definition is refused with
//! `etcdserver: request is too large`. Definitions are stored as protocol buffers, in which a field without keywords is
//! larger than in JSON, and a description has about the same size.

use serde_json::Value as Json;

use crate::schema::{Items, Properties};
use crate::{Definition, Path, Problem, ProblemKind, Rule, Schema};

/// The largest object that etcd stores by default.
const STORED: usize = 3 << 19;
/// Reserved for data beside the schemas: names, columns, metadata, and the status that the API server has to write
/// before the definition is usable.
const ROOM: usize = 4 << 10;

pub(super) fn validate(definition: &Definition, path: &Path) -> Option<Problem> {
    let schemas = definition
        .versions
        .iter()
        .filter_map(|version| version.schema.as_ref());
    let size: usize = schemas
        .filter_map(|schema| schema.open_api_v3_schema.as_ref())
        .map(stored)
        .sum();
    (size > STORED - ROOM).then(|| {
        Problem::new(
            path,
            ProblemKind::TooLong,
            format!("the definition is stored in {size} bytes, and etcd stores at most {STORED}"),
        )
    })
}

/// The size of a schema as a protocol buffer message. Texts and flags are encoded even if they are empty.
fn stored(schema: &Schema) -> usize {
    let text = |text: &Option<String>| field(1, text.as_ref().map_or(0, String::len));
    let texts = [
        &schema.id,
        &schema.schema,
        &schema.description,
        &schema.type_,
        &schema.format,
        &schema.title,
    ];
    let optional = |tag: usize, text: &Option<String>| text.as_ref().map_or(0, |text| field(tag, text.len()));
    let strings = |list: &Option<Vec<String>>| {
        list.iter()
            .flatten()
            .map(|text| field(2, text.len()))
            .sum::<usize>()
    };
    let number = |tag: usize, value: Option<i64>| value.map_or(0, |value| tag + varint(value as u64));
    let schemas = |list: &Option<Vec<Schema>>| {
        list.iter()
            .flatten()
            .map(|part| field(2, stored(part)))
            .sum::<usize>()
    };
    let entry = |(name, part): (&String, &Schema)| field(2, field(1, name.len()) + field(1, stored(part)));
    let flags = 2 + 2 + 3 + 3 + 3 + 3;
    flags
        + texts.into_iter().map(text).sum::<usize>()
        + text(&schema.pattern)
        + optional(1, &schema.reference)
        + schema.default_value().map_or(0, |value| field(1, raw(value)))
        + schema.example.as_ref().map_or(0, |value| field(2, raw(value)))
        + [schema.maximum.as_ref(), schema.minimum.as_ref()]
            .into_iter()
            .flatten()
            .count()
            * 9
        + schema.multiple_of.as_ref().map_or(0, |_| 10)
        + number(1, schema.max_length)
        + number(1, schema.min_length)
        + number(2, schema.max_items)
        + number(2, schema.min_items)
        + number(2, schema.max_properties)
        + number(2, schema.min_properties)
        + schema
            .enum_
            .iter()
            .flatten()
            .map(|value| field(2, raw(value)))
            .sum::<usize>()
        + strings(&schema.required)
        + strings(&schema.list_map_keys)
        + optional(2, &schema.list_type)
        + optional(2, &schema.map_type)
        + schema.preserve_unknown_fields.map_or(0, |_| 3)
        + schemas(&schema.all_of)
        + schemas(&schema.one_of)
        + schemas(&schema.any_of)
        + schema.not.as_ref().map_or(0, |not| field(2, stored(not)))
        + schema.properties.iter().flatten().map(entry).sum::<usize>()
        + match &schema.additional_properties {
            Some(Properties::Schema(values)) => field(2, 2 + field(1, stored(values))),
            Some(Properties::Allowed(_)) => field(2, 2),
            None => 0,
        }
        + match &schema.items {
            Some(Items::All(item)) => field(2, field(1, stored(item))),
            Some(Items::Each(items)) => field(2, items.iter().map(|item| field(1, stored(item))).sum()),
            None => 0,
        }
        + schema
            .validations
            .iter()
            .flatten()
            .map(|rule| field(2, stored_rule(rule)))
            .sum::<usize>()
}

fn stored_rule(rule: &Rule) -> usize {
    let text = |text: &Option<String>| field(1, text.as_ref().map_or(0, String::len));
    field(1, rule.rule.len())
        + text(&rule.message)
        + text(&rule.message_expression)
        + text(&rule.field_path)
        + rule.reason.as_ref().map_or(0, |reason| field(1, reason.len()))
        + rule.optional_old_self.map_or(0, |_| 2)
}

/// The size of a value, which is stored as JSON.
fn raw(value: &Json) -> usize {
    if value.is_null() {
        0
    } else {
        field(1, value.to_string().len())
    }
}

/// The size of a field with its tag and its length prefix.
fn field(tag: usize, length: usize) -> usize {
    tag + varint(length as u64) + length
}

fn varint(value: u64) -> usize {
    let bits = 64 - (value | 1).leading_zeros() as usize;
    bits.div_ceil(7)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The expected sizes are those of the API server's own types.
    #[test]
    fn schemas_are_as_large_as_in_the_api_server() {
        for (schema, size) in [
            (json!({}), 30),
            (
                json!({"type": "object", "description": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "properties": {"a": {"type": "string"}}}),
                281,
            ),
            (
                json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 3, "multipleOf": 2}, "maxItems": 300, "minItems": 1, "x-kubernetes-list-type": "set", "default": [1, 2]}, "b": {"type": "object", "additionalProperties": {"type": "string", "enum": ["a", "b"], "maxLength": 5, "minLength": 1, "pattern": "^a"}}, "c": {"x-kubernetes-preserve-unknown-fields": true, "example": {"a": 1}}, "d": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}], "not": {"maximum": 3}}, "e": {"type": "object", "additionalProperties": true, "maxProperties": 2, "minProperties": 1, "x-kubernetes-map-type": "atomic"}}, "required": ["a", "b"], "x-kubernetes-validations": [{"rule": "true", "message": "m", "reason": "FieldValueInvalid", "fieldPath": ".a", "messageExpression": "'x'", "optionalOldSelf": true}]}),
                609,
            ),
            (
                json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object", "allOf": [{"required": ["k"]}], "oneOf": [{}], "properties": {"k": {"type": "string", "format": "date", "nullable": true, "title": "t"}}}}),
                207,
            ),
        ] {
            let read: Schema = serde_json::from_value(schema.clone()).expect("a schema of OpenAPI");
            assert_eq!(stored(&read), size, "{schema}");
        }
    }

    #[test]
    fn a_definition_has_to_fit_into_etcd() {
        let refused = |length: usize| {
            let schema = json!({"type": "object", "description": "x".repeat(length)});
            let definition = json!({"versions": [{"schema": {"openAPIV3Schema": schema}}]});
            let definition: Definition = serde_json::from_value(definition).expect("a definition");
            validate(&definition, &Path::root()).is_some()
        };
        assert!(!refused(1_560_000));
        assert!(refused(1_573_500));
    }
}
