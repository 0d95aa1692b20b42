//! Whether the limits of a type fit it.

use serde_json::{Number, Value as Json};

use super::sink::Sink;
use crate::catalog::INVALID_SCHEMA;
use crate::catalog::keys::{SectionKey as _, TypeKey};
use crate::finding::{Finding, Span, Spanned};
use crate::model::{Constraints, Schema, Shape};

/// What limits of a schema distinguish between types.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LimitedType {
    Number,
    String,
    /// A string or a number: only patterns apply.
    StringOrNumber,
    List,
    Object,
    /// The schema does not say, so any limit may apply.
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

/// Where each limit is written, if it is, and the type that it limits.
fn limits(constraints: &Constraints) -> [(TypeKey, LimitedType, Option<Span>); 12] {
    use LimitedType::{List, Number, Object, String};
    // A new constraint has to be added here, or named as one that limits no type.
    let Constraints {
        format: _,
        minimum,
        maximum,
        exclusive_minimum,
        exclusive_maximum,
        multiple_of,
        min_length,
        max_length,
        pattern,
        min_items,
        max_items,
        min_properties,
        max_properties,
        one_of: _,
    } = constraints;
    [
        (TypeKey::Minimum, Number, span(minimum)),
        (TypeKey::Maximum, Number, span(maximum)),
        (TypeKey::ExclusiveMinimum, Number, span(exclusive_minimum)),
        (TypeKey::ExclusiveMaximum, Number, span(exclusive_maximum)),
        (TypeKey::MultipleOf, Number, span(multiple_of)),
        (TypeKey::MinLength, String, span(min_length)),
        (TypeKey::MaxLength, String, span(max_length)),
        (TypeKey::Pattern, String, span(pattern)),
        (TypeKey::MinItems, List, span(min_items)),
        (TypeKey::MaxItems, List, span(max_items)),
        (TypeKey::MinProperties, Object, span(min_properties)),
        (TypeKey::MaxProperties, Object, span(max_properties)),
    ]
}

fn span<T>(written: &Option<Spanned<T>>) -> Option<Span> {
    written.as_ref().map(|written| written.span)
}

/// Checks the limits that `written` sets on the type that it means.
pub(super) fn check(meant: &Schema, written: &Schema, sink: &Sink<'_>) {
    let value_type = LimitedType::of(&meant.shape);
    let bounds = &written.constraints;
    for (key, limited, span) in limits(bounds) {
        let applies = value_type == limited
            || value_type == LimitedType::Unknown
            || value_type == LimitedType::StringOrNumber && key == TypeKey::Pattern;
        if let (Some(span), false) = (span, applies) {
            let (name, limited) = (key.key().name, limited.described());
            let message = format!("`{name}` limits {limited}, which this type is not");
            sink.error(&INVALID_SCHEMA, span, message);
        }
    }

    check_enum(meant, written, sink);
    ordered("minLength", &bounds.min_length, &bounds.max_length, sink);
    ordered("minItems", &bounds.min_items, &bounds.max_items, sink);
    ordered(
        "minProperties",
        &bounds.min_properties,
        &bounds.max_properties,
        sink,
    );
    let decimal = |number: &Option<Spanned<Number>>| {
        number
            .as_ref()
            .and_then(|number| Some(Spanned::new(number.as_f64()?, number.span)))
    };
    ordered(
        "minimum",
        &decimal(&bounds.minimum),
        &decimal(&bounds.maximum),
        sink,
    );
    if let Some(step) = decimal(&bounds.multiple_of).filter(|step| step.value <= 0.0) {
        sink.error(&INVALID_SCHEMA, step.span, "`multipleOf` has to be more than 0");
    }
}

fn ordered<T: PartialOrd>(
    name: &str,
    least: &Option<Spanned<T>>,
    most: &Option<Spanned<T>>,
    sink: &Sink<'_>,
) {
    if let (Some(least), Some(most)) = (least, most)
        && least.value > most.value
    {
        let message = format!("`{name}` is more than its maximum");
        sink.report(Finding::new(&INVALID_SCHEMA, least.span, message).related(most.span, "the maximum"));
    }
}

