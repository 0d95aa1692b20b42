//! The CustomResourceDefinition of each kind, as a value: the manifests, the samples and the rules about schemas are made from it.

mod place;
mod schema;
mod status;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinition, CustomResourceDefinitionNames,
    CustomResourceDefinitionSpec, CustomResourceDefinitionVersion, CustomResourceSubresourceScale,
    CustomResourceSubresourceStatus, CustomResourceSubresources, CustomResourceValidation, JSONSchemaProps,
    SelectableField,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::model::{Column, Description, Kind, Scope};

pub(crate) use place::{place, rules_of, type_of_value};
pub(crate) use schema::{DURATION_PATTERN, schema_of};

/// The schema of the objects of a kind, as JSON.
pub(crate) fn object_schema(description: &Description, kind: &Kind) -> serde_json::Value {
    // Serialization fails only for maps whose keys are not strings, and a schema has none.
    serde_json::to_value(object(description, kind)).expect("a schema is JSON")
}

/// A part of a CRD as the API server reads it: a whole `spec`, or a schema.
pub(crate) fn as_read<T: DeserializeOwned>(written: &impl Serialize) -> T {
    // Serialization fails only for maps whose keys are not strings, and both sides have the names of the API.
    let written = serde_json::to_value(written).expect("a CRD is JSON");
    serde_json::from_value(written).expect("a CRD is one of the API")
}

/// The annotation without which the API server refuses definitions in groups of Kubernetes.
pub(crate) const API_APPROVED: &str = "api-approved.kubernetes.io";

/// The definition of a kind.
pub(crate) fn definition(description: &Description, kind: &Kind) -> CustomResourceDefinition {
    let resource = &kind.resource;
    let name = resource.kind.as_str();
    CustomResourceDefinition {
        metadata: ObjectMeta {
            name: Some(format!("{}.{}", resource.plural.value, resource.group.value)),
            annotations: resource
                .api_approved
                .as_ref()
                .map(|approval| [(API_APPROVED.to_owned(), approval.value.clone())].into()),
            ..ObjectMeta::default()
        },
        spec: CustomResourceDefinitionSpec {
            group: resource.group.to_string(),
            names: CustomResourceDefinitionNames {
                kind: name.to_owned(),
                list_kind: Some(format!("{name}List")),
                plural: resource.plural.to_string(),
                singular: Some(resource.singular.to_string()),
                short_names: some(resource.short_names.iter().map(|name| name.to_string()).collect()),
                categories: some(
                    resource
                        .categories
                        .iter()
                        .map(|category| category.to_string())
                        .collect(),
                ),
            },
            scope: match resource.scope.value {
                Scope::Namespaced => "Namespaced",
                Scope::Cluster => "Cluster",
            }
            .to_owned(),
            versions: vec![version(description, kind)],
            ..CustomResourceDefinitionSpec::default()
        },
        status: None,
    }
}

fn version(description: &Description, kind: &Kind) -> CustomResourceDefinitionVersion {
    let resource = &kind.resource;
    let selectable = |path: &crate::model::FieldPath| SelectableField {
        json_path: path.to_string(),
    };
    CustomResourceDefinitionVersion {
        name: resource.version.to_string(),
        served: true,
        storage: true,
        schema: Some(CustomResourceValidation {
            open_api_v3_schema: Some(object(description, kind)),
        }),
        additional_printer_columns: Some(columns(kind)),
        selectable_fields: some(
            resource
                .selectable_fields
                .iter()
                .map(|path| selectable(path))
                .collect(),
        ),
        subresources: Some(CustomResourceSubresources {
            status: Some(CustomResourceSubresourceStatus(serde_json::json!({}))),
            scale: resource
                .scale
                .as_ref()
                .map(|scale| CustomResourceSubresourceScale {
                    spec_replicas_path: scale.spec.to_string(),
                    status_replicas_path: scale.status.to_string(),
                    label_selector_path: scale.selector.as_ref().map(|path| path.to_string()),
                }),
        }),
        ..CustomResourceDefinitionVersion::default()
    }
}

fn object(description: &Description, kind: &Kind) -> JSONSchemaProps {
    let mut spec = schema_of(description, &kind.spec);
    spec.description
        .get_or_insert_with(|| "The desired state of this object.".to_owned());
    JSONSchemaProps {
        type_: Some("object".to_owned()),
        description: kind.doc.as_ref().map(|doc| doc.value.trim().to_owned()),
        properties: Some(
            [
                ("spec".to_owned(), spec),
                ("status".to_owned(), status::schema(description, kind)),
            ]
            .into(),
        ),
        required: Some(vec!["spec".to_owned()]),
        ..JSONSchemaProps::default()
    }
}

/// The columns of the description, then those that every kind has, except where the description uses the same name.
fn columns(kind: &Kind) -> Vec<CustomResourceColumnDefinition> {
    let defaults = [
        ("State", "string", ".status.state"),
        (
            "Ready",
            "string",
            r#".status.conditions[?(@.type=="Ready")].status"#,
        ),
        ("Message", "string", ".status.message"),
        ("Age", "date", ".metadata.creationTimestamp"),
    ];
    let is_taken = |name: &str| {
        kind.columns
            .iter()
            .any(|column| column.name.as_str().eq_ignore_ascii_case(name))
    };
    let ours = defaults
        .into_iter()
        .filter(|(name, ..)| !is_taken(name))
        .map(|(name, type_, path)| CustomResourceColumnDefinition {
            name: name.to_owned(),
            type_: type_.to_owned(),
            json_path: path.to_owned(),
            ..CustomResourceColumnDefinition::default()
        });
    kind.columns.iter().map(column).chain(ours).collect()
}

fn column(column: &Column) -> CustomResourceColumnDefinition {
    CustomResourceColumnDefinition {
        name: column.name.to_string(),
        type_: column.column_type.as_str().to_owned(),
        json_path: column.path.to_string(),
        // The API's number is signed. No priority of that size makes a difference.
        priority: (column.priority > 0).then(|| i32::try_from(column.priority).unwrap_or(i32::MAX)),
        description: column.description.as_ref().map(|text| text.value.clone()),
        ..CustomResourceColumnDefinition::default()
    }
}

/// `None` for an empty list, so that it is left out.
fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}
