//! Types that are written as a mapping, with the keys of OpenAPI.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::Types;
use super::change::refuse_change;
use crate::catalog::keys::TypeKey;
use crate::catalog::{INVALID_SCHEMA, WRONG_TYPE};
use crate::finding::{Finding, Span, Spanned};
use crate::model::lower::bounds;
use crate::model::lower::constraints::{
    constraints, extensions, is_implied_by_shape, refuse_repeated, validation_list,
};
use crate::model::lower::json::json_of;
use crate::model::lower::keys::Keys;
use crate::model::lower::nodes::{Input, InputEntry, boolean, list, name, text};
use crate::model::lower::schema::values::typed_json;
use crate::model::lower::sink::Sink;
use crate::model::{Schema, Shape};
use crate::names::RustFieldName;
use crate::text::shown;

const INT_OR_STRING: &str = "x-kubernetes-int-or-string";

/// Reports `properties`, `items` or `additionalProperties` for a type that does not take them, with the intended form.
fn refuse_beside_phrase(key: &str, type_node: Input<'_>, sink: &Sink<'_>) {
    let phrase = type_node
        .scalar()
        .map(|scalar| scalar.text.trim())
        .unwrap_or_default();
    let message = format!("the type `{}` cannot have `{key}` beside it", shown(phrase));
    let words = phrase.trim_start_matches("optional").trim_start();
    let help = match (words.split(' ').next(), key) {
        (Some("list"), "items") => {
            "write `items` without `type`, or name the type of the items: `type: list of TYPE`"
        }
        (Some("list"), "properties") => "for a list of objects write `items: {properties: …}` without `type`",
        (Some("map"), "additionalProperties") => {
            "write `additionalProperties` without `type`, or name the type of the values: `type: map of TYPE`"
        }
        (Some("map"), "properties") => {
            "for a map of objects write `additionalProperties: {properties: …}` without `type`"
        }
        (_, "items") => "leave `type` out: `items` makes it a list",
        (_, "properties") => "leave `type` out: `properties` makes it an object",
        _ => "leave `type` out: `additionalProperties` makes it a map",
    };
    sink.report(Finding::new(&INVALID_SCHEMA, type_node.span, message).help(help));
}

/// Reports `optional` at a type that is not that of a field. An alias may repeat a type that is optional elsewhere.
pub(super) fn refuse_optional(schema: &Schema, what: &str, sink: &Sink<'_>) {
    let is_alias = sink.source.at(schema.span).starts_with('*');
    if schema.optional && !is_alias {
        let message = format!("{what} cannot be optional");
        sink.report(
            Finding::new(&INVALID_SCHEMA, schema.span, message)
                .label("only a field can be left out")
                .help("write `optional` at the field; to allow null, write `nullable: true`"),
        );
    }
}

