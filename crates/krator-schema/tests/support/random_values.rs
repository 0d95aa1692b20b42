//! Random values of a schema, for evaluating its rules.

use serde_json::{Map, Value as Json, json};

use super::random_rules::Below;

/// A value of a schema, with some of its fields.
pub fn value(schema: &Json, below: Below<'_>) -> Json {
    if schema["x-kubernetes-int-or-string"] == json!(true) {
        return if below(2) == 0 {
            json!(below(10))
        } else {
            text(schema, below)
        };
    }
    match schema["type"].as_str() {
        Some("integer") => json!(below(50) as i64 - 10),
        Some("number") => match below(3) {
            0 => json!(below(5)),
            _ => json!(below(100) as f64 / 8.0),
        },
        Some("boolean") => json!(below(2) == 0),
        Some("string") => text(schema, below),
        Some("array") => {
            let mut items: Vec<Json> = (0..below(4)).map(|_| value(&schema["items"], below)).collect();
            if schema["x-kubernetes-list-type"] == json!("set") {
                items.dedup();
            }
            json!(items)
        }
        Some("object") => {
            let mut object = Map::new();
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                if below(4) > 0 {
                    object.insert(name.clone(), value(property, below));
                }
            }
            if schema["additionalProperties"].is_object() {
                for key in ["k", "a", "x.y"] {
                    if below(2) == 0 {
                        object.insert(key.to_string(), value(&schema["additionalProperties"], below));
                    }
                }
            }
            json!(object)
        }
        _ => json!({"x": 1}),
    }
}

fn text(schema: &Json, below: Below<'_>) -> Json {
    if let Some(values) = schema["enum"].as_array() {
        return values[below(values.len())].clone();
    }
    match schema["format"].as_str() {
        Some("byte") => json!("YQ=="),
        Some("date") => json!("2020-01-01"),
        Some("date-time") => json!("2020-01-01T00:00:00Z"),
        Some("duration") => json!("1h"),
        _ => json!(["", "a", "A.b-c", "é", "10.0.0.1", "1", "b", "-1", "ab,c"][below(9)]),
    }
}
