//! Converts schemas of OpenAPI to the model: those of other kinds, of built-in types of Kubernetes, and of the
//! machine's status.
//!
//! Rust types and paths are derived from them, so bounds and rules are left out. Values whose schema the model cannot
//! express may have any type.

use std::collections::BTreeSet;

use krator_schema::{Items, Properties, Schema as OpenApi};
use serde_json::Value as Json;

use crate::finding::{Span, Spanned};
use crate::model::{Field, Schema, Shape};
use crate::names::FieldName;

/// Values that are nested deeper than this are JSON in Rust. The deepest schemas of well-known kinds have 20 levels.
const DEEPEST: usize = 40;

/// The model of a schema in JSON.
pub(super) fn schema_of_json(json: &Json) -> Schema {
    let read: OpenApi = serde_json::from_value(json.clone()).unwrap_or_default();
    schema(&read, Span::default())
}

/// The model of a schema, with the same place for all parts.
pub(super) fn schema(read: &OpenApi, span: Span) -> Schema {
    below(read, span, 0)
}

/// The fields of an object; empty if a field has no name in Rust.
pub(super) fn fields_of(read: &OpenApi, span: Span) -> Vec<Field> {
    fields(read, span, 0).unwrap_or_default()
}

fn below(read: &OpenApi, span: Span, depth: usize) -> Schema {
    Schema {
        nullable: read.nullable == Some(true),
        description: read.description.clone().map(|text| Spanned::new(text, span)),
        ..Schema::plain(shape(read, span, depth), span)
    }
}

fn shape(read: &OpenApi, span: Span, depth: usize) -> Shape {
    if depth > DEEPEST {
        return Shape::Any;
    }
    if read.int_or_string == Some(true) {
        return Shape::IntOrString;
    }
    match (read.type_.as_deref(), read.format.as_deref()) {
        (Some("string"), Some("date-time")) => Shape::DateTime,
        (Some("string"), _) => words(read, span),
        (Some("boolean"), _) => Shape::Boolean,
        (Some("integer"), Some("int32")) => Shape::Int32,
        (Some("integer"), _) => Shape::Integer,
        (Some("number"), _) => Shape::Number,
        (Some("array"), _) => Shape::List(Box::new(match &read.items {
            Some(Items::All(items)) => below(items, span, depth + 1),
            _ => Schema::plain(Shape::Any, span),
        })),
        (Some("object"), _) => object(read, span, depth),
        _ => Shape::Any,
    }
}

/// A string, or an `enum` of strings.
fn words(read: &OpenApi, span: Span) -> Shape {
    let values = read.enum_.iter().flatten();
    let values: Option<Vec<_>> = values
        .map(|value| Some(Spanned::new(value.as_str()?.to_owned(), span)))
        .collect();
    match values {
        Some(values) if !values.is_empty() => Shape::Enum(values),
        _ => Shape::String,
    }
}

fn object(read: &OpenApi, span: Span, depth: usize) -> Shape {
    if read.preserve_unknown_fields == Some(true) || read.embedded_resource == Some(true) {
        return Shape::FreeForm;
    }
    match (fields(read, span, depth), &read.additional_properties) {
        (Some(fields), _) => Shape::Object(fields),
        (None, Some(Properties::Schema(values))) => Shape::Map(Box::new(below(values, span, depth + 1))),
        _ => Shape::FreeForm,
    }
}

/// The fields of an object; `None` if it has no `properties`, or if a field has no name in Rust. A field with a default
/// is optional, because the API server sets it.
fn fields(read: &OpenApi, span: Span, depth: usize) -> Option<Vec<Field>> {
    let mut rust_names = BTreeSet::new();
    let mut fields = Vec::new();
    for (key, property) in read.properties.as_ref()? {
        let name = FieldName::parse(key).ok()?;
        if !rust_names.insert(name.rust_field()?) {
            return None;
        }
        let is_required = read.required.iter().flatten().any(|required| required == key);
        fields.push(Field {
            name: Spanned::new(name, span),
            schema: Schema {
                optional: !is_required || property.default.is_some(),
                ..below(property, span, depth + 1)
            },
        });
    }
    (!fields.is_empty()).then_some(fields)
}
