//! Operators and conversions, after `common/stdlib`, `common/types` and `common/types/overflow.go` of cel-go.

use std::cmp::Ordering;

use super::function::CallResult;
use super::go::{self, shortest};
use super::time::Timestamp;
use super::value::{Map, Value};
use super::{Fallible, fail};
use crate::formats::parse_duration;

/// The result, or the error for a result that is out of range.
fn in_range<'a, T: Into<Value<'a>>>(result: Option<T>, what: &str) -> Fallible<Value<'a>> {
    match result {
        Some(result) => Ok(result.into()),
        None => fail(format!("{what} overflow")),
    }
}

pub(super) fn call<'a>(function: &str, operands: &[Value<'a>]) -> CallResult<'a> {
    Some(match operands {
        [value] => return unary(function, value).or_else(|| converted(function, value)),
        [left, right] => match function {
            "_<_" => is_in_order(left, right, Ordering::is_lt)?,
            "_<=_" => is_in_order(left, right, Ordering::is_le)?,
            "_>_" => is_in_order(left, right, Ordering::is_gt)?,
            "_>=_" => is_in_order(left, right, Ordering::is_ge)?,
            "@in" | "in" | "_in_" => match right {
                Value::List(list) => list.contains(left).map(Value::Bool),
                Value::Map(map) => map.find(left).map(|found| found.is_some().into()),
                _ => return None,
            },
            "cel.@mapInsert" => return inserted(left, right),
            _ => return arithmetic(function, left, right),
        },
        [Value::Map(map), key, value] if function == "cel.@mapInsert" => with(map, key, value),
        _ => return None,
    })
}

fn is_in_order<'a>(left: &Value<'a>, right: &Value<'a>, is: impl FnOnce(Ordering) -> bool) -> CallResult<'a> {
    Some(left.compare(right)?.map(|order| is(order).into()))
}

fn inserted<'a>(map: &Value<'a>, more: &Value<'a>) -> CallResult<'a> {
    let (Value::Map(map), Value::Map(more)) = (map, more) else {
        return None;
    };
    let mut all = Ok(Value::Map(map.clone()));
    for key in more.keys() {
        all = match (all, more.find(&key)) {
            (Ok(Value::Map(map)), Ok(Some(value))) => with(&map, &key, &value),
            (Err(why), _) | (_, Err(why)) => Err(why),
            (all, _) => all,
        };
    }
    Some(all)
}

/// A copy of a map with one more entry.
fn with<'a>(map: &Map<'a>, key: &Value<'a>, value: &Value<'a>) -> Fallible<Value<'a>> {
    if map.find(key)?.is_some() {
        return fail(format!("insert failed: key {key} already exists"));
    }
    let mut entries = Vec::with_capacity(map.len() + 1);
    for key in map.keys() {
        if let Some(value) = map.find(&key)? {
            entries.push((key, value));
        }
    }
    entries.push((key.clone(), value.clone()));
    Ok(Value::Map(Map::Made(entries.into())))
}

fn unary<'a>(function: &str, value: &Value<'a>) -> CallResult<'a> {
    Some(match (function, value) {
        ("!_", Value::Bool(value)) => Ok(Value::Bool(!value)),
        ("-_", Value::Int(value)) => in_range(value.checked_neg(), "integer"),
        ("-_", Value::Double(value)) => Ok(Value::Double(-value)),
        ("size", value) => Ok(Value::Int(value.size()? as i64)),
        ("type", value) => Ok(Value::Type(value.type_name().into())),
        ("dyn", value) => Ok(value.clone()),
        _ => return None,
    })
}

fn arithmetic<'a>(function: &str, left: &Value<'a>, right: &Value<'a>) -> CallResult<'a> {
    use Value::{Bytes, Double, Duration, Int, List, Text, Uint};
    let duration = |result: Option<i64>| match result {
        Some(result) => Ok(Duration(result)),
        None => fail("integer overflow".to_owned()),
    };
    let time = |result: Option<Timestamp>| match result {
        Some(result) => Ok(Value::Timestamp(result)),
        None => fail("timestamp overflow".to_owned()),
    };
    Some(match (function, left, right) {
        ("_+_", Int(a), Int(b)) => in_range(a.checked_add(*b), "integer"),
        ("_+_", Uint(a), Uint(b)) => in_range(a.checked_add(*b), "unsigned integer"),
        ("_+_", Double(a), Double(b)) => Ok(Double(a + b)),
        ("_+_", Text(a), Text(b)) => Ok(format!("{a}{b}").into()),
        ("_+_", Bytes(a), Bytes(b)) => Ok(Bytes([&a[..], &b[..]].concat().into())),
        ("_+_", List(a), List(b)) => a.add(b).map(List),
        ("_+_", Duration(a), Duration(b)) => duration(a.checked_add(*b)),
        ("_+_", Value::Timestamp(a), Duration(b)) | ("_+_", Duration(b), Value::Timestamp(a)) => {
            time(a.plus(i128::from(*b)))
        }
        ("_-_", Int(a), Int(b)) => in_range(a.checked_sub(*b), "integer"),
        ("_-_", Uint(a), Uint(b)) => in_range(a.checked_sub(*b), "unsigned integer"),
        ("_-_", Double(a), Double(b)) => Ok(Double(a - b)),
        ("_-_", Duration(a), Duration(b)) => duration(a.checked_sub(*b)),
        ("_-_", Value::Timestamp(a), Duration(b)) => time(a.plus(-i128::from(*b))),
        ("_-_", Value::Timestamp(a), Value::Timestamp(b)) => duration(a.since(b)),
        ("_*_", Int(a), Int(b)) => in_range(a.checked_mul(*b), "integer"),
        ("_*_", Uint(a), Uint(b)) => in_range(a.checked_mul(*b), "unsigned integer"),
        ("_*_", Double(a), Double(b)) => Ok(Double(a * b)),
        ("_/_", Int(_), Int(0)) | ("_/_", Uint(_), Uint(0)) => fail("division by zero".to_owned()),
        ("_/_", Int(a), Int(b)) => in_range(a.checked_div(*b), "integer"),
        ("_/_", Uint(a), Uint(b)) => Ok(Uint(a / b)),
        ("_/_", Double(a), Double(b)) => Ok(Double(a / b)),
        ("_%_", Int(_), Int(0)) | ("_%_", Uint(_), Uint(0)) => fail("modulus by zero".to_owned()),
        ("_%_", Int(a), Int(b)) => in_range(a.checked_rem(*b), "integer"),
        ("_%_", Uint(a), Uint(b)) => Ok(Uint(a % b)),
        _ => return None,
    })
}

