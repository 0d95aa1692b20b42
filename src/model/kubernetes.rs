//! The types and kinds of Kubernetes itself, with their schemas in the form that a CRD needs.

mod known;

use std::{collections::BTreeMap, sync::OnceLock};

use k8s_openapi::schemars::generate::SchemaSettings;
use serde_json::{Map, Value as Json, json};

use super::{KubernetesType, Scope};
use known::{KNOWN, Known};

/// The pattern of quantities in the CRDs of Kubernetes' own projects.
pub const QUANTITY_PATTERN: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

fn all() -> impl Iterator<Item = &'static Known> {
    KNOWN.iter().copied().flatten()
}

fn find(group: &str, version: &str, name: &str) -> Option<&'static Known> {
    all().find(|known| known.name == name && known.version == version && known.group == group)
}

/// Whether a type of that name exists whose schema can be part of a CRD.
pub fn has_type(reference: &KubernetesType) -> bool {
    find(&reference.group, &reference.version, &reference.name)
        .is_some_and(|known| schema_of(known).is_some())
}

/// The names of all types, in the form that descriptions use: `core/v1.PodSpec`.
pub fn references() -> impl Iterator<Item = String> {
    all().map(|known| format!("{}/{}.{}", known.group, known.version, known.name))
}

/// The plural and the scope of a built-in kind. The core group is `core`.
pub fn resource(group: &str, version: &str, kind: &str) -> Option<(&'static str, Scope)> {
    find(group, version, kind).and_then(|known| known.resource)
}

/// Whether Kubernetes has a built-in API group of that name. The core group is `core`.
pub(crate) fn has_group(group: &str) -> bool {
    all().any(|known| known.group == group && known.resource.is_some())
}

/// Whether all kinds of this version of the group are known here.
pub(crate) fn has_version(group: &str, version: &str) -> bool {
    all().any(|known| known.group == group && known.version == version && known.resource.is_some())
}

/// The built-in kinds, in the form that `owns` and `watches` use, for suggestions.
pub fn kinds() -> impl Iterator<Item = String> {
    all()
        .filter(|known| known.resource.is_some())
        .map(|known| format!("{}/{}.{}", known.group, known.version, known.name))
}

/// The structural schema of a type, with all references inlined and without descriptions. `None` if there is no such
/// type, or if it is recursive, which the schema of a CRD cannot express.
pub(crate) fn kubernetes_schema(reference: &KubernetesType) -> Option<Json> {
    find(&reference.group, &reference.version, &reference.name).and_then(schema_of)
}

/// The Rust path of a type: `k8s_openapi::api::core::v1::Pod`.
pub(crate) fn rust_path(reference: &KubernetesType) -> Option<String> {
    let known = find(&reference.group, &reference.version, &reference.name)?;
    // The compiler's name has two more segments: the module of the Kubernetes version, and that of the type's own file.
    let full: Vec<&str> = (known.rust)().split("::").collect();
    let [root, _version, path @ .., _file, name] = full.as_slice() else {
        return None;
    };
    Some(format!("{root}::{}::{name}", path.join("::")))
}

/// Whether the Rust type implements `Default`.
pub(crate) fn has_default(reference: &KubernetesType) -> bool {
    find(&reference.group, &reference.version, &reference.name).is_some_and(|known| known.has_default)
}

/// The kind of a Rust type, in the form that descriptions use: `k8s_openapi::api::batch::v1::Job` is `batch/v1.Job`.
pub(crate) fn kind_of_rust(path: &str) -> Option<String> {
    static KINDS: OnceLock<BTreeMap<String, String>> = OnceLock::new();
    let kinds = KINDS.get_or_init(|| {
        all()
            .filter(|known| known.resource.is_some())
            .filter_map(|known| {
                let reference = KubernetesType {
                    group: known.group.to_owned(),
                    version: known.version.to_owned(),
                    name: known.name.to_owned(),
                };
                Some((rust_path(&reference)?, reference.reference()))
            })
            .collect()
    });
    kinds.get(path).cloned()
}

fn schema_of(known: &'static Known) -> Option<Json> {
    let mut generator = SchemaSettings::openapi3().into_generator();
    let schema = (known.schema)(&mut generator).to_value();
    structural(schema, generator.definitions(), &mut Vec::new())
}

