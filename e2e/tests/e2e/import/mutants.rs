//! Values of a schema, and mutants of values: each differs in one place, and often in a way that the schema restricts.

use crate::dice::Dice;
use crate::random_value::{required, value};
use serde_json::{Map, Value, json};

/// A step into a value.
#[derive(Debug, Clone)]
enum Step {
    Field(String),
    Item(usize),
}

/// A value that is often valid: the required fields, and a few others.
pub fn grown(schema: &Value, dice: &mut Dice) -> Value {
    minimal(schema, 0, dice)
}

fn minimal(schema: &Value, depth: usize, dice: &mut Dice) -> Value {
    if let Some(default) = schema.get("default").filter(|_| !dice.one_in(4)) {
        return default.clone();
    }
    let is_enum = schema["enum"].is_array();
    match schema["type"].as_str() {
        Some("string") if !is_enum => text(schema, dice),
        Some("array") => {
            let least = schema["minItems"].as_u64().unwrap_or(0) as usize;
            let count = if depth > 6 {
                least
            } else {
                least.max(dice.below(2))
            };
            (0..count.min(5))
                .map(|_| minimal(&schema["items"], depth + 1, dice))
                .collect()
        }
        Some("object") => {
            let mut object = Map::new();
            let required = required(schema);
            for (name, field) in schema["properties"].as_object().into_iter().flatten() {
                let is_wanted = required.contains(&name.as_str()) || depth < 5 && dice.one_in(5);
                if is_wanted {
                    object.insert(name.clone(), minimal(field, depth + 1, dice));
                }
            }
            if let Some(values) = schema["additionalProperties"].as_object() {
                object.insert("key".to_owned(), minimal(&json!(values), depth + 1, dice));
            }
            object.into()
        }
        _ => value(schema, depth, dice),
    }
}

fn text(schema: &Value, dice: &mut Dice) -> Value {
    let by_format = match schema["format"].as_str() {
        Some("date-time") => Some("2030-01-01T00:00:00Z"),
        Some("uri") => Some("https://example.com/a"),
        _ => None,
    };
    if let Some(text) = by_format {
        return text.into();
    }
    let pattern = schema["pattern"]
        .as_str()
        .and_then(|pattern| krator_schema::Pattern::new(pattern).ok());
    let texts = [
        "example",
        "a",
        "1h",
        "10m0s",
        "example.com",
        "https://example.com/a",
        "/a",
        "A",
        "1Gi",
        "1",
        "0 0 * * *",
        "x.y/z",
        "sha256:0123456789012345678901234567890123456789012345678901234567890123",
        "example.com/image:v1",
        "ab-c1",
    ];
    let from = dice.below(texts.len());
    let fits = |text: &&&str| {
        pattern
            .as_ref()
            .is_none_or(|pattern| pattern.is_match(text) == Some(true))
    };
    let mut turned = texts[from..].iter().chain(&texts[..from]);
    let found = turned.find(fits).copied().unwrap_or("example");
    let least = schema["minLength"].as_u64().unwrap_or(0) as usize;
    match found.len() < least && least < 1000 && pattern.is_none() {
        true => found.repeat(least).into(),
        false => found.into(),
    }
}

/// The value with a change in one place.
pub fn mutant(seed: &Value, schema: &Value, dice: &mut Dice) -> Value {
    let mut places = Vec::new();
    collect(seed, &mut Vec::new(), &mut places);
    let mut changed = seed.clone();
    let path = dice.among(&places).clone();
    let below = schema_at(schema, &path);
    if dice.one_in(5) && remove(&mut changed, &path) {
        return changed;
    }
    if let Some(there) = at(&mut changed, &path) {
        change(there, &below, dice);
    }
    changed
}

