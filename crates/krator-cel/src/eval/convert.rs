//! Converts JSON to values, with a schema after `UnstructuredToVal` of `pkg/cel/common/valuesunstructured.go`, and
//! without.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value as Json;

use super::time::Timestamp;
use super::value::{Element, List, Map, Value};
use super::{Fallible, fail};
use crate::decl_type::{DeclType, Shape};
use crate::formats;
use crate::types::Type;

/// A value without a schema.
pub(crate) fn dynamic(value: &Json) -> Value<'_> {
    match value {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match number.as_i64() {
            Some(number) => Value::Int(number),
            None => Value::Double(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => Value::List(List::Dynamic(items)),
        Json::Object(map) => Value::Map(Map::Dynamic(map)),
    }
}

/// A value with the type from its schema.
pub(crate) fn typed<'a>(value: &'a Json, of: &'a DeclType) -> Fallible<Value<'a>> {
    let wrong = |wanted: &str| fail(format!("invalid data, expected {wanted}"));
    Ok(match (&of.shape, value) {
        (_, Json::Null) => Value::Null,
        (Shape::Simple(Type::Bool), Json::Bool(value)) => Value::Bool(*value),
        (Shape::Simple(Type::Double), Json::Number(number)) => match number.as_f64() {
            Some(number) => Value::Double(number),
            None => return wrong("float"),
        },
        (Shape::Simple(Type::Int | Type::Dyn), Json::Number(number)) => match number.as_i64() {
            Some(number) => Value::Int(number),
            None => return wrong("int, got float64"),
        },
        (Shape::Simple(Type::String | Type::Dyn), Json::String(text)) => text.as_str().into(),
        (Shape::Simple(Type::Timestamp), Json::String(text)) => match Timestamp::of_schema(text) {
            Some(time) => Value::Timestamp(time),
            None => return fail(format!("Invalid date-time formatted string {text}")),
        },
        (Shape::Simple(Type::Duration), Json::String(text)) => match formats::read_duration(text) {
            Some(nanoseconds) => Value::Duration(nanoseconds),
            None => return fail(format!("Invalid duration {text}")),
        },
        (Shape::Simple(Type::Bytes), Json::String(text)) => match STANDARD.decode(text) {
            Ok(bytes) => Value::Bytes(bytes.into()),
            Err(_) => return fail(format!("Invalid byte formatted string {text}")),
        },
        (Shape::List(of, kind), Json::Array(items)) => Value::List(List::Typed {
            elements: Arc::new(items.iter().map(Element::Stored).collect()),
            of,
            kind,
        }),
        (Shape::Map(of), Json::Object(map)) => Value::Map(Map::Typed(map, of)),
        (Shape::Object(object), Json::Object(map)) => Value::Map(Map::Object(map, object)),
        _ => return wrong("another type"),
    })
}

/// A value that was added to a list with a schema. Go converts it to its stored form, so types that JSON lacks are
/// errors.
pub(super) fn added<'a>(value: &Value<'a>, of: &'a DeclType) -> Fallible<Value<'a>> {
    let simple = match &of.shape {
        Shape::Simple(simple) => Some(simple),
        _ => None,
    };
    let stored = |text: &str| fail(format!("invalid data, expected string, got {text}"));
    match (value, simple) {
        (Value::Timestamp(_), _) => stored("time.Time"),
        (Value::Duration(_), _) => stored("time.Duration"),
        (Value::Bytes(_), _) => stored("[]uint8"),
        (Value::Int(value), Some(Type::Double)) => Ok(Value::Double(*value as f64)),
        (Value::Double(_), Some(Type::Int | Type::Dyn)) => {
            fail("invalid data, expected int, got float64".to_owned())
        }
        _ => Ok(value.clone()),
    }
}
