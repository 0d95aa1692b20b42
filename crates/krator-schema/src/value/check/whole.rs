//! The keywords that apply to a value as a whole: its type, its enum and the bounds of numbers.

use super::super::number::{self, GoNumber};
use super::Outcome;
use crate::at::At;
use crate::{Problem, ProblemKind, Schema};
use serde_json::Value as Json;

/// The type of a value, and the format that Go infers for it.
fn type_of(value: &Json) -> (&'static str, &'static str) {
    match value {
        Json::Null => ("null", ""),
        Json::Bool(_) => ("boolean", ""),
        Json::String(_) => ("string", ""),
        Json::Number(number) => match GoNumber::read(number) {
            GoNumber::Int(_) => ("integer", "int64"),
            GoNumber::Float(_) => ("number", "float64"),
        },
        Json::Array(_) => ("array", ""),
        Json::Object(_) => ("object", ""),
    }
}

pub(super) fn check_type(
    schema: &Schema,
    types: &[&str],
    format: &str,
    value: &Json,
    path: &At<'_>,
) -> Outcome {
    let checked = Outcome {
        problems: Vec::new(),
        matches: 1,
    };
    let (type_, inferred) = type_of(value);
    let wrong = |expected: &str, found: &str| {
        Outcome::from(Problem::new(
            path,
            ProblemKind::TypeInvalid,
            format!("must be of type {expected}: {found:?}"),
        ))
    };
    if value.is_null() {
        let allowed = types.is_empty() || types.contains(&"null") || schema.nullable == Some(true);
        return if allowed {
            checked
        } else {
            wrong(&types.join(","), "null")
        };
    }
    let integral = match value {
        Json::Number(value) => match GoNumber::read(value) {
            GoNumber::Float(value) => number::is_integer(value) && types.contains(&"integer"),
            GoNumber::Int(_) => types.contains(&"number"),
        },
        _ => false,
    };
    let fits = types.contains(&type_) || integral;
    let text_or_list = value.is_string() || value.is_array();
    if !text_or_list && !format.is_empty() && !fits && format != inferred {
        return wrong(format, inferred);
    }
    let numeric = types.contains(&"number") || types.contains(&"integer");
    if text_or_list && !numeric && !format.is_empty() || fits {
        return checked;
    }
    wrong(&types.join(","), type_)
}

pub(super) fn check_enum(schema: &Schema, value: &Json, path: &At<'_>) -> Outcome {
    let allowed = schema.enum_.as_deref().unwrap_or_default();
    if allowed.is_empty() || allowed.iter().any(|allowed| converts_to(value, allowed)) {
        return Outcome::default();
    }
    let allowed: Vec<String> = allowed.iter().map(Json::to_string).collect();
    Problem::new(
        path,
        ProblemKind::NotSupported,
        format!("supported values: {}", allowed.join(", ")),
    )
    .into()
}

/// Whether a value equals an allowed one after Go has converted it to the type of the latter: a float loses its
/// fraction, and an integer becomes the character with this code point.
fn converts_to(value: &Json, allowed: &Json) -> bool {
    match (value, allowed) {
        (Json::Null, _) | (_, Json::Null) => false,
        (Json::Number(value), Json::Number(allowed)) => {
            match (GoNumber::read(value), GoNumber::read(allowed)) {
                (GoNumber::Float(value), GoNumber::Int(allowed)) => number::to_int(value) == allowed,
                (GoNumber::Int(value), GoNumber::Int(allowed)) => value == allowed,
                (value, GoNumber::Float(allowed)) => value.as_float() == allowed,
            }
        }
        (Json::Number(value), Json::String(allowed)) => match GoNumber::read(value) {
            GoNumber::Int(value) => {
                let c = u32::try_from(value).ok().and_then(char::from_u32);
                allowed.chars().eq([c.unwrap_or(char::REPLACEMENT_CHARACTER)])
            }
            GoNumber::Float(_) => false,
        },
        _ => equal(value, allowed),
    }
}

/// Equality as in Go, where an integer never equals a float.
pub(crate) fn equal(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => GoNumber::read(a) == GoNumber::read(b),
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}

pub(super) fn check_number(
    schema: &Schema,
    types: &[&str],
    format: &str,
    value: GoNumber,
    path: &At<'_>,
) -> Outcome {
    let (type_, format) = match types {
        ["integer"] => (
            "integer",
            Some(format).filter(|format| matches!(*format, "int32" | "int64")),
        ),
        ["number"] => (
            "number",
            Some(format).filter(|format| matches!(*format, "float" | "double")),
        ),
        _ => ("", None),
    };
    let format = format.unwrap_or_default();
    let mut outcome = Outcome::default();
    let invalid = |detail: String| Problem::new(path, ProblemKind::Invalid, detail);
    let out_of_range = |what: &str| match format {
        "" => invalid(format!("{what} value must be of type {type_} (default format)")),
        format => invalid(format!(
            "{what} value must be of type {type_} with format {format}"
        )),
    };
    if !number::fits(value, type_, format) {
        outcome.add(out_of_range("checked"));
    }
    // A bound that fits the type of the value is compared in this type, and others in double precision.
    let bound = |bound: &serde_json::Number| {
        let bound = number::float(bound);
        (bound, number::fits(GoNumber::Float(bound), type_, format))
    };
    if let Some((factor, fits)) = schema.multiple_of.as_ref().map(bound) {
        if !fits {
            outcome.add(out_of_range("multipleOf"));
        }
        let positive;
        let multiple = match value {
            GoNumber::Int(value) if fits => {
                let factor = number::to_int(factor);
                positive = factor > 0;
                positive && value % factor == 0
            }
            value => {
                let value = value.as_float();
                positive = factor > 0.0;
                number::is_integer(if factor < 1.0 {
                    1.0 / factor * value
                } else {
                    value / factor
                })
            }
        };
        if !positive {
            outcome.add(invalid(format!(
                "factor MultipleOf declared for {factor} must be positive"
            )));
        } else if !multiple {
            outcome.add(invalid(format!("should be a multiple of {factor}")));
        }
    }
    let compare = |bound: f64, fits: bool| match value {
        GoNumber::Int(value) if fits => Some(value.cmp(&number::to_int(bound))),
        value => value.as_float().partial_cmp(&bound),
    };
    if let Some((maximum, fits)) = schema.maximum.as_ref().map(bound) {
        if !fits {
            outcome.add(out_of_range("maximum boundary"));
        }
        let exclusive = schema.exclusive_maximum == Some(true);
        if compare(maximum, fits).is_some_and(|order| order.is_gt() || exclusive && order.is_eq()) {
            let or_equal = if exclusive { "" } else { " or equal to" };
            outcome.add(invalid(format!("should be less than{or_equal} {maximum}")));
        }
    }
    if let Some((minimum, fits)) = schema.minimum.as_ref().map(bound) {
        if !fits {
            outcome.add(out_of_range("minimum boundary"));
        }
        let exclusive = schema.exclusive_minimum == Some(true);
        if compare(minimum, fits).is_some_and(|order| order.is_lt() || exclusive && order.is_eq()) {
            let or_equal = if exclusive { "" } else { " or equal to" };
            outcome.add(invalid(format!("should be greater than{or_equal} {minimum}")));
        }
    }
    outcome.matches += 1;
    outcome
}
