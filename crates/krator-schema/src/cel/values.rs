//! Values of a schema as `kube-cel` takes them.

use std::collections::HashMap;
use std::sync::Arc;

use kube_cel::cel::Value;
use kube_cel::cel::objects::{Key, Map};
use serde_json::Value as Json;

use super::schema_types::{Declared, Shape};
use super::types::Type;

/// The value with the types of its schema, or why it has none.
///
/// Fields that expressions cannot use here, such as timestamps, are there but have no value: whether they are there is
/// all that may be asked of them.
pub(super) fn convert(value: &Json, declared: &Declared) -> Result<Value, String> {
    let text = |text: &str| Value::String(Arc::new(text.to_string()));
    Ok(match (&declared.shape, value) {
        (_, Json::Null) => return Err("`null` is not evaluated here".to_string()),
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
            let items: Result<Vec<Value>, String> = items.iter().map(|item| convert(item, of)).collect();
            Value::List(Arc::new(items?))
        }
        (Shape::Map(of), Json::Object(entries)) => {
            let entries = entries
                .iter()
                .map(|(key, value)| Ok((key.clone(), convert(value, of)?)));
            map(entries.collect::<Result<_, String>>()?)
        }
        (Shape::Object(fields), Json::Object(object)) => {
            let mut found = Vec::new();
            for (escaped, field) in fields {
                let Some(value) = object.get(&field.name) else {
                    continue;
                };
                let value = convert(value, &field.declared)?;
                if *escaped != field.name {
                    // Fields whose names are keywords may be selected by their own names, too.
                    found.push((field.name.clone(), value.clone()));
                }
                found.push((escaped.clone(), value));
            }
            map(found)
        }
        _ => return Err("a value does not have the type of its schema".to_string()),
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
