//! The built-in types and kinds of Kubernetes, with their schemas in the form that a CRD needs.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde_json::{Value as Json, json};

use super::{KubernetesType, Scope};

/// The types of Kubernetes 1.37, one on each line: see [`BuiltinType`] for the columns. A test writes the file from the
/// schemas of k8s-openapi, which would take the command longer to compile than any other dependency.
static TYPES: &str = include_str!("kubernetes/types.tsv");

/// A built-in type of Kubernetes.
struct BuiltinType {
    /// Group, version and name in the form that descriptions use, `core/v1.Pod`; the group of the types that all groups
    /// share is `meta`.
    reference: &'static str,
    /// For a kind that can be listed: plural and scope.
    resource: Option<(&'static str, Scope)>,
    /// The path of its Rust type.
    rust: &'static str,
    /// Whether the Rust type implements `Default`.
    has_default: bool,
    /// Its schema as JSON, in which `$ref` refers to other types of the file by their `reference`.
    schema: &'static str,
}

impl BuiltinType {
    fn of(line: &'static str) -> Self {
        let mut columns = line.split('\t');
        let mut next = || columns.next().unwrap_or_default();
        let reference = next();
        let resource = match (next(), next()) {
            ("", _) => None,
            (plural, "Cluster") => Some((plural, Scope::Cluster)),
            (plural, _) => Some((plural, Scope::Namespaced)),
        };
        BuiltinType {
            reference,
            resource,
            rust: next(),
            has_default: next() == "default",
            schema: next(),
        }
    }

    /// Group and version.
    fn api(&self) -> (&'static str, &'static str) {
        let (group, rest) = self.reference.split_once('/').unwrap_or_default();
        (group, rest.split('.').next().unwrap_or_default())
    }
}

/// The pattern of quantities in the CRDs of Kubernetes' own projects.
pub const QUANTITY_PATTERN: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

fn all() -> &'static [BuiltinType] {
    static KNOWN: OnceLock<Vec<BuiltinType>> = OnceLock::new();
    KNOWN.get_or_init(|| TYPES.lines().map(BuiltinType::of).collect())
}

fn find(reference: &str) -> Option<&'static BuiltinType> {
    all().iter().find(|known| known.reference == reference)
}

/// Whether a type of that name exists and its schema can be part of a CRD.
pub fn has_type(reference: &KubernetesType) -> bool {
    kubernetes_schema(reference).is_some()
}

/// The names of all types, in the form that descriptions use: `core/v1.PodSpec`.
pub fn references() -> impl Iterator<Item = &'static str> {
    all().iter().map(|known| known.reference)
}

/// The plural and the scope of a built-in kind. The core group is `core`.
pub fn resource(group: &str, version: &str, kind: &str) -> Option<(&'static str, Scope)> {
    find(&format!("{group}/{version}.{kind}")).and_then(|known| known.resource)
}

/// Whether Kubernetes has a built-in API group of that name. The core group is `core`.
pub(crate) fn has_group(group: &str) -> bool {
    listed().any(|known| known.api().0 == group)
}

/// Whether all kinds of this version of the group are known here.
pub(crate) fn has_version(group: &str, version: &str) -> bool {
    listed().any(|known| known.api() == (group, version))
}

/// The built-in kinds, in the form that `owns` and `watches` use, for suggestions.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    listed().map(|known| known.reference)
}

/// The kinds.
fn listed() -> impl Iterator<Item = &'static BuiltinType> {
    all().iter().filter(|known| known.resource.is_some())
}

/// The structural schema of a type, with all references inlined and without descriptions. `None` if there is no such
/// type, or if it is recursive, which the schema of a CRD cannot express.
pub(crate) fn kubernetes_schema(reference: &KubernetesType) -> Option<Json> {
    inlined(&reference.reference(), &mut Vec::new())
}

/// The Rust path of a type: `k8s_openapi::api::core::v1::Pod`.
pub fn rust_path(reference: &KubernetesType) -> Option<&'static str> {
    find(&reference.reference()).map(|known| known.rust)
}