impl<'a> Types<'a> {
    pub(super) fn mapping(&mut self, node: Input<'a>) -> Schema {
        let Some(mut keys) = Keys::of(node) else {
            return Schema::plain(Shape::Any, node.span);
        };
        let type_node = keys.get(TypeKey::Type);
        let mut inner: Vec<(&str, Shape)> = Vec::new();
        if let Some(node) = keys.get(TypeKey::Properties) {
            inner.push(("properties", Shape::Object(self.fields(node))));
        }
        if let Some(node) = keys.get(TypeKey::Items) {
            let items = self.schema(node);
            refuse_optional(&items, "an item of a list", node.sink);
            refuse_change(&items, "an item of a list", node.sink);
            inner.push(("items", Shape::List(Box::new(items))));
        }
        if let Some(node) = keys.get(TypeKey::AdditionalProperties) {
            let values = match node.scalar().and_then(|scalar| scalar.boolean()) {
                Some(true) => Schema::plain(Shape::Any, node.span),
                _ => self.schema(node),
            };
            refuse_optional(&values, "a value of a map", node.sink);
            refuse_change(&values, "a value of a map", node.sink);
            inner.push(("additionalProperties", Shape::Map(Box::new(values))));
        }
        let one_of = keys.get(TypeKey::Enum).map(|node| list(node, "a list of values"));
        let mut extensions = extensions(&mut keys, node.sink);
        let mut validations = keys.read_all(TypeKey::KubernetesValidations, validation_list);
        validations.extend(keys.read_all(TypeKey::Validations, validation_list));
        refuse_repeated(&validations, node.sink);

        let int_or_string = extensions.iter().find(|(key, _)| key.value == INT_OR_STRING);
        let int_or_string = int_or_string.map(|(key, _)| key.span);

        let mut schema = Schema::plain(Shape::Any, node.span);
        let phrase = type_node.and_then(|node| node.scalar().map(|scalar| scalar.text.trim().to_owned()));
        let plain = phrase
            .as_deref()
            .map(|phrase| phrase.trim_start_matches("optional").trim());
        match (type_node, plain) {
            (Some(_), Some("array")) if inner.iter().any(|(key, _)| *key == "items") => {
                schema.optional = phrase.as_deref() != plain;
            }
            (Some(node), Some("array")) => node.report(
                Finding::new(&INVALID_SCHEMA, node.span, "an array needs `items`")
                    .help("add `items`, or write `type: list of TYPE`"),
            ),
            (Some(node), Some(_)) => {
                schema = self.phrase(phrase.as_deref().unwrap_or_default(), node.span, node.sink)
            }
            (Some(node), None) => node.wrong_type("a type as a phrase"),
            (None, _) if int_or_string.is_some() => schema.shape = Shape::IntOrString,
            (None, _) => {}
        }
        let is_open = matches!(plain, Some("object" | "array"));
        match (&inner[..], type_node) {
            ([_, _, ..], _) => {
                let message = "a type can have only one of `properties`, `items` and `additionalProperties`";
                node.sink.error(&INVALID_SCHEMA, keys.head(), message);
            }
            ([(key, _)], Some(node)) if !is_open => refuse_beside_phrase(key, node, node.sink),
            _ => {}
        }
        let is_extended = extensions
            .iter()
            .any(|(key, _)| key.value.starts_with("x-kubernetes-"));
        if let Some((_, shape)) = inner.into_iter().next() {
            schema.shape = shape;
        } else if type_node.is_none() && one_of.is_none() && !is_extended {
            let help =
                "add `type`; it may be absent beside `properties`, `items`, `additionalProperties` or `enum`";
            node.report(Finding::new(&INVALID_SCHEMA, keys.head(), "this type has no `type`").help(help));
        }
        if let Some(span) = int_or_string {
            self.refuse_two_types(&schema, span, node.sink);
        }
        schema.span = node.span;
        schema.validations = validations;
        extensions.retain(|(key, _)| !is_implied_by_shape(&key.value, &schema.shape));
        schema.extensions = extensions;
        schema.description = keys.read(TypeKey::Description, text);
        let nullable = keys.read(TypeKey::Nullable, boolean);
        let nullable = nullable.filter(|value| value.value);
        schema.nullable = nullable.is_some();
        if let Some(optional) = keys.read(TypeKey::Optional, boolean) {
            schema.optional = optional.value;
        }
        schema.rust_name = keys.read(TypeKey::RustName, |node| {
            name(node, "field in Rust", RustFieldName::parse)
        });
        schema.constraints = constraints(&mut keys);
        if let Some(values) = one_of {
            self.one_of(&mut schema, values, node);
        }
        if let Some(nullable) = nullable {
            self.refuse_null_in_enum(&schema, nullable.span, node.sink);
        }
        self.narrow(&mut schema, node.sink);
        schema.change = self.change(&mut keys, &schema, node.sink);
        bounds::check(self.resolve(&schema), &schema, node.sink);
        let typed = |key: Option<InputEntry<'_>>, role: &str| {
            let value = key?.value;
            let json = typed_json(role, value, &schema, self)?;
            Some(Spanned::new(json, value.span))
        };
        let default = typed(keys.entry(TypeKey::Default), "default");
        let example = typed(keys.entry(TypeKey::Example), "example");
        (schema.default, schema.example) = (default, example);
        keys.finish();
        schema
    }

    /// For the API server, `x-kubernetes-int-or-string` overrides `type`, so it would accept values that the Rust type
    /// cannot represent.
    fn refuse_two_types(&self, schema: &Schema, extension: Span, sink: &Sink<'_>) {
        let meant = self.resolve(schema);
        if !matches!(meant.shape, Shape::IntOrString | Shape::Quantity | Shape::Any) {
            let message = format!("`{INT_OR_STRING}` defines the type, but another type is beside it");
            sink.report(
                Finding::new(&INVALID_SCHEMA, extension, message)
                    .help("leave it out, or write `type: int-or-string` to allow integers and strings"),
            );
        }
    }

    /// The API server refuses null for a type with an `enum`, even if the `enum` contains null.
    fn refuse_null_in_enum(&self, schema: &Schema, span: Span, sink: &Sink<'_>) {
        let meant = self.resolve(schema);
        let has_enum = matches!(meant.shape, Shape::Enum(_))
            || !meant.constraints.one_of.is_empty()
            || !schema.constraints.one_of.is_empty();
        if has_enum {
            let message = "a type with an `enum` cannot be `nullable`: the API server would refuse null";
            sink.report(
                Finding::new(&INVALID_SCHEMA, span, message)
                    .help("write `optional: true` for a value that may be absent"),
            );
        }
    }

    /// Converts types with a format, such as `type: integer` with `format: int32`, to their shapes, such as `int32`.
    fn narrow(&self, schema: &mut Schema, sink: &Sink<'_>) {
        let limits = &schema.constraints.limits;
        let Some(Spanned { value, span }) = limits.get("format") else {
            return;
        };
        let format = value.as_str().unwrap_or_default();
        if matches!(self.resolve(schema).shape, Shape::Int32) && format != "int32" {
            let message = format!("an `int32` cannot have the format `{format}`");
            sink.report(
                Finding::new(&INVALID_SCHEMA, *span, message)
                    .help("leave `format` out, or use the type `integer`, which has 64 bits"),
            );
        }
        let shape = match (&schema.shape, format) {
            (Shape::Integer | Shape::Int32, "int32") => Shape::Int32,
            (Shape::Integer, "int64") => Shape::Integer,
            (Shape::Number, "double") => Shape::Number,
            (Shape::String, "date-time") => Shape::DateTime,
            _ => return,
        };
        schema.shape = shape;
        schema.constraints.limits.remove("format");
    }

    /// Strings of an `enum` become a shape of their own; numbers constrain the existing shape.
    fn one_of(&self, schema: &mut Schema, values: Vec<Input<'_>>, node: Input<'_>) {
        let sink = node.sink;
        if values.is_empty() {
            sink.error(&INVALID_SCHEMA, node.span, "an `enum` needs at least one value");
            return;
        }
        let is_number = match self.resolve(schema).shape {
            Shape::Integer | Shape::Int32 | Shape::Number => true,
            Shape::String | Shape::Any => false,
            _ => {
                let message = "only strings and numbers can have an `enum`";
                sink.error(&INVALID_SCHEMA, node.span, message);
                return;
            }
        };
        let mut strings = Vec::new();
        let mut seen: BTreeMap<String, Span> = BTreeMap::new();
        for value in values {
            let read = if is_number {
                number_of_enum(value)
            } else {
                text_of_enum(value)
            };
            let Some(read) = read else { continue };
            // The API server treats 1 and 1.0 as the same value.
            let same = read
                .as_f64()
                .map_or_else(|| read.to_string(), |number| number.to_string());
            if let Some(first) = seen.get(&same) {
                let written = read.as_str().map_or_else(|| read.to_string(), str::to_owned);
                let message = format!("the value `{}` is listed twice", shown(&written));
                let finding = Finding::new(&INVALID_SCHEMA, value.span, message);
                sink.report(finding.related(*first, "first here"));
                continue;
            }
            seen.insert(same, value.span);
            match read {
                Json::Number(number) => schema.constraints.one_of.push(Spanned::new(number, value.span)),
                Json::String(text) => strings.push(Spanned::new(text, value.span)),
                _ => {}
            }
        }
        if !strings.is_empty() {
            schema.shape = Shape::Enum(strings);
        }
    }
}

fn number_of_enum(value: Input<'_>) -> Option<Json> {
    let number = json_of(&value);
    if !number.is_number() {
        return value.mismatch("a number");
    }
    Some(number)
}

/// Values of an `enum` are data: an unquoted `true` or `1` is a string as well.
fn text_of_enum(value: Input<'_>) -> Option<Json> {
    let scalar = value.scalar();
    if let Some(text) = scalar.filter(|scalar| !scalar.is_null()) {
        return Some(text.text.clone().into());
    }
    let message = format!("expected a string, found {}", value.describe());
    let mut finding = Finding::new(&WRONG_TYPE, value.span, message);
    if scalar.is_some() {
        let written = value.sink.source.at(value.span);
        let quoted = (!written.is_empty()).then(|| format!("\"{written}\""));
        finding = finding.did_you_mean(quoted.as_deref()).help(
            "write `nullable` for a field that may be null, and `optional` for a field that may be absent",
        );
    }
    value.refuse(finding)
}
