//! Checks whether the limits of a type fit it.

use krator_schema::{CompiledSchema, Pattern};
use serde_json::{Map, Number, Value as Json};

use super::sink::Sink;
use crate::catalog::keys::{SectionKey as _, TypeKey};
use crate::catalog::{INEXACT_BOUND, INVALID_SCHEMA};
use crate::finding::{Finding, Span};
use crate::model::{Constraints, Schema, Shape};

/// The types that limits of a schema apply to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LimitedType {
    Number,
    String,
    /// A string or a number: only patterns apply.
    StringOrNumber,
    List,
    Object,
    /// The schema does not define the type, so any limit may apply.
    Unknown,
    Boolean,
}

impl LimitedType {
    fn of(shape: &Shape) -> Self {
        match shape {
            Shape::Integer | Shape::Int32 | Shape::Number => LimitedType::Number,
            Shape::String | Shape::DateTime | Shape::Duration | Shape::Enum(_) => LimitedType::String,
            Shape::Quantity | Shape::IntOrString => LimitedType::StringOrNumber,
            Shape::List(_) => LimitedType::List,
            Shape::Map(_) | Shape::Object(_) | Shape::FreeForm => LimitedType::Object,
            Shape::Any | Shape::Kubernetes(_) | Shape::Named(_) => LimitedType::Unknown,
            Shape::Boolean => LimitedType::Boolean,
        }
    }

    fn described(self) -> &'static str {
        match self {
            LimitedType::Number => "a number",
            LimitedType::String | LimitedType::StringOrNumber => "a string",
            LimitedType::List => "a list",
            LimitedType::Object => "an object",
            LimitedType::Unknown => "any value",
            LimitedType::Boolean => "a boolean",
        }
    }
}

/// The keys that limit values, each with the type that it limits. A format may belong to any type.
pub(super) const LIMITS: [(TypeKey, LimitedType); 13] = [
    (TypeKey::Format, LimitedType::Unknown),
    (TypeKey::Minimum, LimitedType::Number),
    (TypeKey::Maximum, LimitedType::Number),
    (TypeKey::ExclusiveMinimum, LimitedType::Number),
    (TypeKey::ExclusiveMaximum, LimitedType::Number),
    (TypeKey::MultipleOf, LimitedType::Number),
    (TypeKey::MinLength, LimitedType::String),
    (TypeKey::MaxLength, LimitedType::String),
    (TypeKey::Pattern, LimitedType::String),
    (TypeKey::MinItems, LimitedType::List),
    (TypeKey::MaxItems, LimitedType::List),
    (TypeKey::MinProperties, LimitedType::Object),
    (TypeKey::MaxProperties, LimitedType::Object),
];

/// Checks the limits of `written` on the type that it resolves to.
pub(super) fn check(meant: &Schema, written: &Schema, sink: &Sink<'_>) {
    let value_type = LimitedType::of(&meant.shape);
    let limits = &written.constraints.limits;
    for (key, limited) in LIMITS {
        let name = key.key().name;
        let applies = value_type == limited
            || value_type == LimitedType::Unknown
            || limited == LimitedType::Unknown
            || value_type == LimitedType::StringOrNumber && key == TypeKey::Pattern;
        if let (Some(limit), false) = (limits.get(name), applies) {
            let limited = limited.described();
            let message = format!("`{name}` applies to {limited} only");
            sink.error(&INVALID_SCHEMA, limit.span, message);
        }
    }
    check_enum(meant, written, sink);
    let number = |name: &str| Some((limits.get(name)?.value.as_f64()?, limits.get(name)?.span));
    for (least, most) in [
        ("minLength", "maxLength"),
        ("minItems", "maxItems"),
        ("minProperties", "maxProperties"),
        ("minimum", "maximum"),
    ] {
        if let (Some((least_value, span)), Some((most_value, most_span))) = (number(least), number(most))
            && least_value > most_value
        {
            let message = format!("`{least}` is greater than its maximum");
            let finding = Finding::new(&INVALID_SCHEMA, span, message);
            sink.report(finding.related(most_span, "the maximum"));
        }
    }
    if let Some((_, span)) = number("multipleOf").filter(|(step, _)| *step <= 0.0) {
        sink.error(&INVALID_SCHEMA, span, "`multipleOf` has to be more than 0");
    }
    for name in ["minimum", "maximum", "multipleOf"] {
        let Some((held, span)) = number(name) else {
            continue;
        };
        let written = sink.source.at(span);
        let finding = if is_rounded(written, held) {
            let message = format!("the API server reads this `{name}` as {held}");
            Finding::new(&INEXACT_BOUND, span, message).help("write a number of at most 15 digits")
        } else if name == "multipleOf" && !is_exact(written) {
            let message = "the API server cannot represent this number exactly, so API servers may disagree about multiples";
            Finding::new(&INEXACT_BOUND, span, message)
                .help("use `integer` with a smaller unit, or check multiples in the handlers")
        } else {
            continue;
        };
        sink.report(finding);
    }
}

