//! The type of a custom resource, after `k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder`: the schema of
//! the CRD becomes an OpenAPI schema, and the API server's own schema of metadata is added.

use super::{Type, openapi};
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// The OpenAPI schemas of ObjectMeta and of the types in it.
const OBJECT_META: &str = include_str!("object_meta.json");
const REFERENCE: &str = "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const ROOT: &str = "custom resource";

pub(super) fn read(schema: Option<&Json>) -> Type {
    let root = match schema {
        // Without a schema, all values are merged by their JSON type, including `metadata`.
        None => json!({"type": "object"}),
        Some(schema) => {
            let mut root = schema.clone();
            add_embedded(&mut root);
            add_object_properties(&mut root);
            root
        }
    };
    let meta: Json = serde_json::from_str(OBJECT_META).expect("the definition of ObjectMeta is valid JSON");
    let documents = [meta, json!({"components": {"schemas": {ROOT: root}}})];
    let (arena, names) = openapi::arena(&openapi::components(&documents));
    Type {
        root: names[ROOT],
        arena: Arc::new(arena),
        empty: Arc::new(json!({})),
        versions: None,
    }
}

/// Adds the properties of objects to embedded resources.
fn add_embedded(schema: &mut Json) {
    for key in ["items", "additionalProperties"] {
        if let Some(schema) = schema.get_mut(key) {
            add_embedded(schema);
        }
    }
    let properties = schema.get_mut("properties").and_then(Json::as_object_mut);
    properties
        .into_iter()
        .flatten()
        .for_each(|(_, schema)| add_embedded(schema));
    if schema["x-kubernetes-embedded-resource"] == true {
        add_object_properties(schema);
    }
}

/// Adds the properties of all objects, which replace those in the schema.
fn add_object_properties(schema: &mut Json) {
    let string = json!({"type": "string"});
    schema["properties"]["apiVersion"] = string.clone();
    schema["properties"]["kind"] = string;
    schema["properties"]["metadata"] = json!({"$ref": REFERENCE});
}
