//! Converts YAML values to JSON by a schema, which decides the type of each scalar.

use serde_json::{Map, Value as Json};

use super::Types;
use crate::catalog::INVALID_SCHEMA;
use crate::finding::Finding;
use crate::model::lower::json::{json_of, number_of};
use crate::model::lower::nodes::{Input, InputEntry, list};
use crate::model::{Field, Schema, Shape, parse_duration};
use crate::spec::{NodeKind, Scalar};
use crate::text::shown;

/// Converts a default or an example (`role`) by the schema of its type: a string remains a string even if it looks like
/// a number.
pub(in crate::model::lower) fn typed_json(
    role: &str,
    node: Input<'_>,
    schema: &Schema,
    types: &Types<'_>,
) -> Option<Json> {
    // `nullable` may be written at the use of a named type.
    let meant = types.resolve(schema);
    if node.is_null() && (schema.nullable || meant.nullable) {
        return Some(Json::Null);
    }
    let is_text = matches!(
        meant.shape,
        Shape::String
            | Shape::DateTime
            | Shape::Duration
            | Shape::Enum(_)
            | Shape::Quantity
            | Shape::IntOrString
    );
    match (&meant.shape, &node.node.kind) {
        // `default:` without a value is not a default of any type.
        (_, NodeKind::Scalar(scalar)) if scalar.is_null() && scalar.text.is_empty() => {
            mismatch(role, node, "set")
        }
        _ if is_text && node.is_null() => node.refuse(
            Finding::new(&INVALID_SCHEMA, node.span, "null is not a value of this type")
                .help("leave it out, write `nullable: true` beside it, or quote it if it is a string"),
        ),
        (Shape::Enum(values), NodeKind::Scalar(scalar)) => {
            let values = values.iter().map(|value| value.as_str());
            if !values.clone().any(|value| value == scalar.text) {
                let suggestion = node.sink.suggest(&scalar.text, values);
                let message = format!("the {role} `{}` is not in the `enum`", shown(&scalar.text));
                let finding = Finding::new(&INVALID_SCHEMA, node.span, message);
                return node.refuse(finding.did_you_mean(suggestion));
            }
            Some(scalar.text.clone().into())
        }
        (Shape::List(items), NodeKind::Sequence(_)) => {
            let nodes = list(node, "a list").into_iter();
            nodes.map(|node| typed_json(role, node, items, types)).collect()
        }
        (Shape::Map(values), NodeKind::Mapping(_)) => {
            let entries = node.entries().into_iter();
            let typed = |entry: InputEntry<'_>| {
                let value = typed_json(role, entry.value, values, types)?;
                Some((entry.key.to_owned(), value))
            };
            entries
                .map(typed)
                .collect::<Option<Map<_, _>>>()
                .map(Json::Object)
        }
        (Shape::Object(fields), NodeKind::Mapping(_)) => {
            let is_open = [schema, meant]
                .iter()
                .any(|schema| schema.extension("x-kubernetes-preserve-unknown-fields").is_some());
            object(role, node, fields, is_open, types)
        }
        (Shape::FreeForm, NodeKind::Mapping(_))
        | (Shape::Kubernetes(_) | Shape::Any | Shape::Named(_), _) => Some(json_of(&node)),
        (shape, NodeKind::Scalar(scalar)) => {
            scalar_json(shape, scalar).or_else(|| mismatch(role, node, expected(shape)))
        }
        (shape, _) => mismatch(role, node, expected(shape)),
    }
}

fn mismatch(role: &str, node: Input<'_>, expected: &str) -> Option<Json> {
    let message = format!("the {role} is not {expected}");
    let finding = Finding::new(&INVALID_SCHEMA, node.span, message);
    node.refuse(finding.label(format!("this is {}", node.describe())))
}

/// The phrase for values of a shape, after "is not".
fn expected(shape: &Shape) -> &'static str {
    match shape {
        Shape::String | Shape::DateTime | Shape::Enum(_) => "a string",
        Shape::Duration => "a duration",
        Shape::Boolean => "`true` or `false`",
        Shape::Integer => "an integer",
        Shape::Int32 => "an integer of 32 bits",
        Shape::Number => "a number",
        Shape::IntOrString | Shape::Quantity => "a number or a string",
        Shape::List(_) => "a list",
        Shape::Map(_) | Shape::Object(_) | Shape::FreeForm => "a mapping",
        Shape::Any | Shape::Named(_) | Shape::Kubernetes(_) => "a value",
    }
}

/// A scalar as a value of the shape, if it is one.
fn scalar_json(shape: &Shape, scalar: &Scalar) -> Option<Json> {
    let text = || Json::from(scalar.text.clone());
    match shape {
        Shape::String | Shape::DateTime => Some(text()),
        // The API server checks the form of a duration, but not its maximum.
        Shape::Duration => parse_duration(&scalar.text).map(|_| text()),
        Shape::Boolean => scalar.boolean().map(Json::from),
        Shape::Integer => scalar.integer().map(Json::from),
        Shape::Int32 => i32::try_from(scalar.integer()?).ok().map(Json::from),
        Shape::Number => scalar.number().map(number_of),
        Shape::IntOrString | Shape::Quantity => Some(scalar.integer().map_or_else(text, Json::from)),
        _ => None,
    }
}

fn object(role: &str, node: Input<'_>, fields: &[Field], is_open: bool, types: &Types<'_>) -> Option<Json> {
    let mut object = Map::new();
    for entry in node.entries() {
        match fields.iter().find(|field| field.name.as_str() == entry.key) {
            Some(field) => {
                let value = typed_json(role, entry.value, &field.schema, types)?;
                object.insert(entry.key.to_owned(), value);
            }
            None if is_open => {
                object.insert(entry.key.to_owned(), json_of(&entry.value));
            }
            None => {
                let known = fields.iter().map(|field| field.name.as_str());
                let suggestion = node.sink.suggest(entry.key, known);
                let name = shown(entry.key);
                let message = format!("the {role} has a field `{name}` that the type lacks");
                let finding = Finding::new(&INVALID_SCHEMA, entry.key_span, message);
                node.report(finding.did_you_mean(suggestion));
            }
        }
    }
    let is_missing = |field: &&Field| {
        let Schema {
            optional, default, ..
        } = &field.schema;
        !optional && default.is_none() && !object.contains_key(field.name.as_str())
    };
    match fields.iter().find(is_missing) {
        Some(field) => mismatch(role, node, &format!("complete: it lacks `{}`", field.name.value)),
        None => Some(Json::Object(object)),
    }
}
