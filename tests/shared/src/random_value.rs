//! Random values for schemas of the API server.

use super::dice::Dice;
use serde_json::{Map, Value, json};

/// A value for the schema: often valid, sometimes wrong in one place.
pub fn value(schema: &Value, depth: usize, dice: &mut Dice) -> Value {
    const TEXTS: &[&str] = &[
        "",
        "a",
        "example",
        "10",
        "1Gi",
        "1h30m",
        "2030-01-01T00:00:00Z",
        "2030-01-01",
        "192.0.2.1",
        "2001:db8::1",
        "10.0.0.0/8",
        "https://example.com/a?b=c",
        "name@example.com",
        "example.com",
        "a3JhdG9y",
        "#fff",
        "507f1f77bcf86cd799439011",
        "123e4567-e89b-42d3-a456-426614174000",
        "00:00:5e:00:53:01",
        "é",
        "a\nb",
        "-1",
        "25%",
        "4111111111111111",
        "0321751043",
        "rgb(0,0,0)",
        "111-11-1111",
    ];
    if dice.one_in(25) || depth > 12 {
        return dice
            .among(&[
                json!(null),
                json!(1),
                json!("a"),
                json!([]),
                json!({}),
                json!(1.5),
                json!(true),
                json!([1]),
                json!({"a": 1}),
            ])
            .clone();
    }
    if let (Some(allowed), false) = (
        schema["enum"].as_array().filter(|allowed| !allowed.is_empty()),
        dice.one_in(8),
    ) {
        return dice.among(allowed).clone();
    }
    match schema["type"].as_str() {
        Some("boolean") => json!(dice.one_in(2)),
        Some("integer") => number(schema, dice, true),
        Some("number") => number(schema, dice, false),
        Some("string") => json!(*dice.among(TEXTS)),
        Some("array") => {
            let count = schema["minItems"].as_u64().unwrap_or(0).min(6) as usize + dice.below(4);
            (0..count)
                .map(|_| value(&schema["items"], depth + 1, dice))
                .collect()
        }
        Some("object") => object(schema, depth, dice),
        _ if schema["x-kubernetes-int-or-string"] == true && dice.one_in(2) => json!(dice.below(200)),
        _ if schema["x-kubernetes-int-or-string"] == true => json!(*dice.among(TEXTS)),
        _ => dice
            .among(&[
                json!({"a": [1]}),
                json!("a"),
                json!(null),
                json!([null]),
                json!(1.0),
            ])
            .clone(),
    }
}

fn number(schema: &Value, dice: &mut Dice, is_integer: bool) -> Value {
    let near = [&schema["minimum"], &schema["maximum"], &schema["multipleOf"]];
    let near: Vec<f64> = near.iter().filter_map(|bound| bound.as_f64()).collect();
    let base = dice.pick(&near).copied().unwrap_or(1.0);
    // Rounded to remove the error of the addition, which would have a long form in JSON.
    let number = decimal(1.0, base + dice.below(5) as f64 - 2.0);
    if is_integer && !dice.one_in(10) && number.abs() < 9e15 {
        return json!(number as i64);
    }
    let step = schema["multipleOf"].as_f64().unwrap_or(0.01);
    // In decimal notation, as users write a multiple.
    let multiple = decimal(step, dice.below(4000) as f64 - 2000.0);
    dice.among(&[
        json!(number),
        json!(number + 0.5),
        json!(multiple),
        json!(2_147_483_648_i64),
        json!(-9_223_372_036_854_775_808_i64),
        json!(1e300),
    ])
    .clone()
}

/// A multiple of a number with at most six decimals, without the error of the multiplication.
pub fn decimal(step: f64, times: f64) -> f64 {
    format!("{:.6}", step * times).parse().unwrap_or(step)
}

/// The names of the required fields of a schema.
pub fn required(schema: &Value) -> Vec<&str> {
    let names = schema["required"].as_array().into_iter().flatten();
    names.filter_map(Value::as_str).collect()
}

fn object(schema: &Value, depth: usize, dice: &mut Dice) -> Value {
    let mut object = Map::new();
    let required = required(schema);
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let is_wanted = if required.contains(&name.as_str()) {
            !dice.one_in(15)
        } else {
            dice.one_in(2)
        };
        if is_wanted {
            object.insert(name.clone(), value(field, depth + 1, dice));
        }
    }
    if schema["x-kubernetes-embedded-resource"] == true && !dice.one_in(6) {
        object.insert(
            "apiVersion".to_owned(),
            json!(*dice.among(&["v1", "apps/v1", "a/b/c", ""])),
        );
        object.insert(
            "kind".to_owned(),
            json!(*dice.among(&["ConfigMap", "configmap", "A b"])),
        );
        let metadata = [
            json!({"name": "a"}),
            json!({"name": "A b"}),
            json!({"labels": {"a": "b", "c": "d e"}}),
            json!({"a": 1}),
            json!(1),
        ];
        object.insert("metadata".to_owned(), dice.among(&metadata).clone());
    }
    if let Some(values) = schema["additionalProperties"].as_object() {
        let values = Value::Object(values.clone());
        for at in 0..dice.below(4) {
            object.insert(format!("k{at}"), value(&values, depth + 1, dice));
        }
    }
    if dice.one_in(6) {
        object.insert(
            "unknown".to_owned(),
            dice.among(&[json!(1), json!(null), json!({"a": {"b": 1}})])
                .clone(),
        );
    }
    object.into()
}
