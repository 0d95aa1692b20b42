//! Applies defaults, after `pkg/apiserver/schema/defaulting`.

use serde_json::Value as Json;

use crate::Schema;
use crate::schema::Properties;

/// Applies the defaults of a schema. As in the API server, a `null` that the schema does not allow is first removed or,
/// if there is a default, replaced by it.
pub fn default(schema: &Schema, value: &mut Json) {
    remove_nulls(Some(schema), value);
    fill(Some(schema), value);
}

fn is_wrong_null(schema: Option<&Schema>, value: &Json) -> bool {
    value.is_null() && schema.is_some_and(|schema| schema.nullable != Some(true))
}

/// Removes fields that are `null`, are not nullable and have no default.
pub(crate) fn remove_nulls(schema: Option<&Schema>, value: &mut Json) {
    match value {
        Json::Object(fields) => {
            let of = |name: &str| {
                let schema = schema?;
                schema.property(name).or_else(|| schema.additional())
            };
            fields.retain(|name, value| {
                let schema = of(name);
                let removed = is_wrong_null(schema, value)
                    && schema.is_some_and(|schema| schema.default_value().is_none());
                if !removed {
                    remove_nulls(schema, value);
                }
                !removed
            });
        }
        Json::Array(items) => {
            let schema = schema.and_then(Schema::item);
            items.iter_mut().for_each(|item| remove_nulls(schema, item));
        }
        _ => {}
    }
}

fn fill(schema: Option<&Schema>, value: &mut Json) {
    let Some(schema) = schema else {
        return;
    };
    match value {
        Json::Object(fields) => {
            for (name, property) in schema.properties.iter().flatten() {
                let Some(default) = property.default_value() else {
                    continue;
                };
                let missing = match fields.get(name) {
                    None => true,
                    Some(value) => is_wrong_null(Some(property), value),
                };
                if missing {
                    fields.insert(name.clone(), default.clone());
                }
            }
            for (name, value) in fields.iter_mut() {
                if let Some(property) = schema.property(name) {
                    fill(Some(property), value);
                } else if let Some(Properties::Schema(additional)) = &schema.additional_properties {
                    fill_null(Some(additional), value);
                    fill(Some(additional), value);
                }
            }
        }
        Json::Array(items) => {
            for item in items {
                fill_null(schema.item(), item);
                fill(schema.item(), item);
            }
        }
        _ => {}
    }
}

fn fill_null(schema: Option<&Schema>, value: &mut Json) {
    if is_wrong_null(schema, value)
        && let Some(default) = schema.and_then(Schema::default_value)
    {
        *value = default.clone();
    }
}