/// Checks that the values of an `enum` are of the type, and that the limits beside it allow each of them: a value that is
/// listed and never accepted is a mistake in one of the two.
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
    for limit in enum_limits(&written.constraints) {
        for (value, span) in values.iter().filter(|(value, _)| !(limit.allows)(value)) {
            let name = limit.key.key().name;
            let message = format!(
                "`{name}` forbids the value {} of the `enum`",
                crate::text::shown(&value.to_string())
            );
            sink.report(
                Finding::new(&INVALID_SCHEMA, *span, message)
                    .related(limit.span, "this is the limit")
                    .help("remove the value or the limit"),
            );
        }
    }
}

/// What a number of an `enum` should be and is not.
fn not_of_type(number: &Number, shape: &Shape) -> Option<&'static str> {
    // To the API server 3.0 is an integer.
    let integer = number.as_i64().or_else(|| {
        let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
        // A cast to an integer saturates, so what does not come back was too large.
        (float.abs() < i64::MAX as f64).then_some(float as i64)
    });
    match shape {
        Shape::Int32 if integer.is_none_or(|it| i32::try_from(it).is_err()) => Some("an integer of 32 bits"),
        Shape::Integer if integer.is_none() => Some("an integer"),
        _ => None,
    }
}

/// A limit beside an `enum`.
struct EnumLimit {
    key: TypeKey,
    span: Span,
    allows: Box<dyn Fn(&Json) -> bool>,
}

fn enum_limits(bounds: &Constraints) -> Vec<EnumLimit> {
    use krator_schema::Schema as Read;
    let mut limits: Vec<EnumLimit> = Vec::new();
    let mut add = |key: TypeKey, span: Option<Span>, read: Read| {
        limits.extend(span.map(|span| EnumLimit {
            key,
            span,
            allows: Box::new(move |value| krator_schema::validate(&read, value).is_empty()),
        }));
    };
    let number = |bound: &Option<Spanned<Number>>| bound.as_ref().map(|bound| bound.value.clone());
    let count = |bound: &Option<Spanned<u64>>| {
        bound
            .as_ref()
            .map(|bound| i64::try_from(bound.value).unwrap_or(i64::MAX))
    };
    let flag = |flag: &Option<Spanned<bool>>| flag.as_ref().map(|flag| flag.value);
    let read = Read {
        minimum: number(&bounds.minimum),
        exclusive_minimum: flag(&bounds.exclusive_minimum),
        ..Read::default()
    };
    add(TypeKey::Minimum, span(&bounds.minimum), read);
    let read = Read {
        maximum: number(&bounds.maximum),
        exclusive_maximum: flag(&bounds.exclusive_maximum),
        ..Read::default()
    };
    add(TypeKey::Maximum, span(&bounds.maximum), read);
    let read = Read {
        multiple_of: number(&bounds.multiple_of).filter(|step| step.as_f64().is_some_and(|step| step > 0.0)),
        ..Read::default()
    };
    add(TypeKey::MultipleOf, span(&bounds.multiple_of), read);
    let read = Read {
        min_length: count(&bounds.min_length),
        ..Read::default()
    };
    add(TypeKey::MinLength, span(&bounds.min_length), read);
    let read = Read {
        max_length: count(&bounds.max_length),
        ..Read::default()
    };
    add(TypeKey::MaxLength, span(&bounds.max_length), read);
    let read = Read {
        format: bounds.format.as_ref().map(|format| format.value.clone()),
        ..Read::default()
    };
    add(TypeKey::Format, span(&bounds.format), read);
    if let Some(pattern) = &bounds.pattern
        // Compiled once, because an `enum` may have thousands of values. What is no pattern is reported elsewhere.
        && let Ok(compiled) = krator_schema::Pattern::new(&pattern.value)
    {
        limits.push(EnumLimit {
            key: TypeKey::Pattern,
            span: pattern.span,
            allows: Box::new(move |value| {
                value
                    .as_str()
                    .is_none_or(|text| compiled.is_match(text) != Some(false))
            }),
        });
    }
    limits
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
