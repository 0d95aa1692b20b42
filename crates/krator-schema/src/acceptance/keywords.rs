//! Validates keywords and their values, whether or not the schema is structural: the function
//! `ValidateCustomResourceDefinitionOpenAPISchema`.

use serde_json::Value as Json;

use super::problems::Problems;
use super::{field_path, structural};
use crate::schema::{Items, Properties};
use crate::{Path, Problem, ProblemKind, Rule, Schema};

/// Validates the keywords at the root of a schema.
pub(super) fn validate_root(schema: &Schema, path: &Path) -> Option<Problem> {
    (schema.nullable == Some(true)).then(|| {
        Problem::new(
            path.field("nullable"),
            ProblemKind::Forbidden,
            "nullable cannot be true at the root",
        )
    })
}

/// With a status subresource, the status is validated only by its own subschema, so most keywords are forbidden at the
/// root.
pub(super) fn validate_root_with_status(schema: &Schema, path: &Path) -> Option<Problem> {
    let text = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    // Only the first problem is reported; these keywords are checked before the type.
    let forbidden = text(&schema.id) || text(&schema.schema) || schema.reference.is_some();
    if !forbidden && text(&schema.type_) && schema.type_.as_deref() != Some("object") {
        return Some(Problem::new(
            path.field("type"),
            ProblemKind::Invalid,
            "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled",
        ));
    }
    let forbidden = forbidden
        || schema.nullable == Some(true)
        || schema.default_value().is_some()
        || schema.max_properties.is_some()
        || schema.min_properties.is_some()
        || schema.enum_.is_some()
        || schema.all_of.is_some()
        || schema.one_of.is_some()
        || schema.any_of.is_some()
        || schema.not.is_some()
        || schema.additional_properties.is_some()
        || schema.pattern_properties.is_some()
        || schema.dependencies.is_some()
        || schema.additional_items.is_some()
        || schema.definitions.is_some()
        || schema.is_embedded()
        || schema.int_or_string == Some(true)
        || schema.list_map_keys.is_some()
        || schema.list_type.is_some()
        || schema.map_type.is_some();
    forbidden.then(|| {
        Problem::new(
            path,
            ProblemKind::Invalid,
            "only what describes values is allowed at the root of the schema if the status subresource is enabled",
        )
    })
}

/// Validates the keywords of a schema and of the schemas within it.
pub(super) fn validate(schema: &Schema, path: &Path) -> Vec<Problem> {
    let mut found = Problems::default();
    found.schema(
        schema,
        path,
        Place {
            root: true,
            ..Place::default()
        },
    );
    found.0
}

/// The context of a schema inside another one.
#[derive(Debug, Clone, Default)]
struct Place {
    root: bool,
    /// Whether the schema is inside `apiVersion`, `kind` or `metadata` of an object.
    in_meta: bool,
    /// The reason why a default is forbidden.
    no_default: Option<String>,
}

impl Problems {
    fn schema(&mut self, schema: &Schema, path: &Path, place: Place) {
        self.unsupported(schema, path, &place);
        if schema.unique_items == Some(true) {
            self.forbidden(
                path,
                "uniqueItems",
                "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
            );
        }
        self.children(schema, path, &place);
        if schema.preserve_unknown_fields == Some(false) {
            self.add(
                &path.field("x-kubernetes-preserve-unknown-fields"),
                ProblemKind::Invalid,
                "must be true or undefined",
            );
        }
        self.map_type(schema, path);
        self.list_type(schema, path);
        for (index, rule) in schema.validations.iter().flatten().enumerate() {
            self.rule(rule, schema, &path.field("x-kubernetes-validations").index(index));
        }
    }

    fn unsupported(&mut self, schema: &Schema, path: &Path, place: &Place) {
        let type_ = schema.type_.as_deref().unwrap_or_default();
        const TYPES: [&str; 7] = ["", "array", "boolean", "integer", "number", "object", "string"];
        if !TYPES.contains(&type_) {
            self.add(
                &path.field("type"),
                ProblemKind::NotSupported,
                format!("supported values: {}", TYPES[1..].join(", ")),
            );
        }
        if schema.default_value().is_some()
            && let Some(reason) = &place.no_default
        {
            self.forbidden(path, "default", &format!("must not be set {reason}"));
        }
        let map = |empty: Option<bool>| empty == Some(false);
        for (keyword, set) in [
            ("id", schema.id.as_ref().is_some_and(|id| !id.is_empty())),
            ("additionalItems", schema.additional_items.is_some()),
            (
                "patternProperties",
                map(schema.pattern_properties.as_ref().map(|map| map.is_empty())),
            ),
            (
                "definitions",
                map(schema.definitions.as_ref().map(|map| map.is_empty())),
            ),
            ("dependencies", schema.dependencies.is_some()),
            ("$ref", schema.reference.is_some()),
        ] {
            if set {
                self.forbidden(path, keyword, &format!("{keyword} is not supported"));
            }
        }
        if type_ == "null" {
            self.forbidden(
                path,
                "type",
                "type cannot be set to null, use nullable as an alternative",
            );
        }
        if matches!(&schema.items, Some(Items::Each(items)) if !items.is_empty()) {
            self.forbidden(path, "items", "items must be a schema object and not an array");
        }
        if place.in_meta && schema.is_embedded() {
            self.forbidden(
                path,
                "x-kubernetes-embedded-resource",
                "must not be used inside of resource meta",
            );
        }
    }