/// Whether a decimal number differs from the double that it is parsed to. A fraction such as 0.1 has no exact double,
/// but its double is formatted as 0.1 again.
fn is_rounded(written: &str, held: f64) -> bool {
    match written.parse::<i64>() {
        Ok(written) => held as i128 != i128::from(written),
        Err(_) => match (significant(written), significant(&held.to_string())) {
            (Some(written), Some(held)) => written != held,
            // An alias, or the hexadecimal form of an integer.
            _ => false,
        },
    }
}

/// Whether a decimal number, which is not rounded, is an integer divided by a power of two.
fn is_exact(written: &str) -> bool {
    let Some((digits, power)) = significant(written) else {
        return true;
    };
    let Ok(places) = u32::try_from(-power) else {
        return true;
    };
    match (digits.parse::<u128>(), 5_u128.checked_pow(places)) {
        (Ok(digits), Some(fives)) => digits % fives == 0,
        _ => false,
    }
}

/// The digits of a decimal number without zeros at either end, and the power of ten of the last digit.
fn significant(text: &str) -> Option<(String, i64)> {
    let text = text.trim_start_matches(['+', '-']);
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let places = i64::try_from(fraction.len()).ok()?;
    let trimmed = digits.trim_end_matches('0');
    let zeros = i64::try_from(digits.len() - trimmed.len()).ok()?;
    let power = exponent
        .parse::<i64>()
        .ok()?
        .checked_sub(places)?
        .checked_add(zeros)?;
    match trimmed.trim_start_matches('0') {
        "" => Some((String::new(), 0)),
        digits => Some((digits.to_owned(), power)),
    }
}

/// Checks that the values of an `enum` are of the type, and that its limits allow each of them: if a listed value is
/// never accepted, either the list or the limit is wrong.
fn check_enum(meant: &Schema, written: &Schema, sink: &Sink<'_>) {
    let numbers = written
        .constraints
        .one_of
        .iter()
        .chain(match std::ptr::eq(meant, written) {
            true => [].iter(),
            false => meant.constraints.one_of.iter(),
        });
    let mut values: Vec<(Json, Span)> = Vec::new();
    for value in numbers {
        match not_of_type(&value.value, &meant.shape) {
            Some(expected) => {
                let message = format!("the value {} of the `enum` is not {expected}", value.value);
                sink.error(&INVALID_SCHEMA, value.span, message);
            }
            None => values.push((value.value.clone().into(), value.span)),
        }
    }
    if let Shape::Enum(texts) = &meant.shape {
        values.extend(texts.iter().map(|text| (text.value.clone().into(), text.span)));
    }
    if values.is_empty() {
        return;
    }
    for (name, limit) in &written.constraints.limits {
        let Some(allowed) = alone(name, &written.constraints) else {
            continue;
        };
        for (value, span) in values
            .iter()
            .filter(|(value, _)| !allowed.validate(value).is_empty())
        {
            let value = crate::text::shown(&value.to_string());
            let message = format!("`{name}` forbids the value {value} of the `enum`");
            sink.report(
                Finding::new(&INVALID_SCHEMA, *span, message)
                    .related(limit.span, "this is the limit")
                    .help("remove the value or the limit"),
            );
        }
    }
}

/// The schema that has only this limit; `None` if the limit itself is a mistake, which is reported elsewhere.
fn alone(name: &str, constraints: &Constraints) -> Option<CompiledSchema> {
    let exclusive = match name {
        "minimum" => "exclusiveMinimum",
        "maximum" => "exclusiveMaximum",
        _ => "",
    };
    let limits = constraints
        .limits
        .iter()
        .filter(|(key, _)| [name, exclusive].contains(key));
    let limits: Map<String, Json> = limits
        .map(|(key, limit)| ((*key).to_owned(), limit.value.clone()))
        .collect();
    let is_mistake = match name {
        "multipleOf" => limits[name].as_f64().is_none_or(|step| step <= 0.0),
        "pattern" => limits[name]
            .as_str()
            .is_none_or(|pattern| Pattern::new(pattern).is_err()),
        _ => false,
    };
    let schema = serde_json::from_value(limits.into()).ok()?;
    (!is_mistake).then(|| CompiledSchema::new(schema))
}

/// The type that a number of an `enum` should have, if it does not.
fn not_of_type(number: &Number, shape: &Shape) -> Option<&'static str> {
    // The API server treats 3.0 as an integer.
    let integer = number.as_i64().or_else(|| {
        let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
        // The cast to an integer saturates, so values outside its range are excluded.
        (float.abs() < i64::MAX as f64).then_some(float as i64)
    });
    match shape {
        Shape::Int32 if integer.is_none_or(|it| i32::try_from(it).is_err()) => Some("an integer of 32 bits"),
        Shape::Integer if integer.is_none() => Some("an integer"),
        _ => None,
    }
}

/// Whether a string is a quantity of Kubernetes: `500Mi`, `1.5`, `1e3`.
pub(super) fn is_quantity(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, suffix) = text.split_at(digits);
    let is_number = number.chars().any(|c| c.is_ascii_digit()) && number.matches('.').count() <= 1;
    let is_exponent = suffix.strip_prefix(['e', 'E']).is_some_and(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
    });
    let suffixes = [
        "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei",
    ];
    is_number && (is_exponent || suffixes.contains(&suffix))
}
