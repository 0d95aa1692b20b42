//! Different values of a schema, which together cover the edge cases of each field.

use krator_schema::{Items, Properties, Schema, validate};
use serde_json::{Map, Value as Json, json};

use super::value;

/// The maximum number of values of a schema.
const MOST: usize = 8;
/// The maximum depth of edge cases. Deeper values are the simplest ones, because some types of Kubernetes have hundreds
/// of fields.
const DEEPEST: usize = 3;

/// Texts that code which parses a text may not expect.
const TEXTS: [&str; 6] = ["", "a", "a=b,c/d:e", " \u{e9}\"\n", "0", "1h30m"];

/// Values of a schema, the simplest one first.
pub(super) fn of(schema: &Schema, depth: usize) -> Vec<Json> {
    let mut all = vec![value::of(schema)];
    let more: Vec<Json> = match schema.type_.as_deref() {
        _ if depth > DEEPEST => Vec::new(),
        _ if schema.enum_.is_some() => schema.enum_.clone().unwrap_or_default(),
        Some("boolean") => vec![true.into()],
        Some("integer" | "number") => {
            let bounds = [&schema.minimum, &schema.maximum].into_iter().flatten();
            let bounds = bounds.cloned().map(Json::Number);
            bounds.chain([json!(0), json!(-1), json!(1_000_000)]).collect()
        }
        Some("string") => TEXTS.iter().map(|text| (*text).into()).collect(),
        Some("array") => lists(schema, depth),
        Some("object") => objects(schema, depth),
        _ => Vec::new(),
    };
    for value in more {
        if all.len() < MOST && !all.contains(&value) && validate(schema, &value).is_empty() {
            all.push(value);
        }
    }
    all
}

fn lists(schema: &Schema, depth: usize) -> Vec<Json> {
    let Some(Items::All(items)) = &schema.items else {
        return Vec::new();
    };
    let items = of(items, depth + 1);
    let turned: Vec<Json> = items.iter().rev().take(3).cloned().collect();
    let items: Vec<Json> = items.into_iter().take(3).collect();
    let first = items.iter().take(1).cloned().collect();
    vec![json!([]), first, items.into(), turned.into()]
}

/// Objects with different combinations of values of the fields. One has all fields, and one has only the required
/// fields.
fn objects(schema: &Schema, depth: usize) -> Vec<Json> {
    if let Some(Properties::Schema(values)) = &schema.additional_properties {
        let values = of(values, depth + 1).into_iter().enumerate();
        let map: Map<String, Json> = values.map(|(at, value)| (format!("key{at}"), value)).collect();
        return vec![json!({}), map.into()];
    }
    let Some(properties) = &schema.properties else {
        return Vec::new();
    };
    let fields: Vec<(&String, bool, Vec<Json>)> = properties
        .iter()
        .map(|(name, field)| {
            let is_required = schema.required.iter().flatten().any(|required| required == name);
            (name, is_required, of(field, depth + 1))
        })
        .collect();
    let count = fields
        .iter()
        .map(|(.., values)| values.len() + 1)
        .max()
        .unwrap_or(0);
    let object = |turn: usize| -> Json {
        let fields = fields
            .iter()
            .enumerate()
            .filter_map(|(at, (name, is_required, values))| {
                // The first object has all fields.
                let place = (turn + at * usize::from(turn > 0)) % (values.len() + usize::from(!is_required));
                Some(((*name).clone(), values.get(place)?.clone()))
            });
        Json::Object(fields.collect())
    };
    (0..count).map(object).collect()
}
