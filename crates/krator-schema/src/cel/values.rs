//! Values of a schema as `kube-cel` takes them.

use std::collections::HashMap;
use std::sync::Arc;

use kube_cel::cel::Value;
use kube_cel::cel::objects::{Key, Map};
use serde_json::Value as Json;

use super::schema_types::{Declared, Shape};
use super::types::Type;

/// A value as `kube-cel` takes it.
#[derive(Debug)]
pub(super) struct Converted {
    pub(super) value: Value,
    /// Whether there is a `null` in a list or a map in it.
    pub(super) has_nulls: bool,
}

/// The value with the types of its schema, or why it has none.
///
/// A field of an object that is `null` is as if it were absent, after `unstructuredMap.Find` of `apiserver/pkg/cel/common`.
/// Entries of lists and maps that are `null` stay. Fields that expressions cannot use here, such as timestamps, are there
/// but have no value: whether they are there is all that may be asked of them.
pub(super) fn convert(value: &Json, declared: &Declared) -> Result<Converted, &'static str> {
    let mut has_nulls = false;
    let value = typed(value, declared, &mut has_nulls)?;
    Ok(Converted { value, has_nulls })
}

/// A value without a schema. Numbers with a fraction of zero have none: `kube-cel` finds them different from integers.
pub(super) fn dynamic(value: &Json) -> Result<Value, &'static str> {
    Ok(match value {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => Value::Int(number),
            (None, Some(number)) if number.fract() != 0.0 => Value::Float(number),
            _ => return Err("a number is neither an integer in range nor has a fraction"),
        },
        Json::String(text) => Value::String(Arc::new(text.clone())),
        Json::Array(items) => Value::List(Arc::new(items.iter().map(dynamic).collect::<Result<_, _>>()?)),
        Json::Object(fields) => {
            let entries = fields
                .iter()
                .map(|(key, value)| Ok((key.clone(), dynamic(value)?)));
            map(entries.collect::<Result<_, &'static str>>()?)
        }
    })
}

fn typed(value: &Json, declared: &Declared, has_nulls: &mut bool) -> Result<Value, &'static str> {
    let text = |text: &str| Value::String(Arc::new(text.to_string()));
    Ok(match (&declared.shape, value) {
        (_, Json::Null) => {
            *has_nulls = true;
            Value::Null
        }
        (Shape::Simple(Type::Bool), Json::Bool(value)) => Value::Bool(*value),
        (Shape::Simple(Type::Double), Json::Number(number)) => {
            Value::Float(number.as_f64().ok_or("a number is out of range")?)
        }
        (Shape::Simple(Type::Int | Type::Dyn), Json::Number(number)) => {
            Value::Int(number.as_i64().ok_or("a number is no integer in range")?)
        }
        (Shape::Simple(Type::String | Type::Dyn), Json::String(value)) => text(value),
        (Shape::Simple(Type::Timestamp | Type::Duration | Type::Bytes), Json::String(_)) => Value::Null,
        (Shape::List(of), Json::Array(items)) => {
            let items = items.iter().map(|item| typed(item, of, has_nulls));
            Value::List(Arc::new(items.collect::<Result<_, _>>()?))
        }
        (Shape::Map(of), Json::Object(entries)) => {
            let entries = entries
                .iter()
                .map(|(key, value)| Ok((key.clone(), typed(value, of, has_nulls)?)));
            map(entries.collect::<Result<_, &'static str>>()?)
        }
        (Shape::Object(fields), Json::Object(object)) => {
            let mut found = Vec::new();
            for (escaped, field) in fields {
                let Some(value) = object.get(&field.name).filter(|value| !value.is_null()) else {
                    continue;
                };
                let value = typed(value, &field.declared, has_nulls)?;
                if *escaped != field.name {
                    // Fields whose names are keywords may be selected by their own names, too.
                    found.push((field.name.clone(), value.clone()));
                }
                found.push((escaped.clone(), value));
            }
            map(found)
        }
        _ => return Err("a value does not have the type of its schema"),
    })
}

fn map(entries: Vec<(String, Value)>) -> Value {
    let entries = entries
        .into_iter()
        .map(|(key, value)| (Key::String(Arc::new(key)), value));
    Value::Map(Map {
        map: Arc::new(entries.collect::<HashMap<_, _>>()),
    })
}
