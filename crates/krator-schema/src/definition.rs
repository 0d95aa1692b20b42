//! The definition of a custom resource in its source form: `CustomResourceDefinitionSpec` of `apiextensions.k8s.io/v1`.

use serde::Deserialize;
use serde_json::Value as Json;

use crate::Schema;

/// The `spec` of a CRD, which may be invalid.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[allow(missing_docs, reason = "the words of the API")]
pub struct Definition {
    pub group: String,
    pub names: Names,
    pub scope: String,
    pub versions: Vec<Version>,
    pub preserve_unknown_fields: Option<bool>,
}

/// The names of the resource.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[allow(missing_docs, reason = "the words of the API")]
pub struct Names {
    pub plural: String,
    pub singular: String,
    pub short_names: Vec<String>,
    pub kind: String,
    pub list_kind: String,
    pub categories: Vec<String>,
}

/// A version of the resource.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[allow(missing_docs, reason = "the words of the API")]
pub struct Version {
    pub name: String,
    pub served: bool,
    pub storage: bool,
    pub deprecated: bool,
    pub deprecation_warning: Option<String>,
    pub schema: Option<VersionSchema>,
    pub subresources: Option<Subresources>,
    pub additional_printer_columns: Vec<Column>,
    pub selectable_fields: Vec<SelectableField>,
}

/// The schema of a version.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct VersionSchema {
    /// The schema of its objects.
    #[serde(rename = "openAPIV3Schema")]
    pub open_api_v3_schema: Option<Schema>,
}

/// The subresources of a version.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "the words of the API")]
pub struct Subresources {
    pub status: Option<Json>,
    pub scale: Option<Scale>,
}

/// The paths of the replicas for the scale subresource.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[allow(missing_docs, reason = "the words of the API")]
pub struct Scale {
    pub spec_replicas_path: String,
    pub status_replicas_path: String,
    pub label_selector_path: Option<String>,
}

/// A printer column.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[allow(missing_docs, reason = "the words of the API")]
pub struct Column {
    pub name: String,
    #[serde(rename = "type")]
    pub type_: String,
    pub format: String,
    pub description: String,
    pub priority: i32,
    pub json_path: String,
}

/// A selectable field.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[allow(missing_docs, reason = "the words of the API")]
pub struct SelectableField {
    pub json_path: String,
}
