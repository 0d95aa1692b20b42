//! OpenAPI v3 documents: recorded ones for the builtin kinds, and generated ones for custom resources, after
//! `pkg/controller/openapi/builder` of `k8s.io/apiextensions-apiserver`.

use crate::{
    builtin,
    kinds::{Kind, Kinds, Origin, api_version},
};
use serde_json::{Map, Value as Json, json};

/// The media type of OpenAPI v2 that kubectl reads.
pub(crate) const PROTOBUF_V2: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/// A document of OpenAPI v2 without kinds, as protobuf: `swagger` is field 1, `info` is field 2 with its `title`.
/// kubectl reads it only for kinds without a v3 document, such as `List`, and then skips its own validation.
pub(crate) const EMPTY_V2: &str = "\n\u{3}2.0\u{12}\u{c}\n\nKubernetes";

/// Whether a client requests OpenAPI v2 as protobuf.
pub(crate) fn is_protobuf(accept: &str) -> bool {
    accept.contains("proto-openapi.spec.v2")
}

/// The path of the document of a group version, below `/openapi/v3/`.
fn path_of(group: &str, version: &str) -> String {
    if group.is_empty() {
        format!("api/{version}")
    } else {
        format!("apis/{group}/{version}")
    }
}

/// The list of documents.
pub(crate) fn index(kinds: &Kinds) -> Json {
    let mut paths = Map::new();
    for kind in kinds.iter() {
        let path = path_of(&kind.group, &kind.version);
        let url = format!("/openapi/v3/{path}");
        paths.insert(path, json!({"serverRelativeURL": url}));
    }
    json!({"paths": paths})
}

/// A document, such as that at `apis/apps/v1`; `None` if it does not exist.
pub(crate) fn document(kinds: &Kinds, path: &str) -> Option<Json> {
    let parts: Vec<&str> = path.split('/').collect();
    let (group, version) = match parts.as_slice() {
        ["api", version] => ("", *version),
        ["apis", group, version] => (*group, *version),
        _ => return None,
    };
    if let Some(document) = builtin::openapi(&api_version(group, version)) {
        return Some(document.clone());
    }
    let served: Vec<&Kind> = kinds
        .iter()
        .filter(|kind| kind.group == group && kind.version == version)
        .map(AsRef::as_ref)
        .collect();
    (!served.is_empty()).then(|| custom(&served))
}

/// The document of a group version of custom resources.
fn custom(kinds: &[&Kind]) -> Json {
    let mut document = builtin::openapi("coordination.k8s.io/v1")
        .cloned()
        .unwrap_or_default();
    let is_meta = |name: &String| name.starts_with("io.k8s.apimachinery.");
    let mut schemas = document["components"]["schemas"]
        .as_object()
        .cloned()
        .unwrap_or_default();
    schemas.retain(|name, _| is_meta(name));
    let mut paths = Map::new();
    for kind in kinds {
        let names = (schema_name(kind, &kind.kind), schema_name(kind, &kind.list_kind));
        schemas.insert(names.0.clone(), schema_of(kind));
        schemas.insert(names.1.clone(), list_schema(kind, &names.0));
        paths.extend(paths_of(kind, &names.0, &names.1));
    }
    document["paths"] = Json::Object(paths);
    document["components"]["schemas"] = Json::Object(schemas);
    document
}

/// The name of a schema, such as `com.example.v1.Moose`: the reversed group, the version and the kind.
fn schema_name(kind: &Kind, name: &str) -> String {
    let group: Vec<&str> = kind.group.rsplit('.').collect();
    format!("{}.{}.{name}", group.join("."), kind.version)
}

fn gvk(kind: &Kind, name: &str) -> Json {
    json!({"group": kind.group, "version": kind.version, "kind": name})
}

const API_VERSION: &str = "APIVersion defines the versioned schema of this representation of an object. Servers should \
    convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: \
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";
const KIND: &str = "Kind is a string value representing the REST resource this object represents. Servers may infer this \
    from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: \
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";
const METADATA: &str = "Standard object's metadata. More info: \
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

fn schema_of(kind: &Kind) -> Json {
    let Origin::Custom(custom, _) = &kind.origin else {
        return Json::Null;
    };
    let mut schema = custom.written.clone();
    if !schema.is_object() {
        schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    }
    let properties = crate::object::fields_mut(
        crate::object::fields_mut(&mut schema)
            .entry("properties")
            .or_insert_with(|| json!({})),
    );
    properties.insert(
        "apiVersion".to_owned(),
        json!({"description": API_VERSION, "type": "string"}),
    );
    properties.insert("kind".to_owned(), json!({"description": KIND, "type": "string"}));
    let meta = "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
    properties.insert(
        "metadata".to_owned(),
        json!({"description": METADATA, "allOf": [{"$ref": meta}]}),
    );
    schema["x-kubernetes-group-version-kind"] = json!([gvk(kind, &kind.kind)]);
    schema
}

fn list_schema(kind: &Kind, item: &str) -> Json {
    let meta = "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";
    json!({
        "description": format!("{} is a list of {}", kind.list_kind, kind.kind),
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": {"description": API_VERSION, "type": "string"},
            "kind": {"description": KIND, "type": "string"},
            "metadata": {"description": METADATA, "allOf": [{"$ref": meta}]},
            "items": {
                "description": format!("List of {}. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md", kind.id.resource),
                "type": "array",
                "items": {"allOf": [{"$ref": format!("#/components/schemas/{item}")}]},
            },
        },
        "x-kubernetes-group-version-kind": [gvk(kind, &kind.list_kind)],
    })
}

/// The paths of a kind, with the parts that kubectl reads: the kind, and the parameters of each action.
fn paths_of(kind: &Kind, one: &str, many: &str) -> Vec<(String, Json)> {
    let base = format!("/apis/{}/{}", kind.group, kind.version);
    let place = if kind.namespaced {
        "/namespaces/{namespace}"
    } else {
        ""
    };
    let parameter =
        |name: &str| json!({"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": true}});
    let action = |action: &str, schema: &str, parameters: &[&str]| {
        json!({
            "parameters": parameters.iter().map(|name| parameter(name)).collect::<Vec<_>>(),
            "responses": {"200": {
                "description": "OK",
                "content": {"application/json": {"schema": {"$ref": format!("#/components/schemas/{schema}")}}},
            }},
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": gvk(kind, &kind.kind),
        })
    };
    let writing = ["dryRun", "fieldManager", "fieldValidation"];
    let listing = [
        "labelSelector",
        "fieldSelector",
        "limit",
        "continue",
        "resourceVersion",
        "watch",
    ];
    let all = json!({
        "get": action("list", many, &listing),
        "post": action("post", one, &writing),
        "delete": action("deletecollection", one, &listing),
    });
    let single = json!({
        "get": action("get", one, &[]),
        "put": action("put", one, &writing),
        "patch": action("patch", one, &["dryRun", "fieldManager", "fieldValidation", "force"]),
        "delete": action("delete", one, &["dryRun", "propagationPolicy"]),
    });
    let resource = &kind.id.resource;
    vec![
        (format!("{base}{place}/{resource}"), all),
        (format!("{base}{place}/{resource}/{{name}}"), single),
    ]
}
