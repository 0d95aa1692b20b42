//! The keys of a type that constrain its values: limits, schemas of OpenAPI, rules in CEL, and extensions of Kubernetes.

use serde::Deserialize as _;
use serde_json::Value as Json;

use super::keys::Keys;
use super::nodes::{boolean, list, name_of, text};
use super::sink::Sink;
use super::values::json_of;
use crate::catalog::keys::{SectionKey as _, Type, TypeKey, ValidationKey};
use crate::catalog::{INVALID_RULE, INVALID_SCHEMA, WRONG_TYPE};
use crate::finding::{Finding, Spanned};
use crate::model::{Constraints, Shape, Validation};
use crate::names::FormatName;
use crate::spec::Node;
use crate::text::shown;

/// Whether the extension repeats what the shape already means in the CRD.
pub(super) fn is_implied_by_shape(extension: &str, shape: &Shape) -> bool {
    match extension {
        "x-kubernetes-preserve-unknown-fields" => matches!(shape, Shape::FreeForm | Shape::Any),
        "x-kubernetes-int-or-string" => matches!(shape, Shape::IntOrString),
        _ => false,
    }
}

/// The extensions of Kubernetes and the schemas that a CRD carries as they are, in the order of the text.
pub(super) fn extensions(keys: &mut Keys<'_, TypeKey>, sink: &mut Sink<'_>) -> Vec<(Spanned<String>, Json)> {
    const EXTENSIONS: [TypeKey; 10] = [
        TypeKey::PreserveUnknownFields,
        TypeKey::EmbeddedResource,
        TypeKey::IntOrString,
        TypeKey::ListType,
        TypeKey::ListMapKeys,
        TypeKey::MapType,
        TypeKey::AllOf,
        TypeKey::AnyOf,
        TypeKey::OneOf,
        TypeKey::Not,
    ];
    let mut extensions = Vec::new();
    for key in EXTENSIONS {
        let Some(entry) = keys.entry(key) else { continue };
        let value = json_of(&entry.value);
        let is_strings = |items: &Vec<Json>| !items.is_empty() && items.iter().all(Json::is_string);
        let is_schemas = |items: &Vec<Json>| !items.is_empty() && items.iter().all(is_schema);
        let fits = match key.key().value {
            Type::Any => is_schema(&value),
            Type::List { of: Type::Any, .. } => value.as_array().is_some_and(is_schemas),
            Type::Word(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Type::List { .. } => value.as_array().is_some_and(is_strings),
            _ => value == Json::Bool(true),
        };
        if fits {
            extensions.push((Spanned::new(entry.key.clone(), entry.key_span), value));
        } else {
            let message = format!("`{}` does not take this value", entry.key);
            sink.error(&INVALID_SCHEMA, entry.value.span, message);
        }
    }
    extensions.sort_by_key(|(key, _)| key.span.start);
    extensions
}

/// `validations`, here or beside the fields of `spec`.
pub(super) fn validation_list(node: &Node, sink: &mut Sink<'_>) -> Vec<Validation> {
    let mut validations = Vec::new();
    for item in list(node, "a list of rules", sink) {
        let Some(mut keys) = Keys::of(item, sink) else {
            continue;
        };
        let rule = keys.read(ValidationKey::Rule, sink, text);
        let message = keys.read(ValidationKey::Message, sink, text);
        let message_expression = keys.read(ValidationKey::MessageExpression, sink, text);
        let reason = keys.read(ValidationKey::Reason, sink, text);
        let field_path = keys.read(ValidationKey::FieldPath, sink, text);
        let optional_old_self = keys
            .read(ValidationKey::OptionalOldSelf, sink, only_true)
            .is_some();
        if let Some(reason) = &reason {
            let known = ValidationKey::Reason.key().value.words();
            if !known.contains(&reason.as_str()) {
                let suggestion = sink.suggest(reason, known.iter().copied());
                let message = format!("`{}` is not a reason of the API", shown(reason));
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
            validations.push(Validation {
                rule,
                message,
                message_expression,
                reason,
                field_path,
                optional_old_self,
            });
        }
    }
    validations
}

/// A key that is only written to say yes.
fn only_true(node: &Node, sink: &mut Sink<'_>) -> Option<()> {
    match node.scalar().and_then(|scalar| scalar.boolean()) {
        Some(true) => Some(()),
        _ => {
            sink.wrong_type(node, "`true`");
            None
        }
    }
}

/// Whether a value is a schema of OpenAPI. Whether it may be there is for the API server's rules to say.
fn is_schema(value: &Json) -> bool {
    value.is_object() && krator_schema::Schema::deserialize(value).is_ok()
}

/// Reports rules that are listed twice: server-side apply identifies a rule by its text, and would refuse the CRD.
pub(super) fn refuse_repeated(validations: &[Validation], sink: &mut Sink<'_>) {
    for (at, validation) in validations.iter().enumerate() {
        let rule = &validation.rule;
        let mut before = validations[..at].iter();
        if let Some(first) = before.find(|other| other.rule.value == rule.value) {
            let finding = Finding::new(&INVALID_RULE, rule.span, "this rule is listed twice");
            sink.report(finding.related(first.rule.span, "first here"));
        }
    }
}

pub(super) fn constraints(keys: &mut Keys<'_, TypeKey>, sink: &mut Sink<'_>) -> Constraints {
    let mut number = |key: TypeKey| {
        let node = keys.get(key, sink)?;
        match json_of(node) {
            Json::Number(number) => Some(Spanned::new(number, node.span)),
            _ => {
                sink.wrong_type(node, "a number");
                None
            }
        }
    };
    let minimum = number(TypeKey::Minimum);
    let maximum = number(TypeKey::Maximum);
    let multiple_of = number(TypeKey::MultipleOf);
    let is_format = |text: &str| FormatName::parse(text).map(|format| format.as_str().to_owned());
    let format = keys.read(TypeKey::Format, sink, name_of("format", is_format));
    let pattern = keys.read(TypeKey::Pattern, sink, text);
    Constraints {
        format,
        minimum,
        maximum,
        exclusive_minimum: keys.read(TypeKey::ExclusiveMinimum, sink, boolean),
        exclusive_maximum: keys.read(TypeKey::ExclusiveMaximum, sink, boolean),
        multiple_of,
        min_length: keys.integer(TypeKey::MinLength, sink),
        max_length: keys.integer(TypeKey::MaxLength, sink),
        pattern,
        min_items: keys.integer(TypeKey::MinItems, sink),
        max_items: keys.integer(TypeKey::MaxItems, sink),
        min_properties: keys.integer(TypeKey::MinProperties, sink),
        max_properties: keys.integer(TypeKey::MaxProperties, sink),
        one_of: Vec::new(),
    }
}
