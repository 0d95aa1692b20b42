//! The type of a custom resource, after `k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder`: the schema of
//! the CRD becomes an OpenAPI schema, and the metadata that the API server knows itself is filled in.

use super::{Type, openapi};
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// The OpenAPI schemas of ObjectMeta and of what it contains.
const OBJECT_META: &str = include_str!("object_meta.json");
const REFERENCE: &str = "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const ROOT: &str = "custom resource";

pub(super) fn read(schema: Option<&Json>) -> Type {
    let root = match schema {
        // Everything is merged by what it is if nothing is known, `metadata` too.
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

/// Objects within the object have the properties of objects, too.
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

/// Every object has these, whatever its schema says of them.
fn add_object_properties(schema: &mut Json) {
    let string = json!({"type": "string"});
    schema["properties"]["apiVersion"] = string.clone();
    schema["properties"]["kind"] = string;
    schema["properties"]["metadata"] = json!({"$ref": REFERENCE});
}
