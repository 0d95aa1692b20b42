//! Numbers as Go reads them from JSON: integers that fit into 64 bits, and otherwise double precision.

use serde_json::Number;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum GoNumber {
    Int(i64),
    Float(f64),
}

impl GoNumber {
    pub(crate) fn read(number: &Number) -> Self {
        match number.as_i64() {
            Some(value) => GoNumber::Int(value),
            None => GoNumber::Float(float(number)),
        }
    }

    pub(crate) fn as_float(self) -> f64 {
        match self {
            GoNumber::Int(value) => value as f64,
            GoNumber::Float(value) => value,
        }
    }
}

/// The number in double precision, which the bounds of a schema have.
pub(crate) fn float(number: &Number) -> f64 {
    // JSON numbers are finite, so this is always `Some` without the feature `arbitrary_precision`.
    number.as_f64().unwrap_or(f64::NAN)
}

/// Go's conversion to an integer on the machines of API servers: a number that does not fit becomes the smallest
/// integer.
pub(crate) fn to_int(value: f64) -> i64 {
    let limit = 9_223_372_036_854_775_808.0;
    if (-limit..limit).contains(&value) {
        value as i64
    } else {
        i64::MIN
    }
}

/// Whether a float counts as an integer: `swag.IsFloat64AJSONInteger`, which tolerates a relative error. API servers
/// are built with several versions of swag: up to 0.23 it compares with the truncated number, and tolerates errors of
/// positive numbers only; later versions compare with the nearest integer, so that 0.29 / 0.01 is one. A number that
/// any of them accepts is accepted.
pub(crate) fn is_integer(value: f64) -> bool {
    const LIMIT: f64 = 9_007_199_254_740_991.0;
    if !(-LIMIT..=LIMIT).contains(&value) {
        return false;
    }
    let (whole, nearest) = (value.trunc(), value.round());
    value == whole
        || whole > 0.0 && (value - whole) / (value + whole) < 1e-9
        || nearest != 0.0 && (value - nearest).abs() < 1e-9 * nearest.abs()
}

/// Whether a number fits a type and a format: `validate.IsValueValidAgainstRange`.
pub(crate) fn fits(number: GoNumber, type_: &str, format: &str) -> bool {
    match (type_, format, number) {
        ("integer", "int32", GoNumber::Int(value)) => i32::try_from(value).is_ok(),
        ("integer", "int32", GoNumber::Float(value)) => {
            value.trunc() == value && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&value)
        }
        ("integer", _, GoNumber::Int(_)) => true,
        ("integer", _, GoNumber::Float(value)) => fits_int64(value),
        (_, "float", number) => !(number.as_float() as f32).is_infinite(),
        _ => true,
    }
}

/// Whether Go parses the digits of the float as a 64-bit integer. The shortest digits of -2^63 are those of a smaller
/// number, so it does not fit.
fn fits_int64(value: f64) -> bool {
    value.trunc() == value && value.abs() < 9_223_372_036_854_775_808.0
}
