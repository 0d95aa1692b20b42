//! The type of a custom resource, after `k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder`: the schema of
//! the CRD becomes an OpenAPI schema, and the metadata that the API server knows itself is filled in.

use super::{Type, openapi};
use krator_schema::{Items, Properties, Schema};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The OpenAPI schemas of ObjectMeta and of what it contains.
const OBJECT_META: &str = include_str!("object_meta.json");
const REFERENCE: &str = "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const ROOT: &str = "custom resource";

pub(super) fn read(schema: Option<&Schema>) -> Type {
    let root = match schema {
        // Everything is merged by what it is if nothing is known, `metadata` too.
        None => json!({"type": "object"}),
        Some(schema) => {
            let mut root = to_openapi(schema);
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
        versions: Arc::new(BTreeMap::new()),
    }
}

/// The part of a schema that tells the type.
fn to_openapi(schema: &Schema) -> Json {
    let mut out = Map::new();
    let mut set = |key: &str, value: Option<Json>| {
        if let Some(value) = value {
            out.insert(key.to_owned(), value);
        }
    };
    set("type", schema.type_.as_deref().map(Json::from));
    set("format", schema.format.as_deref().map(Json::from));
    set("default", schema.default.clone());
    set(
        "x-kubernetes-list-type",
        schema.list_type.as_deref().map(Json::from),
    );
    set(
        "x-kubernetes-list-map-keys",
        schema.list_map_keys.clone().map(Json::from),
    );
    set(
        "x-kubernetes-map-type",
        schema.map_type.as_deref().map(Json::from),
    );
    set(
        "x-kubernetes-preserve-unknown-fields",
        schema.preserve_unknown_fields.map(Json::from),
    );
    set("items", schema.items.as_ref().and_then(items));
    let properties = |properties: &BTreeMap<String, Schema>| {
        properties
            .iter()
            .map(|(name, schema)| (name.clone(), to_openapi(schema)))
            .collect()
    };
    set("properties", schema.properties.as_ref().map(properties));
    set(
        "additionalProperties",
        schema.additional_properties.as_ref().map(additional),
    );
    let mut out = Json::Object(out);
    if schema.embedded_resource == Some(true) {
        add_object_properties(&mut out);
    }
    out
}

fn items(items: &Items) -> Option<Json> {
    match items {
        Items::All(schema) => Some(to_openapi(schema)),
        // The API server refuses a CRD with this.
        Items::Each(_) => None,
    }
}

fn additional(properties: &Properties) -> Json {
    match properties {
        Properties::Allowed(allowed) => Json::Bool(*allowed),
        Properties::Schema(schema) => to_openapi(schema),
    }
}

/// Every object has these, whatever its schema says of them.
fn add_object_properties(schema: &mut Json) {
    let string = json!({"type": "string"});
    schema["properties"]["apiVersion"] = string.clone();
    schema["properties"]["kind"] = string;
    schema["properties"]["metadata"] = json!({"$ref": REFERENCE});
}