/// Converts a value to another type.
fn converted<'a>(function: &str, value: &Value<'a>) -> CallResult<'a> {
    use Value::{Bool, Bytes, Cidr, Double, Duration, Int, Ip, Text, Uint};
    const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;
    let from_text = |to: &str| fail(format!("type conversion error from 'string' to '{to}'"));
    Some(match (function, value) {
        ("bool", Bool(_)) | ("bytes", Bytes(_)) | ("double", Double(_)) | ("duration", Duration(_)) => {
            Ok(value.clone())
        }
        ("int", Int(_)) | ("uint", Uint(_)) | ("string", Text(_)) | ("timestamp", Value::Timestamp(_)) => {
            Ok(value.clone())
        }
        ("bool", Text(text)) => match &**text {
            "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(Bool(true)),
            "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(Bool(false)),
            _ => from_text("bool"),
        },
        ("bytes", Text(text)) => Ok(Bytes(text.as_bytes().into())),
        ("double", Int(value)) => Ok(Double(*value as f64)),
        ("double", Uint(value)) => Ok(Double(*value as f64)),
        ("double", Text(text)) => go::number(text).map_or_else(|| from_text("double"), |it| Ok(Double(it))),
        ("duration", Text(text)) => match parse_duration(text) {
            Some(nanoseconds) => Ok(Duration(nanoseconds)),
            None => from_text("google.protobuf.Duration"),
        },
        // The overload is declared, but cel-go cannot evaluate it.
        ("duration", Int(_)) => {
            fail("type conversion error from 'int' to 'google.protobuf.Duration'".to_owned())
        }
        ("int", Double(value)) => {
            let fits = value.is_finite() && *value > i64::MIN as f64 && *value < i64::MAX as f64;
            in_range(fits.then_some(*value as i64), "integer")
        }
        ("int", Uint(value)) => in_range(i64::try_from(*value).ok(), "integer"),
        ("int", Duration(nanoseconds)) => Ok(Int(*nanoseconds)),
        ("int", Value::Timestamp(time)) => Ok(Int(time.seconds())),
        ("int", Text(text)) => text
            .parse()
            .map_or_else(|_| from_text("int"), |value| Ok(Int(value))),
        ("uint", Double(value)) => {
            let fits = value.is_finite() && *value >= 0.0 && *value < TWO_TO_64;
            in_range(fits.then_some(*value as u64), "unsigned integer")
        }
        ("uint", Int(value)) => in_range(u64::try_from(*value).ok(), "unsigned integer"),
        // Go accepts no sign here.
        ("uint", Text(text)) if text.starts_with('+') => from_text("uint"),
        ("uint", Text(text)) => text
            .parse()
            .map_or_else(|_| from_text("uint"), |value| Ok(Uint(value))),
        ("timestamp", Int(seconds)) => match Timestamp::of_seconds(*seconds) {
            Some(time) => Ok(Value::Timestamp(time)),
            None => fail("timestamp overflow".to_owned()),
        },
        ("timestamp", Text(text)) => match Timestamp::parse(text) {
            Some(Ok(time)) => Ok(Value::Timestamp(time)),
            Some(Err(())) => fail("timestamp overflow".to_owned()),
            None => from_text("google.protobuf.Timestamp"),
        },
        ("string", Bool(_) | Int(_) | Uint(_)) => Ok(value.to_string().into()),
        ("string", Double(value)) => Ok(shortest(*value).into()),
        ("string", Bytes(bytes)) => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.into()),
            Err(_) => fail("invalid UTF-8 in bytes, cannot convert to string".to_owned()),
        },
        ("string", Duration(nanoseconds)) => Ok(go::seconds(*nanoseconds).into()),
        ("string", Value::Timestamp(time)) => Ok(time.written().into()),
        ("string", Ip(address)) => Ok(address.to_string().into()),
        ("string", Cidr(address, bits)) => Ok(format!("{address}/{bits}").into()),
        _ => return None,
    })
}
