//! The schema of a custom resource in the source form of a CRD: `JSONSchemaProps` of `apiextensions.k8s.io/v1`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Number, Value as Json};

/// A schema or a subschema, which may be invalid.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[allow(missing_docs, reason = "OpenAPI's own words")]
pub struct Schema {
    pub id: Option<String>,
    #[serde(rename = "$schema")]
    pub schema: Option<String>,
    #[serde(rename = "$ref")]
    pub reference: Option<String>,
    pub description: Option<String>,
    #[serde(rename = "type")]
    pub type_: Option<String>,
    pub format: Option<String>,
    pub title: Option<String>,
    #[serde(deserialize_with = "present")]
    pub default: Option<Json>,
    pub maximum: Option<Number>,
    pub exclusive_maximum: Option<bool>,
    pub minimum: Option<Number>,
    pub exclusive_minimum: Option<bool>,
    pub max_length: Option<i64>,
    pub min_length: Option<i64>,
    pub pattern: Option<String>,
    pub max_items: Option<i64>,
    pub min_items: Option<i64>,
    pub unique_items: Option<bool>,
    pub multiple_of: Option<Number>,
    #[serde(rename = "enum")]
    pub enum_: Option<Vec<Json>>,
    pub max_properties: Option<i64>,
    pub min_properties: Option<i64>,
    pub required: Option<Vec<String>>,
    pub items: Option<Items>,
    pub all_of: Option<Vec<Schema>>,
    pub one_of: Option<Vec<Schema>>,
    pub any_of: Option<Vec<Schema>>,
    pub not: Option<Box<Schema>>,
    pub properties: Option<BTreeMap<String, Schema>>,
    pub additional_properties: Option<Properties>,
    pub pattern_properties: Option<BTreeMap<String, Schema>>,
    pub dependencies: Option<BTreeMap<String, Json>>,
    pub additional_items: Option<Properties>,
    pub definitions: Option<BTreeMap<String, Schema>>,
    #[serde(deserialize_with = "present")]
    pub example: Option<Json>,
    pub nullable: Option<bool>,
    #[serde(rename = "x-kubernetes-preserve-unknown-fields")]
    pub preserve_unknown_fields: Option<bool>,
    #[serde(rename = "x-kubernetes-embedded-resource")]
    pub embedded_resource: Option<bool>,
    #[serde(rename = "x-kubernetes-int-or-string")]
    pub int_or_string: Option<bool>,
    #[serde(rename = "x-kubernetes-list-map-keys")]
    pub list_map_keys: Option<Vec<String>>,
    #[serde(rename = "x-kubernetes-list-type")]
    pub list_type: Option<String>,
    #[serde(rename = "x-kubernetes-map-type")]
    pub map_type: Option<String>,
    #[serde(rename = "x-kubernetes-validations")]
    pub validations: Option<Vec<Rule>>,
}

/// `items`: one schema for all items, or one for each, which the API server refuses.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Items {
    /// One schema for all items.
    All(Box<Schema>),
    /// One schema for each item.
    Each(Vec<Schema>),
}

/// `additionalProperties`: a schema for the values, or whether other properties are allowed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Properties {
    /// Whether other properties are allowed.
    Allowed(bool),
    /// The schema of the other properties.
    Schema(Box<Schema>),
}

/// A CEL rule of `x-kubernetes-validations`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[allow(missing_docs, reason = "the words of the API")]
pub struct Rule {
    pub rule: String,
    pub message: Option<String>,
    pub message_expression: Option<String>,
    pub reason: Option<String>,
    pub field_path: Option<String>,
    pub optional_old_self: Option<bool>,
}

/// Reads a present value, which may be `null`: `default: null` is a default.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}
