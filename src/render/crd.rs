//! The CustomResourceDefinition of each kind.

mod schema;
mod status;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinition, CustomResourceDefinitionNames,
    CustomResourceDefinitionSpec, CustomResourceDefinitionVersion, CustomResourceSubresourceScale,
    CustomResourceSubresourceStatus, CustomResourceSubresources, CustomResourceValidation, JSONSchemaProps,
    SelectableField,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::yaml;
use crate::model::{Column, Description, Kind, Scope};

pub(super) use schema::{DURATION_PATTERN, schema_of};

/// `deploy/crd.yaml`, with one document for each kind.
pub fn crd(description: &Description) -> String {
    let definitions = description
        .kinds
        .iter()
        .map(|kind| yaml::value(&definition(description, kind)));
    format!(
        "{}{}",
        yaml::HEADER,
        yaml::documents(&definitions.collect::<Vec<_>>())
    )
}

/// The schema of the objects of a kind, as JSON.
pub(crate) fn object_schema(description: &Description, kind: &Kind) -> serde_json::Value {
    // Serialization fails only for maps whose keys are not strings, and a schema has none.
    serde_json::to_value(object(description, kind)).expect("a schema is JSON")
}

fn definition(description: &Description, kind: &Kind) -> CustomResourceDefinition {
    let resource = &kind.resource;
    let name = resource.kind.as_str();
    CustomResourceDefinition {
        metadata: ObjectMeta {
            name: Some(format!("{}.{}", resource.plural.value, resource.group.value)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::testing::{documents, from};
    use serde_json::{Value as Json, json};

    fn thing(spec: &str, more: &str) -> Json {
        let text = format!(
            "krator: 1\nresource: {{group: example.com, version: v1, kind: Thing}}\nspec: {spec}\n\
             machine: {{initial: Ready}}\nstates: {{Ready: {{kind: ready}}}}\n{more}\n"
        );
        let mut documents = documents(&crd(&from(&text)));
        assert_eq!(documents.len(), 1);
        documents.remove(0)
    }

    fn spec(crd: &Json) -> &Json {
        &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    }

    #[test]
    fn a_field_is_required_unless_it_is_optional_or_has_a_default() {
        let types = "types: {Filled: {type: string, default: x}, Empty: {type: string}}";
        let crd = thing(
            "{a: string, b: optional string, c: {type: string, default: x}, d: Filled, e: Empty, f: optional Empty}",
            types,
        );
        assert_eq!(spec(&crd)["required"], json!(["a", "e"]));
        assert_eq!(
            spec(&crd)["properties"]["d"],
            json!({"type": "string", "default": "x"})
        );
    }

    #[test]
    fn keys_beside_a_named_type_override_those_of_the_type() {
        let types = "types: {Short: {type: string, maxLength: 9, description: short, \
                     validations: [{rule: self != 'a'}]}}";
        let crd = thing(
            "{a: {type: Short, maxLength: 3, validations: [{rule: self != 'b'}]}}",
            types,
        );
        let expected = json!({
            "type": "string",
            "maxLength": 3,
            "description": "short",
            "x-kubernetes-validations": [{"rule": "self != 'a'"}, {"rule": "self != 'b'"}],
        });
        assert_eq!(spec(&crd)["properties"]["a"], expected);
    }

    #[test]
    fn strings_that_look_like_other_values_stay_strings() {
        let words = json!(["on", "yes", "null", "1e3", "0o7", "12:30", ""]);
        let crd = thing(&json!({"a": {"enum": words, "default": "on"}}).to_string(), "");
        let expected = json!({"type": "string", "enum": words, "default": "on"});
        assert_eq!(spec(&crd)["properties"]["a"], expected);
    }

    #[test]
    fn a_column_of_the_description_replaces_the_default_column_of_the_same_name() {
        let columns = "columns: [{name: ready, path: .spec.a}, {name: Wide, path: .spec.a, priority: 1}]";
        let crd = thing("{a: boolean}", columns);
        let columns = crd["spec"]["versions"][0]["additionalPrinterColumns"]
            .as_array()
            .unwrap();
        let names: Vec<&str> = columns
            .iter()
            .map(|column| column["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["ready", "Wide", "State", "Age"]);
        assert_eq!(
            columns[1],
            json!({"name": "Wide", "type": "boolean", "jsonPath": ".spec.a", "priority": 1})
        );
    }

    #[test]
    fn validations_are_part_of_the_spec_and_a_new_status_has_no_observed_generation() {
        let crd = thing(
            "{a: string, validations: [{rule: self.a != '', message: no}]}",
            "status: {b: string}",
        );
        assert_eq!(
            spec(&crd)["x-kubernetes-validations"],
            json!([{"rule": "self.a != ''", "message": "no"}])
        );
        let root = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        assert_eq!(root["required"], json!(["spec"]));
        let status = &root["properties"]["status"];
        assert_eq!(status["default"], json!({"observedGeneration": -1}));
        assert_eq!(status["required"], Json::Null);
        assert_eq!(status["properties"]["b"], json!({"type": "string"}));
    }
}
