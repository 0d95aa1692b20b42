//! The function `format` of strings, after `ext/formatting.go` of cel-go, in the only language of the API server:
//! American English, which groups the digits of numbers with a fraction.

use super::function::LONGEST;
use super::go::{quoted, seconds, shortest};
use super::value::{List, Map, Value};
use super::{Failure, Fallible, fail, too_costly};
use crate::types::Type;

/// The number of fraction digits of a clause without a precision.
const PRECISION: usize = 6;
/// A limit for the precision, above the number of digits of any number.
const MOST_DIGITS: usize = 10_000;

/// The template with its clauses replaced by the values.
pub(super) fn format<'a>(template: &str, values: &List<'a>) -> Fallible<Value<'a>> {
    let (text, _) = walk(template, values.len(), |at, kind, precision| {
        let Some(value) = values.get(at)? else {
            return fail(format!("index {at} out of range"));
        };
        let written = match kind {
            's' => string(&value),
            'd' => decimal(&value),
            'f' | 'e' => real(&value, kind, precision.unwrap_or(PRECISION)),
            _ => in_base(&value, kind),
        };
        written.or_else(|why| fail(format!("error during formatting: {why}")))
    })?;
    Ok(text.into())
}

/// The error of the API server at compilation if a template does not accept values of these types.
pub(crate) fn check(template: &str, types: &[&Type]) -> Option<String> {
    let walked = walk(template, types.len(), |at, kind, _| {
        let of = types[at];
        let is_fine = match kind {
            _ if *of == Type::Dyn => true,
            's' => {
                let is_opaque = matches!(of, Type::Opaque(..) | Type::Struct(_) | Type::Error);
                !is_opaque
            }
            'd' | 'o' => matches!(of, Type::Int | Type::Uint),
            'f' | 'e' => matches!(of, Type::Double | Type::String),
            'b' => matches!(of, Type::Int | Type::Uint | Type::Bool),
            _ => matches!(of, Type::Int | Type::Uint | Type::String | Type::Bytes),
        };
        if is_fine {
            return Ok(String::new());
        }
        fail(format!("`%{kind}` takes no values of the type {of}"))
    });
    match walked {
        Ok((_, used)) if used < types.len() => {
            Some(format!("there are {} values for {used} clauses", types.len()))
        }
        Err(Failure::Error(why)) => Some(why),
        _ => None,
    }
}

/// The text with its clauses replaced, and their number. A clause has a letter and optionally a precision.
fn walk(
    template: &str,
    values: usize,
    mut replace: impl FnMut(usize, char, Option<usize>) -> Fallible<String>,
) -> Fallible<(String, usize)> {
    let (mut text, mut rest, mut used) = (String::new(), template, 0);
    while let Some((before, after)) = rest.split_once('%') {
        text.push_str(before);
        if let Some(after) = after.strip_prefix('%') {
            text.push('%');
            rest = after;
            continue;
        }
        if used >= values {
            return fail(format!("index {used} out of range"));
        }
        if after.is_empty() {
            return fail("unexpected end of string".to_owned());
        }
        let (precision, after) = precision(after)?;
        let mut clause = after.chars();
        let kind = clause.next().unwrap_or_default();
        if !"sdfebxXo".contains(kind) {
            return fail(format!(
                "could not parse formatting clause: unrecognized formatting clause \"{kind}\""
            ));
        }
        text.push_str(&replace(used, kind, precision)?);
        used += 1;
        rest = clause.as_str();
        if text.len() > LONGEST {
            return too_costly();
        }
    }
    text.push_str(rest);
    Ok((text, used))
}

/// The precision at the start of a clause.
fn precision(clause: &str) -> Fallible<(Option<usize>, &str)> {
    const WHERE: &str = "could not parse formatting clause: error while parsing precision";
    let Some(clause) = clause.strip_prefix('.') else {
        return Ok((None, clause));
    };
    let Some(end) = clause.find(|c: char| !c.is_ascii_digit()) else {
        return fail(format!("{WHERE}: could not find end of precision specifier"));
    };
    let (digits, rest) = clause.split_at(end);
    match digits.parse() {
        Ok(precision) if precision <= MOST_DIGITS => Ok((Some(precision), rest)),
        Ok(_) => too_costly(),
        Err(_) => fail(format!(
            "{WHERE}: error while converting precision to integer: strconv.Atoi: parsing {digits:?}: invalid syntax"
        )),
    }
}

type Written = Result<String, String>;

fn string(value: &Value<'_>) -> Written {
    Ok(match value {
        Value::List(list) => return within_brackets(list),
        Value::Map(map) => return within_braces(map),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Text(_) | Value::Type(_) => {
            value.to_string()
        }
        Value::Double(number) => shortest(*number),
        Value::Timestamp(time) => time.written(),
        Value::Duration(nanoseconds) => seconds(*nanoseconds),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => {
                return Err(
                    "could not convert argument \"invalid UTF-8 in bytes, cannot convert to string\" to string"
                        .to_owned(),
                );
            }
        },
        other => {
            return Err(format!(
                "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and \
                 timestamps, was given {}",
                other.type_name()
            ));
        }
    })
}

