//! Compares and prints JSON values like Go's libraries: `value/value.go` of structured-merge-diff, `fmt` and
//! `encoding/json`. Messages of the API server contain values in these forms, and the order of field sets depends on
//! the comparison.

use serde_json::{Map, Number, Value as Json};
use std::cmp::Ordering;

/// A number in structured-merge-diff: integers fit into 64 bits, all others are floats.
enum Numeric {
    Int(i64),
    Float(f64),
}

fn numeric(number: &Number) -> Numeric {
    match number.as_i64() {
        Some(int) => Numeric::Int(int),
        None => Numeric::Float(number.as_f64().unwrap_or(f64::NAN)),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "Go compares integers with floats in this way"
)]
fn compare_numbers(a: &Number, b: &Number) -> Ordering {
    let floats = |a: f64, b: f64| a.partial_cmp(&b).unwrap_or(Ordering::Equal);
    match (numeric(a), numeric(b)) {
        (Numeric::Int(a), Numeric::Int(b)) => a.cmp(&b),
        (Numeric::Int(a), Numeric::Float(b)) => floats(a as f64, b),
        (Numeric::Float(a), Numeric::Int(b)) => floats(a, b as f64),
        (Numeric::Float(a), Numeric::Float(b)) => floats(a, b),
    }
}

/// The rank of a type in the order of values.
fn rank(value: &Json) -> u8 {
    match value {
        Json::Number(_) => 0,
        Json::String(_) => 1,
        Json::Bool(_) => 2,
        Json::Array(_) => 3,
        Json::Object(_) => 4,
        Json::Null => 5,
    }
}

/// The total order of values. An integer equals the float of the same value.
pub(crate) fn compare(a: &Json, b: &Json) -> Ordering {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => compare_numbers(a, b),
        (Json::String(a), Json::String(b)) => a.cmp(b),
        (Json::Bool(a), Json::Bool(b)) => a.cmp(b),
        (Json::Array(a), Json::Array(b)) => compare_all(a.iter().zip(b), a.len().cmp(&b.len())),
        (Json::Object(a), Json::Object(b)) => {
            let (a_keys, b_keys) = (sorted_keys(a), sorted_keys(b));
            let pairs = a_keys.iter().zip(&b_keys);
            pairs
                .map(|(x, y)| x.cmp(y).then_with(|| compare(&a[x.as_str()], &b[y.as_str()])))
                .find(|order| order.is_ne())
                .unwrap_or(a.len().cmp(&b.len()))
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

fn compare_all<'a>(mut pairs: impl Iterator<Item = (&'a Json, &'a Json)>, rest: Ordering) -> Ordering {
    pairs
        .find_map(|(a, b)| Some(compare(a, b)).filter(|order| order.is_ne()))
        .unwrap_or(rest)
}

/// Whether two values are equal. The order of keys in objects is ignored, and an integer equals the float of the same
/// value.
pub(crate) fn equal(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        _ => compare(a, b).is_eq(),
    }
}

fn sorted_keys(map: &Map<String, Json>) -> Vec<&String> {
    let mut keys: Vec<&String> = map.keys().collect();
    keys.sort();
    keys
}

/// A float as formatted by Go's `%v` and JSON encoders: with an exponent if the exponent is below `lowest` or at least
/// 21.
fn float_text(float: f64, lowest: i32) -> String {
    let scientific = format!("{float:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (lowest..21).contains(&exponent) {
        return float.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

fn number_text(number: &Number, lowest: i32) -> String {
    match numeric(number) {
        Numeric::Int(int) => int.to_string(),
        Numeric::Float(float) => float_text(float, lowest),
    }
}

/// A value in a field path, after `value.ToString`.
pub(crate) fn display(value: &Json) -> String {
    match value {
        Json::Null => "null".to_owned(),
        Json::Number(number) => number_text(number, -4),
        Json::String(text) => format!("{text:?}"),
        Json::Bool(bool) => bool.to_string(),
        Json::Array(items) => format!("[{}]", items.iter().map(display).collect::<Vec<_>>().join(",")),
        Json::Object(map) => map
            .iter()
            .map(|(key, value)| format!("{key}={}", display(value)))
            .collect(),
    }
}

/// A value as formatted by `%v`.
pub(crate) fn plain(value: &Json) -> String {
    match value {
        Json::Null => "<nil>".to_owned(),
        Json::Number(number) => number_text(number, -4),
        Json::String(text) => text.clone(),
        Json::Bool(bool) => bool.to_string(),
        Json::Array(items) => format!("[{}]", items.iter().map(plain).collect::<Vec<_>>().join(" ")),
        Json::Object(map) => {
            let pairs = sorted_keys(map)
                .into_iter()
                .map(|key| format!("{key}:{}", plain(&map[key.as_str()])));
            format!("map[{}]", pairs.collect::<Vec<_>>().join(" "))
        }
    }
}

/// A list of strings as formatted by `%#v`.
pub(crate) fn go_strings(texts: &[&str]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| format!("{text:?}")).collect();
    format!("[]string{{{}}}", texts.join(", "))
}

/// The name of the Go type of the value, as formatted by `%T`.
pub(crate) fn go_type(value: &Json) -> &'static str {
    match value {
        Json::Null => "<nil>",
        Json::Bool(_) => "bool",
        Json::Number(number) if number.as_i64().is_some() => "int64",
        Json::Number(_) => "float64",
        Json::String(_) => "string",
        Json::Array(_) => "[]interface {}",
        Json::Object(_) => "map[string]interface {}",
    }
}

/// A value as encoded by `encoding/json`: with sorted keys, and with characters of HTML escaped.
pub(crate) fn go_json(value: &Json) -> String {
    match value {
        Json::Null | Json::Bool(_) => value.to_string(),
        Json::Number(number) => number_text(number, -6),
        Json::String(text) => go_json_string(text),
        Json::Array(items) => format!("[{}]", items.iter().map(go_json).collect::<Vec<_>>().join(",")),
        Json::Object(map) => {
            let pairs = sorted_keys(map)
                .into_iter()
                .map(|key| format!("{}:{}", go_json_string(key), go_json(&map[key.as_str()])));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
        }
    }
}

fn go_json_string(text: &str) -> String {
    let mut out = String::new();
    for char in Json::from(text).to_string().chars() {
        match char {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", u32::from(char))),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_printed_as_go_prints_them() {
        let value = json!({"b": [1, 1.5, 1e21, 1e-7, null], "a": {"x": "<q>"}, "c": true});
        assert_eq!(
            plain(&value),
            "map[a:map[x:<q>] b:[1 1.5 1e+21 1e-07 <nil>] c:true]"
        );
        assert_eq!(
            go_json(&value),
            r#"{"a":{"x":"\u003cq\u003e"},"b":[1,1.5,1e+21,1e-07,null],"c":true}"#
        );
        assert_eq!(display(&json!(1.0)), "1");
    }

    #[test]
    fn values_have_a_total_order() {
        let ordered = [
            json!(-1),
            json!(0.5),
            json!(2),
            json!("a"),
            json!("b"),
            json!(false),
            json!(true),
            json!([1]),
        ];
        for (at, a) in ordered.iter().enumerate() {
            for (other, b) in ordered.iter().enumerate() {
                assert_eq!(compare(a, b), at.cmp(&other), "{a} and {b}");
            }
        }
        assert!(equal(&json!({"a": 1, "b": [2.0]}), &json!({"b": [2], "a": 1.0})));
        assert!(!equal(&json!({"a": 1}), &json!({"b": 1})));
    }
}
