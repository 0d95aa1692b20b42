//! What is said beside a type: bounds, CEL rules and extensions of Kubernetes.

use super::keys::{Keys, Sink, boolean, list, name, text, whole};
use super::values::json_of;
use crate::catalog::{INVALID_SCHEMA, UNKNOWN_KEY, WRONG_TYPE};
use crate::finding::{Finding, Span, Spanned};
use crate::model::{Constraints, Shape, Validation};
use crate::names::NotAName;
use crate::spec::Node;
use crate::text::shown;

/// What the shape itself says need not be said again.
pub(super) fn is_told_by_shape(extension: &str, shape: &Shape) -> bool {
    match extension {
        "x-kubernetes-preserve-unknown-fields" => matches!(shape, Shape::FreeForm | Shape::Any),
        "x-kubernetes-int-or-string" => matches!(shape, Shape::IntOrString),
        _ => false,
    }
}

pub(super) fn extension(
    key: &str,
    key_span: Span,
    value: &Node,
    sink: &mut Sink<'_>,
) -> Option<serde_json::Value> {
    let json = json_of(value);
    let is_word = |words: &[&str]| json.as_str().is_some_and(|word| words.contains(&word));
    let fits = match key {
        "x-kubernetes-preserve-unknown-fields"
        | "x-kubernetes-embedded-resource"
        | "x-kubernetes-int-or-string" => json == serde_json::Value::Bool(true),
        "x-kubernetes-list-type" => is_word(&["atomic", "set", "map"]),
        "x-kubernetes-map-type" => is_word(&["atomic", "granular"]),
        "x-kubernetes-list-map-keys" => json
            .as_array()
            .is_some_and(|keys| !keys.is_empty() && keys.iter().all(serde_json::Value::is_string)),
        _ => {
            let known = [
                "preserve-unknown-fields",
                "embedded-resource",
                "int-or-string",
                "list-type",
                "map-type",
                "list-map-keys",
                "validations",
            ]
            .map(|word| format!("x-kubernetes-{word}"));
            let suggestion = sink
                .suggest(key, known.iter().map(String::as_str))
                .map(str::to_owned);
            let message = format!("a type has no key `{}`", shown(key));
            sink.report(Finding::new(&UNKNOWN_KEY, key_span, message).did_you_mean(suggestion.as_deref()));
            return None;
        }
    };
    if !fits {
        sink.error(
            &INVALID_SCHEMA,
            value.span,
            format!("`{key}` does not take this value"),
        );
        return None;
    }
    Some(json)
}

/// `validations`, here or beside the fields of `spec`.
pub(super) fn validation_list(node: &Node, sink: &mut Sink<'_>) -> Vec<Validation> {
    let mut validations = Vec::new();
    for item in list(node, "a list of rules", sink) {
        let Some(mut keys) = Keys::of(item, "a validation", sink) else {
            continue;
        };
        let rule = keys.need("rule", sink).and_then(|node| text(node, sink));
        let mut optional = |key: &'static str| keys.get(key, sink).and_then(|node| text(node, sink));
        let message = optional("message");
        let message_expression = optional("messageExpression");
        let reason = optional("reason");
        let field_path = optional("fieldPath");
        if let Some(reason) = &reason {
            let known = [
                "FieldValueInvalid",
                "FieldValueForbidden",
                "FieldValueRequired",
                "FieldValueDuplicate",
            ];
            if !known.contains(&reason.as_str()) {
                let suggestion = sink.suggest(reason, known);
                let message = format!("`{}` is no reason of the API", shown(reason));
                let finding = Finding::new(&WRONG_TYPE, reason.span, message).did_you_mean(suggestion);
                sink.report(finding.help(format!("known: {}", known.join(", "))));
            }
        }
        if let Some(message) = message
            .as_ref()
            .filter(|message| message.contains('\n') || message.trim().is_empty())
        {
            sink.error(&INVALID_SCHEMA, message.span, "the message of a rule is one line");
        }
        keys.finish(sink);
        if let Some(rule) = rule {
            let slips = [Some(&rule), message_expression.as_ref()];
            for (written, slip) in slips
                .into_iter()
                .flatten()
                .filter_map(|text| Some((text, super::cel::slip(text)?)))
            {
                sink.report(Finding::new(&INVALID_SCHEMA, written.span, "this is no CEL").label(slip));
            }
            if !rule.trim().is_empty() {
                validations.push(Validation {
                    rule,
                    message,
                    message_expression,
                    reason,
                    field_path,
                });
            }
        }
    }
    validations
}

pub(super) fn constraints(keys: &mut Keys<'_>, sink: &mut Sink<'_>) -> Constraints {
    let mut number = |key: &'static str| {
        let node = keys.get(key, sink)?;
        match json_of(node) {
            serde_json::Value::Number(number) => Some(Spanned::new(number, node.span)),
            _ => {
                sink.wrong_type(node, "a number");
                None
            }
        }
    };
    let (minimum, maximum, multiple_of) = (number("minimum"), number("maximum"), number("multipleOf"));
    let mut length = |key: &'static str| {
        let node = keys.get(key, sink)?;
        whole(node, 0, i64::MAX, sink).map(|length| length.map(i64::unsigned_abs))
    };
    let (min_length, max_length) = (length("minLength"), length("maxLength"));
    let (min_items, max_items) = (length("minItems"), length("maxItems"));
    let (min_properties, max_properties) = (length("minProperties"), length("maxProperties"));
    let mut flag = |key: &'static str| keys.get(key, sink).and_then(|node| boolean(node, sink));
    let (exclusive_minimum, exclusive_maximum) = (flag("exclusiveMinimum"), flag("exclusiveMaximum"));
    let is_format =
        |text: &str| match !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            true => Ok(text.to_owned()),
            false => Err(NotAName {
                expected: "letters, digits and `-`",
            }),
        };
    let format = keys
        .get("format", sink)
        .and_then(|node| name(node, "format", is_format, sink));
    let pattern = keys.get("pattern", sink).and_then(|node| text(node, sink));
    Constraints {
        format,
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
        one_of: Vec::new(),
    }
}
