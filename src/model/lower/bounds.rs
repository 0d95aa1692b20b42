//! Whether what is said beside a type fits it: bounds, patterns and defaults.

use serde_json::{Number, Value as Json};

use super::keys::Sink;
use crate::catalog::INVALID_SCHEMA;
use crate::finding::{Finding, Span, Spanned};
use crate::model::{Schema, Shape, parse_duration};

/// The sort of a shape that bounds speak of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Number,
    Text,
    List,
    Object,
    Open,
    Other,
}

fn sort_of(shape: &Shape) -> Sort {
    match shape {
        Shape::Integer | Shape::Int32 | Shape::Number => Sort::Number,
        Shape::String | Shape::DateTime | Shape::Duration | Shape::Enum(_) => Sort::Text,
        Shape::List(_) => Sort::List,
        Shape::Map(_) | Shape::Object(_) | Shape::FreeForm => Sort::Object,
        Shape::Any | Shape::Kubernetes(_) | Shape::Named(_) => Sort::Open,
        Shape::Boolean | Shape::Quantity | Shape::IntOrString => Sort::Other,
    }
}

/// Checks the bounds that `written` sets on what it stands for.
pub(super) fn check(meant: &Schema, written: &Schema, sink: &mut Sink<'_>) {
    let sort = sort_of(&meant.shape);
    let bounds = &written.constraints;
    let mut belongs = |to: Sort, name: &str, what: &str, span: Option<Span>| {
        if let Some(span) = span
            && sort != to
            && sort != Sort::Open
        {
            let message = format!("`{name}` bounds {what}, which this type is not");
            sink.error(&INVALID_SCHEMA, span, message);
        }
    };
    let numbers = "a number";
    belongs(
        Sort::Number,
        "minimum",
        numbers,
        bounds.minimum.as_ref().map(|bound| bound.span),
    );
    belongs(
        Sort::Number,
        "maximum",
        numbers,
        bounds.maximum.as_ref().map(|bound| bound.span),
    );
    belongs(
        Sort::Number,
        "multipleOf",
        numbers,
        bounds.multiple_of.as_ref().map(|bound| bound.span),
    );
    belongs(
        Sort::Number,
        "exclusiveMinimum",
        numbers,
        bounds.exclusive_minimum.as_ref().map(|bound| bound.span),
    );
    belongs(
        Sort::Number,
        "exclusiveMaximum",
        numbers,
        bounds.exclusive_maximum.as_ref().map(|bound| bound.span),
    );
    belongs(
        Sort::Text,
        "minLength",
        "a text",
        bounds.min_length.as_ref().map(|bound| bound.span),
    );
    belongs(
        Sort::Text,
        "maxLength",
        "a text",
        bounds.max_length.as_ref().map(|bound| bound.span),
    );
    if !matches!(meant.shape, Shape::Quantity | Shape::IntOrString) {
        belongs(
            Sort::Text,
            "pattern",
            "a text",
            bounds.pattern.as_ref().map(|bound| bound.span),
        );
    }
    belongs(
        Sort::List,
        "minItems",
        "a list",
        bounds.min_items.as_ref().map(|bound| bound.span),
    );
    belongs(
        Sort::List,
        "maxItems",
        "a list",
        bounds.max_items.as_ref().map(|bound| bound.span),
    );
    belongs(
        Sort::Object,
        "minProperties",
        "an object",
        bounds.min_properties.as_ref().map(|bound| bound.span),
    );
    belongs(
        Sort::Object,
        "maxProperties",
        "an object",
        bounds.max_properties.as_ref().map(|bound| bound.span),
    );

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
        sink.error(&INVALID_SCHEMA, step.span, "`multipleOf` is more than 0");
    }
    if let Some(pattern) = &bounds.pattern
        && let Err(error) = regex_syntax::Parser::new().parse(&pattern.value)
    {
        let reason = match &error {
            regex_syntax::Error::Parse(error) => error.kind().to_string(),
            regex_syntax::Error::Translate(error) => error.kind().to_string(),
            _ => "it cannot be read".to_owned(),
        };
        sink.report(Finding::new(
            &INVALID_SCHEMA,
            pattern.span,
            format!("this pattern is no regular expression: {reason}"),
        ));
    }
}

