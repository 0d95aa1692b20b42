//! The keys of a type that constrain its values: limits, schemas of OpenAPI, rules in CEL, and extensions of Kubernetes.

use serde::Deserialize as _;
use serde_json::Value as Json;

use super::bounds::LIMITS;
use super::json::json_of;
use super::keys::Keys;
use super::nodes::{Input, boolean, integer, name, number, text};
use super::sink::Sink;
use crate::catalog::keys::{SectionKey as _, Type, TypeKey, ValidationKey};
use crate::catalog::{INVALID_RULE, INVALID_SCHEMA, WRONG_TYPE};
use crate::finding::{Finding, Spanned};
use crate::model::{Constraints, Shape, Validation};
use crate::names::FormatName;
use crate::text::shown;

/// Whether the shape already implies the extension in the CRD.
pub(super) fn is_implied_by_shape(extension: &str, shape: &Shape) -> bool {
    match extension {
        "x-kubernetes-preserve-unknown-fields" => matches!(shape, Shape::FreeForm | Shape::Any),
        "x-kubernetes-int-or-string" => matches!(shape, Shape::IntOrString),
        _ => false,
    }
}

/// The extensions of Kubernetes and the schemas that are copied to the CRD, in the order of the text.
pub(super) fn extensions(keys: &mut Keys<'_, TypeKey>, sink: &Sink<'_>) -> Vec<(Spanned<String>, Json)> {
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
        let value = json_of(entry.value.node);
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
            extensions.push((Spanned::new(entry.key.to_owned(), entry.key_span), value));
        } else {
            let message = format!("`{}` cannot have this value", entry.key);
            sink.error(&INVALID_SCHEMA, entry.value.span, message);
        }
    }
    extensions.sort_by_key(|(key, _)| key.span.start);
    extensions
}

/// Reads `validations`, of a type or of `spec`.
pub(super) fn validation_list(node: Input<'_>) -> Vec<Validation> {
    Keys::list(node, "a list of rules", |keys| {
        let rule = keys.read(ValidationKey::Rule, text);
        let message = keys.read(ValidationKey::Message, text);
        let message_expression = keys.read(ValidationKey::MessageExpression, text);
        let reason = keys.read(ValidationKey::Reason, text);
        let field_path = keys.read(ValidationKey::FieldPath, text);
        let optional_old_self = keys.read(ValidationKey::OptionalOldSelf, only_true).is_some();
        let known = ValidationKey::Reason.key().value.words();
        if let Some(reason) = reason.as_ref().filter(|reason| !known.contains(&reason.as_str())) {
            let suggestion = node.sink.suggest(reason, known.iter().copied());
            let message = format!("the Kubernetes API has no reason `{}`", shown(reason));
            let finding = Finding::new(&WRONG_TYPE, reason.span, message).did_you_mean(suggestion);
            node.report(finding.help(format!("known: {}", known.join(", "))));
        }
        refuse_lines(message.as_ref(), node.sink);
        Some(Validation {
            rule: rule?,
            message,
            message_expression,
            reason,
            field_path,
            optional_old_self,
        })
    })
}

/// Reports a message that is not a single line, which the API server rejects.
pub(super) fn refuse_lines(message: Option<&Spanned<String>>, sink: &Sink<'_>) {
    let is_no_line = |text: &&Spanned<String>| text.contains('\n') || text.trim().is_empty();
    if let Some(message) = message.filter(is_no_line) {
        sink.error(
            &INVALID_SCHEMA,
            message.span,
            "the message of a rule has to be one line and not empty",
        );
    }
}

/// Reads a key whose only value is `true`.
pub(super) fn only_true(node: Input<'_>) -> Option<()> {
    match node.scalar().and_then(|scalar| scalar.boolean()) {
        Some(true) => Some(()),
        _ => node.mismatch("`true`"),
    }
}

/// Whether a value is a schema of OpenAPI. The API server's rules decide whether it is allowed at this place.
fn is_schema(value: &Json) -> bool {
    value.is_object() && krator_schema::Schema::deserialize(value).is_ok()
}

/// Reports rules that are listed twice: server-side apply identifies a rule by its text, and would refuse the CRD.
pub(super) fn refuse_repeated(validations: &[Validation], sink: &Sink<'_>) {
    for (at, validation) in validations.iter().enumerate() {
        let rule = &validation.rule;
        let mut before = validations[..at].iter();
        if let Some(first) = before.find(|other| other.rule.value == rule.value) {
            let finding = Finding::new(&INVALID_RULE, rule.span, "this rule is listed twice");
            sink.report(finding.related(first.rule.span, "first here"));
        }
    }
}

/// The keys that limit values.
pub(super) fn constraints(keys: &mut Keys<'_, TypeKey>) -> Constraints {
    let limits = LIMITS.iter().filter_map(|(key, _)| {
        let limit = keys.read(*key, |node| {
            Some(match key.key().value {
                Type::Boolean => boolean(node)?.map(Json::from),
                Type::Number(_) => number(node, *key)?.map(Json::from),
                Type::Integer { .. } => integer::<u64>(node, *key)?.map(Json::from),
                Type::Name(_) => {
                    name(node, "format", FormatName::parse)?.map(|format| format.as_str().into())
                }
                _ => text(node)?.map(Json::from),
            })
        });
        Some((key.key().name, limit?))
    });
    Constraints {
        limits: limits.collect(),
        one_of: Vec::new(),
    }
}