/// Whether the Rust type implements `Default`.
pub fn has_default(reference: &KubernetesType) -> bool {
    find(&reference.reference()).is_some_and(|known| known.has_default)
}

/// The kind of a Rust type, in the form that descriptions use: for `k8s_openapi::api::batch::v1::Job`, `batch/v1.Job`.
pub fn kind_of_rust(path: &str) -> Option<&'static str> {
    static KINDS: OnceLock<BTreeMap<&str, &str>> = OnceLock::new();
    let kinds = KINDS.get_or_init(|| listed().map(|known| (known.rust, known.reference)).collect());
    kinds.get(path).copied()
}

/// The schema of a type. `within` has the types that contain it.
fn inlined(reference: &str, within: &mut Vec<&'static str>) -> Option<Json> {
    let known = find(reference)?;
    if within.contains(&known.reference) {
        return None;
    }
    let mut schema = serde_json::from_str(known.schema).ok()?;
    within.push(known.reference);
    let is_finite = inline(&mut schema, within);
    within.pop();
    is_finite.then_some(schema)
}

/// Replaces the references in a schema by the schemas of their targets. False if a target is a type that contains the
/// schema.
fn inline(schema: &mut Json, within: &mut Vec<&'static str>) -> bool {
    if let Some(reference) = schema.get("$ref").and_then(Json::as_str) {
        let Some(inlined) = inlined(reference, within) else {
            return false;
        };
        *schema = inlined;
        return true;
    }
    match schema {
        Json::Array(items) => items.iter_mut().all(|item| inline(item, within)),
        Json::Object(fields) => fields.values_mut().all(|field| inline(field, within)),
        _ => true,
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

    fn type_of(reference: &str) -> KubernetesType {
        let (group, rest) = reference.split_once('/').unwrap();
        let (version, name) = rest.split_once('.').unwrap();
        KubernetesType {
            group: group.to_owned(),
            version: version.to_owned(),
            name: name.to_owned(),
        }
    }

    fn refers(schema: &Json) -> bool {
        match schema {
            Json::Object(object) => {
                object.get("$ref").is_some_and(Json::is_string) || object.values().any(refers)
            }
            Json::Array(items) => items.iter().any(refers),
            _ => false,
        }
    }

    #[test]
    fn types_without_a_default_are_known() {
        let lacking: Vec<&str> = all()
            .iter()
            .filter(|known| !known.has_default)
            .map(|known| known.reference)
            .collect();
        assert!(
            lacking.contains(&"meta/v1.Time") && lacking.contains(&"meta/v1.Condition"),
            "{lacking:?}"
        );
        assert!(lacking.len() < 20, "{lacking:?}");
    }

    #[test]
    fn the_schema_of_every_type_but_the_recursive_ones_is_whole() {
        let (known, unknown): (Vec<&str>, Vec<&str>) =
            references().partition(|reference| has_type(&type_of(reference)));
        assert!(known.len() > 500, "only {} types", known.len());
        assert_eq!(
            unknown,
            [
                "apiextensions.k8s.io/v1.CustomResourceDefinition",
                "apiextensions.k8s.io/v1.CustomResourceDefinitionSpec",
                "apiextensions.k8s.io/v1.CustomResourceDefinitionVersion",
                "apiextensions.k8s.io/v1.CustomResourceValidation",
                "apiextensions.k8s.io/v1.JSONSchemaProps",
                "apiextensions.k8s.io/v1.JSONSchemaPropsOrArray",
                "apiextensions.k8s.io/v1.JSONSchemaPropsOrBool",
                "apiextensions.k8s.io/v1.JSONSchemaPropsOrStringArray",
            ]
        );
        for reference in known {
            let schema = kubernetes_schema(&type_of(reference));
            assert!(schema.is_some_and(|schema| !refers(&schema)), "{reference}");
        }
    }
}
