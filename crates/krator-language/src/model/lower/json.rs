//! Values of a description as JSON, regardless of their type.

use serde_json::{Number, Value as Json};

use crate::spec::{Node, NodeKind};

/// Converts a value by YAML 1.2's core schema.
pub(super) fn json_of(node: &Node) -> Json {
    match &node.kind {
        NodeKind::Scalar(scalar) if scalar.is_null() => Json::Null,
        NodeKind::Scalar(scalar) => {
            if let Some(boolean) = scalar.boolean() {
                boolean.into()
            } else if let Some(integer) = scalar.integer() {
                integer.into()
            } else if let Some(number) = scalar.number() {
                number_of(number)
            } else {
                scalar.text.clone().into()
            }
        }
        NodeKind::Sequence(items) => items.iter().map(json_of).collect(),
        NodeKind::Mapping(mapping) => mapping
            .entries
            .iter()
            .map(|entry| (entry.key.clone(), json_of(&entry.value)))
            .collect(),
    }
}

/// A number as kubectl sends it to the API server: without a fraction it is an integer, so that 1 and 1.0 are the same
/// item of a set.
pub(super) fn number_of(number: f64) -> Json {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if number.fract() == 0.0 && (-LIMIT..LIMIT).contains(&number) {
        (number as i64).into()
    } else {
        Number::from_f64(number).map_or(Json::Null, Json::Number)
    }
}