    fn children(&mut self, schema: &Schema, path: &Path, place: &Place) {
        let inner = Place {
            root: false,
            ..place.clone()
        };
        if let Some(additional) = &schema.additional_properties {
            let declares = schema
                .properties
                .as_ref()
                .is_some_and(|properties| !properties.is_empty());
            if declares && !matches!(additional, Properties::Allowed(true)) {
                self.forbidden(
                    path,
                    "additionalProperties",
                    "additionalProperties and properties are mutual exclusive",
                );
            }
            if let Properties::Schema(values) = additional {
                let mut inner = inner.clone();
                if place.in_meta {
                    inner.no_default =
                        Some("inside additionalProperties applying to object metadata".to_string());
                }
                self.schema(values, &path.field("additionalProperties"), inner);
            }
        }
        for (name, property) in schema.properties.iter().flatten() {
            let mut inner = inner.clone();
            if (place.root || schema.is_embedded())
                && matches!(name.as_str(), "metadata" | "kind" | "apiVersion")
            {
                inner.in_meta = true;
                if place.root {
                    inner.no_default = Some(format!("in top-level {name}"));
                }
            }
            self.schema(property, &path.field("properties").key(name), inner);
        }
        if let Some(not) = &schema.not {
            self.schema(not, &path.field("not"), inner.clone());
        }
        for (keyword, parts) in [
            ("allOf", &schema.all_of),
            ("oneOf", &schema.one_of),
            ("anyOf", &schema.any_of),
        ] {
            for (index, part) in parts.iter().flatten().enumerate() {
                self.schema(part, &path.field(keyword).index(index), inner.clone());
            }
        }
        for (name, part) in schema.definitions.iter().flatten() {
            self.schema(part, &path.field("definitions").key(name), inner.clone());
        }
        match &schema.items {
            Some(Items::All(item)) => self.schema(item, &path.field("items"), inner.clone()),
            Some(Items::Each(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.schema(item, &path.field("items").index(index), inner.clone());
                }
            }
            None => {}
        }
        for (name, part) in schema.dependencies.iter().flatten() {
            if let Json::Object(_) = part
                && let Ok(part) = serde_json::from_value::<Schema>(part.clone())
            {
                self.schema(&part, &path.field("dependencies").key(name), inner.clone());
            }
        }
    }

    /// Validates a rule without compiling its CEL.
    fn rule(&mut self, rule: &Rule, schema: &Schema, path: &Path) {
        let line_breaks = |text: &str| text.contains(['\n', '\r']);
        let expression = trim(&rule.rule);
        let message = rule.message.as_deref().unwrap_or_default();
        let at = path.field("message");
        if expression.is_empty() {
            self.add(
                &path.field("rule"),
                ProblemKind::Required,
                "rule is not specified",
            );
        } else if !message.is_empty() && trim(message).is_empty() {
            self.add(&at, ProblemKind::Invalid, "must be non-empty if specified");
        } else if line_breaks(trim(message)) {
            self.add(&at, ProblemKind::Invalid, "must not contain line breaks");
        } else if line_breaks(expression) && trim(message).is_empty() {
            self.add(
                &at,
                ProblemKind::Required,
                "message must be specified if rule contains line breaks",
            );
        }
        let expression = rule.message_expression.as_deref().unwrap_or_default();
        if !expression.is_empty() && trim(expression).is_empty() {
            self.add(
                &path.field("messageExpression"),
                ProblemKind::Required,
                "messageExpression must be non-empty if specified",
            );
        }
        const REASONS: [&str; 4] = [
            "FieldValueDuplicate",
            "FieldValueForbidden",
            "FieldValueInvalid",
            "FieldValueRequired",
        ];
        if rule
            .reason
            .as_deref()
            .is_some_and(|reason| !REASONS.contains(&reason))
        {
            self.add(
                &path.field("reason"),
                ProblemKind::NotSupported,
                format!("supported values: {}", REASONS.join(", ")),
            );
        }
        let field = rule.field_path.as_deref().unwrap_or_default();
        if field.is_empty() {
            return;
        }
        let at = path.field("fieldPath");
        if trim(field).is_empty() {
            self.add(&at, ProblemKind::Invalid, "must be non-empty if specified");
        }
        if line_breaks(field) {
            self.add(&at, ProblemKind::Invalid, "must not contain line breaks");
        }
        if structural::unsupported(schema).is_none() && field_path::resolve(field, schema, true).is_err() {
            self.add(&at, ProblemKind::Invalid, "must be a valid path");
        }
    }
}

/// Removes white space at both ends, like Go.
fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace())
}
