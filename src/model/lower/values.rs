//! Converts YAML values to JSON: by a schema, which decides the type of each scalar, or by the rules of YAML.

use serde_json::{Map, Number, Value as Json};

use super::schema::Types;
use super::sink::Sink;
use crate::catalog::INVALID_SCHEMA;
use crate::finding::Finding;
use crate::model::{Schema, Shape, parse_duration};
use crate::spec::{Node, NodeKind};
use crate::text::shown;

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

/// A number as kubectl sends it to the API server: it writes one without a fraction as an integer, so that 1 and 1.0 are
/// the same item of a set.
fn number_of(number: f64) -> Json {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if number.fract() == 0.0 && (-LIMIT..LIMIT).contains(&number) {
        (number as i64).into()
    } else {
        Number::from_f64(number).map_or(Json::Null, Json::Number)
    }
}

/// Converts a default or an example, as `role` says, by the schema of its type: a string stays a string even where it
/// looks like a number.
pub(super) fn typed_json(
    role: &str,
    node: &Node,
    schema: &Schema,
    types: &Types<'_>,
    sink: &mut Sink<'_>,
) -> Option<Json> {
    let mismatch = |expected: &str, sink: &mut Sink<'_>| {
        let message = format!("the {role} is not {expected}");
        sink.report(
            Finding::new(&INVALID_SCHEMA, node.span, message).label(format!("this is {}", node.describe())),
        );
        None
    };
    // `nullable` may be said where a named type is used.
    let meant = types.resolve(schema);
    if node.is_null() && (schema.nullable || meant.nullable) {
        return Some(Json::Null);
    }
    let is_open = [schema, meant]
        .iter()
        .any(|schema| schema.extension("x-kubernetes-preserve-unknown-fields").is_some());
    let schema = meant;
    let scalar = node.scalar();
    match &schema.shape {
        // `default:` without a value is not a default of any type.
        _ if node.is_null() && scalar.is_some_and(|scalar| scalar.text.is_empty()) => mismatch("there", sink),
        Shape::String
        | Shape::DateTime
        | Shape::Duration
        | Shape::Enum(_)
        | Shape::Quantity
        | Shape::IntOrString
            if node.is_null() =>
        {
            let message = "null is not a value of this type";
            sink.report(
                Finding::new(&INVALID_SCHEMA, node.span, message)
                    .help("leave it out, write `nullable: true` beside it, or put quotes around a text"),
            );
            None
        }
        // The API server knows the form of a duration, but not how long one may be.
        Shape::Duration if scalar.is_some_and(|scalar| parse_duration(&scalar.text).is_none()) => {
            mismatch("a duration", sink)
        }
        Shape::String | Shape::DateTime | Shape::Duration => match scalar {
            Some(scalar) => Some(scalar.text.clone().into()),
            None => mismatch("a string", sink),
        },
        Shape::Enum(values) => match scalar {
            Some(scalar) if values.iter().any(|value| value.value == scalar.text) => {
                Some(scalar.text.clone().into())
            }
            Some(scalar) => {
                let suggestion = sink
                    .suggest(&scalar.text, values.iter().map(|value| value.as_str()))
                    .map(str::to_owned);
                let message = format!("the {role} `{}` is not in the `enum`", shown(&scalar.text));
                sink.report(
                    Finding::new(&INVALID_SCHEMA, node.span, message).did_you_mean(suggestion.as_deref()),
                );
                None
            }
            None => mismatch("a string", sink),
        },
        Shape::Boolean => match scalar.and_then(|scalar| scalar.boolean()) {
            Some(value) => Some(value.into()),
            None => mismatch("`true` or `false`", sink),
        },
        Shape::Integer => match scalar.and_then(|scalar| scalar.integer()) {
            Some(value) => Some(value.into()),
            None => mismatch("an integer", sink),
        },
        Shape::Int32 => match scalar
            .and_then(|scalar| scalar.integer())
            .and_then(|value| i32::try_from(value).ok())
        {
            Some(value) => Some(value.into()),
            None => mismatch("an integer of 32 bits", sink),
        },
        Shape::Number => match scalar.filter(|scalar| scalar.number().is_some()) {
            Some(_) => Some(json_of(node)),
            None => mismatch("a number", sink),
        },
        Shape::IntOrString | Shape::Quantity => match scalar {
            Some(scalar) => Some(
                scalar
                    .integer()
                    .map_or_else(|| scalar.text.clone().into(), Json::from),
            ),
            None => mismatch("a number or a string", sink),
        },
        Shape::List(items) => match &node.kind {
            NodeKind::Sequence(nodes) => nodes
                .iter()
                .map(|node| typed_json(role, node, items, types, sink))
                .collect(),
            _ => mismatch("a list", sink),
        },
        Shape::Map(values) => match &node.kind {
            NodeKind::Mapping(mapping) => mapping
                .entries
                .iter()
                .map(|entry| {
                    Some((
                        entry.key.clone(),
                        typed_json(role, &entry.value, values, types, sink)?,
                    ))
                })
                .collect::<Option<Map<_, _>>>()
                .map(Json::Object),
            _ => mismatch("a mapping", sink),
        },
        Shape::Object(fields) => match &node.kind {
            NodeKind::Mapping(mapping) => {
                let mut object = Map::new();
                for entry in &mapping.entries {
                    let Some(field) = fields.iter().find(|field| field.name.as_str() == entry.key) else {
                        if is_open {
                            object.insert(entry.key.clone(), json_of(&entry.value));
                            continue;
                        }
                        let known: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
                        let suggestion = sink.suggest(&entry.key, known.iter().copied());
                        let message = format!(
                            "the {role} has a field `{}` that the type lacks",
                            shown(&entry.key)
                        );
                        sink.report(
                            Finding::new(&INVALID_SCHEMA, entry.key_span, message).did_you_mean(suggestion),
                        );
                        continue;
                    };
                    object.insert(
                        entry.key.clone(),
                        typed_json(role, &entry.value, &field.schema, types, sink)?,
                    );
                }
                let missing = fields.iter().find(|field| {
                    !field.schema.optional
                        && field.schema.default.is_none()
                        && !object.contains_key(field.name.as_str())
                });
                match missing {
                    Some(field) => mismatch(&format!("complete: it lacks `{}`", field.name.value), sink),
                    None => Some(Json::Object(object)),
                }
            }
            _ => mismatch("a mapping", sink),
        },
        Shape::FreeForm | Shape::Kubernetes(_) => match &node.kind {
            NodeKind::Mapping(_) => Some(json_of(node)),
            _ if matches!(schema.shape, Shape::Kubernetes(_)) => Some(json_of(node)),
            _ => mismatch("a mapping", sink),
        },
        Shape::Any | Shape::Named(_) => Some(json_of(node)),
    }
}