fn ordered<T: PartialOrd>(
    name: &str,
    least: &Option<Spanned<T>>,
    most: &Option<Spanned<T>>,
    sink: &mut Sink<'_>,
) {
    if let (Some(least), Some(most)) = (least, most)
        && least.value > most.value
    {
        let message = format!("`{name}` is more than its maximum");
        sink.report(Finding::new(&INVALID_SCHEMA, least.span, message).related(most.span, "the maximum"));
    }
}

/// Checks a default against the bounds beside it and those of a named type.
pub(super) fn check_default(meant: &Schema, written: &Schema, sink: &mut Sink<'_>) {
    let Some(default) = &written.default else { return };
    let mut refuse = |message: String, bound: Option<Span>| {
        let mut finding = Finding::new(&INVALID_SCHEMA, default.span, message);
        if let Some(span) = bound {
            finding = finding.related(span, "by this bound");
        }
        sink.report(finding);
    };
    // Of a type without a name of its own both are the same; its bounds are looked at once.
    let both = [written, meant];
    let distinct = if std::ptr::eq(meant, written) || meant.span == written.span {
        &both[..1]
    } else {
        &both[..]
    };
    for bounds in distinct.iter().map(|schema| &schema.constraints) {
        if let Some(number) = default.value.as_f64() {
            let bound_of = |bound: &Option<Spanned<Number>>| {
                bound
                    .as_ref()
                    .and_then(|bound| Some((bound.as_f64()?, bound.span)))
            };
            let is_exclusive = |flag: &Option<Spanned<bool>>| flag.as_ref().is_some_and(|flag| flag.value);
            if let Some((least, span)) = bound_of(&bounds.minimum)
                && (number < least || number == least && is_exclusive(&bounds.exclusive_minimum))
            {
                refuse(format!("the default {} is too small", default.value), Some(span));
            }
            if let Some((most, span)) = bound_of(&bounds.maximum)
                && (number > most || number == most && is_exclusive(&bounds.exclusive_maximum))
            {
                refuse(format!("the default {} is too large", default.value), Some(span));
            }
            if !bounds.one_of.is_empty() && !bounds.one_of.iter().any(|value| value.as_f64() == Some(number))
            {
                refuse(
                    format!("the default {} is not in the `enum`", default.value),
                    None,
                );
            }
        }
        let length = match &default.value {
            Json::String(text) => Some((text.chars().count(), &bounds.min_length, &bounds.max_length)),
            Json::Array(items) => Some((items.len(), &bounds.min_items, &bounds.max_items)),
            Json::Object(fields) => Some((fields.len(), &bounds.min_properties, &bounds.max_properties)),
            _ => None,
        };
        if let Some((length, least, most)) = length {
            let length = length as u64;
            if let Some(least) = least.as_ref().filter(|least| length < least.value) {
                refuse("the default is too short".to_owned(), Some(least.span));
            }
            if let Some(most) = most.as_ref().filter(|most| length > most.value) {
                refuse("the default is too long".to_owned(), Some(most.span));
            }
        }
    }
    if let (Shape::Duration, Json::String(text)) = (&meant.shape, &default.value)
        && parse_duration(text).is_none()
    {
        refuse(
            format!("the default `{}` is no duration", crate::text::shown(text)),
            None,
        );
    }
    if let (Shape::Quantity, Json::String(text)) = (&meant.shape, &default.value)
        && !is_quantity(text)
    {
        refuse(
            format!("the default `{}` is no quantity", crate::text::shown(text)),
            None,
        );
    }
}

/// Whether a text is a quantity of Kubernetes: `500Mi`, `1.5`, `1e3`.
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