/// A value inside a list or a map, formatted as a literal.
fn literal(value: &Value<'_>) -> Written {
    Ok(match value {
        Value::Text(text) => quoted(text),
        Value::Bytes(_) => format!("b{}", quoted(&string(value)?)),
        Value::Timestamp(_) => format!("timestamp(\"{}\")", string(value)?),
        Value::Duration(_) => format!("duration(\"{}\")", string(value)?),
        Value::Double(number) if number.is_finite() => format!("{number:.PRECISION$}"),
        Value::Double(number) => format!("\"{}\"", shortest(*number)),
        Value::List(_)
        | Value::Map(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Uint(_)
        | Value::Type(_) => string(value)?,
        other => return Err(format!("no formatting function for {}", other.type_name())),
    })
}

fn within_brackets(list: &List<'_>) -> Written {
    let items: Result<Vec<String>, String> = list
        .elements()
        .map(|value| literal(&value.map_err(|_| "a value has no text".to_owned())?))
        .collect();
    Ok(format!("[{}]", items?.join(", ")))
}

fn within_braces(map: &Map<'_>) -> Written {
    let mut entries = Vec::new();
    for key in map.keys() {
        let written = match &key {
            Value::Text(_) | Value::Bool(_) | Value::Int(_) | Value::Uint(_) => literal(&key)?,
            other => {
                return Err(format!(
                    "no formatting function for map key of type {}",
                    other.type_name()
                ));
            }
        };
        match map.find(&key) {
            Ok(Some(value)) => entries.push((written, literal(&value)?)),
            _ => return Err(format!("could not find key: {:?}", key.to_string())),
        }
    }
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    let entries: Vec<String> = entries
        .into_iter()
        .map(|(key, value)| format!("{key}:{value}"))
        .collect();
    Ok(format!("{{{}}}", entries.join(", ")))
}

fn decimal(value: &Value<'_>) -> Written {
    match value {
        Value::Int(_) | Value::Uint(_) => Ok(value.to_string()),
        other => Err(format!(
            "decimal clause can only be used on integers, was given {}",
            other.type_name()
        )),
    }
}

/// A number with a fraction (`f`) or an exponent (`e`).
fn real(value: &Value<'_>, kind: char, precision: usize) -> Written {
    let number = match value {
        Value::Double(number) => *number,
        Value::Text(text) => match &**text {
            "NaN" => f64::NAN,
            "Infinity" => f64::INFINITY,
            "-Infinity" => f64::NEG_INFINITY,
            _ => return wrong_real(value, kind),
        },
        _ => return wrong_real(value, kind),
    };
    if number.is_nan() {
        return Ok("NaN".to_owned());
    }
    if number.is_infinite() {
        return Ok(if number > 0.0 { "∞" } else { "-∞" }.to_owned());
    }
    if kind == 'e' {
        let written = format!("{number:.precision$e}");
        let (digits, exponent) = written.split_once('e').unwrap_or((&written, "0"));
        let (sign, exponent) = match exponent.strip_prefix('-') {
            Some(exponent) => ("⁻", exponent),
            None => ("", exponent),
        };
        let raised = |digit: char| match digit {
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            '0' | '4'..='9' => {
                char::from_u32(u32::from('⁰') + u32::from(digit) - u32::from('0')).unwrap_or(digit)
            }
            other => other,
        };
        let exponent: String = format!("{exponent:0>2}").chars().map(raised).collect();
        return Ok(format!("{digits}\u{d7}10{sign}{exponent}"));
    }
    let written = format!("{number:.precision$}");
    let (sign, digits) = match written.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", written.as_str()),
    };
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) => (whole, format!(".{fraction}")),
        None => (digits, String::new()),
    };
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    Ok(format!("{sign}{grouped}{fraction}"))
}

fn wrong_real(value: &Value<'_>, kind: char) -> Written {
    let clause = if kind == 'f' { "fixed-point" } else { "scientific" };
    Err(format!(
        "{clause} clause can only be used on doubles, was given {}",
        value.type_name()
    ))
}

/// A number in base 2, 8 or 16; strings and bytes in base 16.
fn in_base(value: &Value<'_>, kind: char) -> Written {
    let number = |sign: &str, number: u64| {
        Ok(match kind {
            'b' => format!("{sign}{number:b}"),
            'o' => format!("{sign}{number:o}"),
            'x' => format!("{sign}{number:x}"),
            _ => format!("{sign}{number:X}"),
        })
    };
    let bytes = |bytes: &[u8]| {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(if kind == 'X' {
            digits.to_uppercase()
        } else {
            digits
        })
    };
    match value {
        Value::Int(value) => number(if *value < 0 { "-" } else { "" }, value.unsigned_abs()),
        Value::Uint(value) => number("", *value),
        Value::Bool(value) if kind == 'b' => Ok(u8::from(*value).to_string()),
        Value::Text(text) if kind.eq_ignore_ascii_case(&'x') => bytes(text.as_bytes()),
        Value::Bytes(of) if kind.eq_ignore_ascii_case(&'x') => bytes(of),
        other => {
            let may_be = match kind {
                'b' => "only integers and bools can be formatted as binary",
                'o' => "octal clause can only be used on integers",
                _ => "only integers, byte buffers, and strings can be formatted as hex",
            };
            Err(format!("{may_be}, was given {}", other.type_name()))
        }
    }
}