fn collect(value: &Value, path: &mut Vec<Step>, out: &mut Vec<Vec<Step>>) {
    out.push(path.clone());
    let mut below = |step: Step, value: &Value| {
        path.push(step);
        collect(value, path, out);
        path.pop();
    };
    match value {
        Value::Object(fields) => {
            fields
                .iter()
                .for_each(|(name, value)| below(Step::Field(name.clone()), value));
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(at, value)| below(Step::Item(at), value)),
        _ => {}
    }
}

fn schema_at(schema: &Value, path: &[Step]) -> Value {
    path.iter().fold(schema.clone(), |schema, step| match step {
        Step::Item(_) => schema["items"].clone(),
        Step::Field(name) => match schema["properties"].get(name) {
            Some(field) => field.clone(),
            None => schema["additionalProperties"].clone(),
        },
    })
}

fn at<'v>(value: &'v mut Value, path: &[Step]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Field(name) => value.get_mut(name),
        Step::Item(index) => value.get_mut(index),
    })
}

fn remove(value: &mut Value, path: &[Step]) -> bool {
    let Some((last, parents)) = path.split_last() else {
        return false;
    };
    match (at(value, parents), last) {
        (Some(Value::Object(fields)), Step::Field(name)) => fields.remove(name).is_some(),
        (Some(Value::Array(items)), Step::Item(index)) => {
            items.remove(*index);
            true
        }
        _ => false,
    }
}

fn change(there: &mut Value, schema: &Value, dice: &mut Dice) {
    if dice.one_in(6) {
        let others = [
            json!(null),
            json!(1),
            json!("a"),
            json!([]),
            json!({}),
            json!(1.5),
            json!(true),
            json!(-1),
            json!([null]),
            json!({"a": null}),
        ];
        *there = dice.among(&others).clone();
        return;
    }
    match there {
        Value::String(text) => {
            let most = schema["maxLength"].as_u64().unwrap_or(300).min(70_000) as usize;
            let others = [
                String::new(),
                format!("{text}!"),
                format!("-{text}"),
                text.to_uppercase(),
                "x".repeat(most + 1),
                "x".repeat(most),
                format!("{text}\n"),
                "Wrong".to_owned(),
                "é".to_owned(),
            ];
            *text = dice.among(&others).clone();
        }
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            let bound = |key: &str| schema[key].as_f64().unwrap_or(number);
            let others = [
                json!(number + 0.5),
                json!(-number - 1.0),
                json!(bound("minimum") - 1.0),
                json!(bound("maximum") + 1.0),
                json!(bound("minimum")),
                json!(bound("maximum")),
                json!(4_294_967_296_i64),
                json!(1e300),
                json!(number.to_string()),
            ];
            *there = dice.among(&others).clone();
        }
        Value::Bool(flag) => *there = json!(flag.to_string()),
        Value::Array(items) => {
            let most = schema["maxItems"].as_u64().unwrap_or(20).min(600) as usize;
            let new = value(&schema["items"], 3, dice);
            let first = items.first().cloned().unwrap_or(new.clone());
            match dice.below(5) {
                0 => items.clear(),
                1 => items.push(first),
                2 => items.push(new),
                3 => items.resize(most + 1, first),
                _ => items.push(json!(null)),
            }
        }
        Value::Object(fields) => {
            let known: Vec<(&String, &Value)> =
                schema["properties"].as_object().into_iter().flatten().collect();
            match (dice.below(6), dice.pick(&known)) {
                (0, _) => _ = fields.insert("unknownKey".to_owned(), json!({"a": 1})),
                (1, _) => fields.clear(),
                (2, _) => _ = fields.insert(String::new(), json!("a")),
                (3 | 4, Some((name, field))) => {
                    fields.insert((*name).clone(), minimal(field, 3, dice));
                }
                (_, Some((name, field))) => _ = fields.insert((*name).clone(), value(field, 3, dice)),
                (_, None) => {
                    _ = fields.insert("key".to_owned(), value(&schema["additionalProperties"], 3, dice))
                }
            }
        }
        Value::Null => *there = json!("a"),
    }
}