/// Turns a schema of k8s-openapi into a structural one. It follows references itself rather than have schemars inline
/// them, because only the name of the reference distinguishes a quantity from an int-or-string.
fn structural(schema: Json, definitions: &Map<String, Json>, within: &mut Vec<String>) -> Option<Json> {
    let Json::Object(object) = schema else {
        return Some(json!({"x-kubernetes-preserve-unknown-fields": true}));
    };
    let reference = object
        .get("$ref")
        .or_else(|| object.get("allOf")?.get(0)?.get("$ref"))
        .and_then(Json::as_str);
    if let Some(reference) = reference {
        let name = reference.rsplit('/').next().unwrap_or_default();
        if name.ends_with(".resource.Quantity") {
            return Some(json!({
                "anyOf": [{"type": "integer"}, {"type": "string"}],
                "pattern": QUANTITY_PATTERN,
                "x-kubernetes-int-or-string": true,
            }));
        }
        if within.iter().any(|outer| outer == name) {
            return None;
        }
        within.push(name.to_owned());
        let inlined = structural(definitions.get(name)?.clone(), definitions, within);
        within.pop();
        return inlined;
    }
    if object.get("x-kubernetes-int-or-string") == Some(&Json::Bool(true)) {
        return Some(json!({
            "anyOf": [{"type": "integer"}, {"type": "string"}],
            "x-kubernetes-int-or-string": true,
        }));
    }
    let mut out = Map::new();
    for (key, value) in object {
        let value = match (key.as_str(), value) {
            ("description" | "title" | "$schema", _) => continue,
            ("properties", Json::Object(fields)) => {
                let mut inlined = Map::new();
                for (name, field) in fields {
                    inlined.insert(name, structural(field, definitions, within)?);
                }
                Json::Object(inlined)
            }
            ("items" | "additionalProperties", value @ Json::Object(_)) => {
                structural(value, definitions, within)?
            }
            // A structural schema cannot have references inside `oneOf` and similar keywords.
            (_, value) if refers(&value) => return None,
            (_, value) => value,
        };
        out.insert(key, value);
    }
    let is_opaque = out.get("type").is_none_or(|kind| kind == "object")
        && !out.contains_key("properties")
        && !out.contains_key("additionalProperties");
    if is_opaque {
        out.insert("x-kubernetes-preserve-unknown-fields".to_owned(), true.into());
    }
    Some(Json::Object(out))
}

/// Whether a schema contains a reference at any depth.
fn refers(schema: &Json) -> bool {
    match schema {
        Json::Object(object) => {
            object.get("$ref").is_some_and(Json::is_string) || object.values().any(refers)
        }
        Json::Array(items) => items.iter().any(refers),
        _ => false,
    }
}

/// The schema of `.metadata`, to which the paths of printer columns may lead.
pub(crate) fn object_metadata() -> &'static Json {
    static METADATA: OnceLock<Json> = OnceLock::new();
    METADATA.get_or_init(|| {
        let meta = KubernetesType {
            group: "meta".into(),
            version: "v1".into(),
            name: "ObjectMeta".into(),
        };
        kubernetes_schema(&meta).unwrap_or_else(|| json!({}))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_without_a_default_are_known() {
        let lacking: Vec<&str> = all()
            .filter(|known| !known.has_default)
            .map(|known| known.name)
            .collect();
        assert!(
            lacking.contains(&"Time") && lacking.contains(&"Condition"),
            "{lacking:?}"
        );
        assert!(lacking.len() < 20, "{lacking:?}");
    }

    #[test]
    fn no_schema_refers_to_another() {
        let mut carried = 0;
        for known in all() {
            if let Some(schema) = schema_of(known) {
                carried += 1;
                assert!(
                    !refers(&schema),
                    "{}/{}.{}",
                    known.group,
                    known.version,
                    known.name
                );
            }
        }
        assert!(carried > 500, "only {carried} types");
        for name in [
            "JSONSchemaProps",
            "JSONSchemaPropsOrArray",
            "JSONSchemaPropsOrBool",
            "JSONSchemaPropsOrStringArray",
        ] {
            let reference = KubernetesType {
                group: "apiextensions.k8s.io".into(),
                version: "v1".into(),
                name: name.into(),
            };
            assert!(!has_type(&reference), "{name}");
        }
    }
}
