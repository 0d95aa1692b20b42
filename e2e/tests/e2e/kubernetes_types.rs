//! The types of Kubernetes itself, as listed for krator's command in
//! `crates/krator-language/src/model/kubernetes/types.tsv`.
//!
//! Each line is derived from a Rust type of k8s-openapi: the compiler proves that the type exists, and it provides the
//! plural and scope of a kind, the path of the type and its schema. `KRATOR_UPDATE=1 cargo test kubernetes_types`
//! rewrites the file, for example for a new version of Kubernetes.

mod table;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use k8s_openapi::schemars::generate::SchemaSettings;
use k8s_openapi::schemars::{Schema, SchemaGenerator};
use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use serde_json::{Map, Value as Json, json};

use crate::case_file::is_update;
use table::KNOWN;

/// A type of Kubernetes' own.
struct BuiltinType {
    /// API group; the groups without a name are `core` and `meta`.
    group: &'static str,
    version: &'static str,
    name: &'static str,
    /// The name by which other schemas refer to it.
    schema_name: fn() -> Cow<'static, str>,
    /// Its schema from k8s-openapi.
    schema: fn(&mut SchemaGenerator) -> Schema,
    /// The full name of its Rust type, including private modules.
    rust: fn() -> &'static str,
    /// Whether the Rust type implements `Default`.
    has_default: bool,
    /// For a kind that can be listed: plural and scope.
    resource: Option<(&'static str, &'static str)>,
}

impl BuiltinType {
    fn reference(&self) -> String {
        format!("{}/{}.{}", self.group, self.version, self.name)
    }

    /// The path of the type in code. The compiler's name has two more segments: the module of the Kubernetes version,
    /// and that of the type's own file.
    fn rust_path(&self) -> String {
        let full: Vec<&str> = (self.rust)().split("::").collect();
        let [root, _version, path @ .., _file, name] = full.as_slice() else {
            panic!("{full:?}");
        };
        format!("{root}::{}::{name}", path.join("::"))
    }

    /// Its line, with the columns of `BuiltinType` in `crates/krator-language/src/model/kubernetes.rs`.
    fn line(&self, references: &BTreeMap<String, String>) -> String {
        let mut generator = SchemaSettings::openapi3().into_generator();
        let schema = (self.schema)(&mut generator).to_value();
        let schema = structural(schema, generator.definitions(), references);
        // Drops keywords that a CRD cannot contain, and sorts the keys as in the API's own types.
        let schema: JSONSchemaProps = serde_json::from_value(schema).expect("a schema of a CRD");
        let (plural, scope) = self.resource.unwrap_or_default();
        let default = if self.has_default { "default" } else { "" };
        [
            self.reference(),
            plural.to_owned(),
            scope.to_owned(),
            self.rust_path(),
            default.to_owned(),
            serde_json::to_string(&schema).expect("JSON"),
        ]
        .join("\t")
    }
}

/// Turns a schema of k8s-openapi into a structural one, whose references point to other types of the file.
fn structural(schema: Json, definitions: &Map<String, Json>, references: &BTreeMap<String, String>) -> Json {
    let Json::Object(object) = schema else {
        return json!({"x-kubernetes-preserve-unknown-fields": true});
    };
    let reference = object
        .get("$ref")
        .or_else(|| object.get("allOf")?.get(0)?.get("$ref"))
        .and_then(Json::as_str);
    if let Some(reference) = reference {
        let name = reference.rsplit('/').next().unwrap_or_default();
        if name.ends_with(".resource.Quantity") {
            return json!({
                "anyOf": [{"type": "integer"}, {"type": "string"}],
                "pattern": krator::model::kubernetes::QUANTITY_PATTERN,
                "x-kubernetes-int-or-string": true,
            });
        }
        return match references.get(name) {
            Some(reference) => json!({"$ref": reference}),
            None => structural(definitions[name].clone(), definitions, references),
        };
    }
    if object.get("x-kubernetes-int-or-string") == Some(&Json::Bool(true)) {
        return json!({
            "anyOf": [{"type": "integer"}, {"type": "string"}],
            "x-kubernetes-int-or-string": true,
        });
    }
    let mut out = Map::new();
    for (key, value) in object {
        let value = match (key.as_str(), value) {
            ("description" | "title" | "$schema", _) => continue,
            ("properties", Json::Object(fields)) => fields
                .into_iter()
                .map(|(name, field)| (name, structural(field, definitions, references)))
                .collect(),
            ("items" | "additionalProperties", value @ Json::Object(_)) => {
                structural(value, definitions, references)
            }
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
    Json::Object(out)
}

#[test]
fn the_types_are_those_of_the_command() {
    let known = || KNOWN.iter().copied().flatten();
    let references: BTreeMap<String, String> = known()
        .map(|known| ((known.schema_name)().into_owned(), known.reference()))
        .collect();
    let now: String = known().map(|known| known.line(&references) + "\n").collect();
    let path = krator_tests::root().join("crates/krator-language/src/model/kubernetes/types.tsv");
    if is_update(&path) {
        std::fs::write(&path, &now).expect("a folder of our own");
    }
    let then = std::fs::read_to_string(&path).expect("the file is there");
    let differ: Vec<_> = now
        .lines()
        .filter(|line| !then.lines().any(|other| other == *line))
        .collect();
    assert!(
        now == then,
        "`KRATOR_UPDATE=1 cargo test kubernetes_types` rewrites these lines of the file, and removes those of types that are \
         gone:\n{}",
        differ.join("\n")
    );
}

/// Types of single values, whose schemas are inlined.
const SINGLE_VALUES: [&str; 3] = [
    "io.k8s.apimachinery.pkg.api.resource.Quantity",
    "io.k8s.apimachinery.pkg.runtime.RawExtension",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
];

/// A new version of Kubernetes has new types, which the table has to list: the types of fields in the table's types,
/// and the kinds of the embedded server.
#[test]
fn the_table_names_every_type() {
    let known = || KNOWN.iter().copied().flatten();
    let names: BTreeSet<String> = known().map(|known| (known.schema_name)().into_owned()).collect();
    let references: BTreeSet<String> = known().map(BuiltinType::reference).collect();
    let mut missing = BTreeSet::new();
    for known in known() {
        let mut generator = SchemaSettings::openapi3().into_generator();
        (known.schema)(&mut generator);
        let used = generator.definitions().keys();
        let unnamed = used.filter(|name| !names.contains(*name) && !SINGLE_VALUES.contains(&name.as_str()));
        missing.extend(unnamed.cloned());
    }
    for kind in krator_apiserver::builtin::kinds() {
        let group = if kind.group.is_empty() {
            "core"
        } else {
            &kind.group
        };
        let reference = format!("{group}/{}.{}", kind.version, kind.kind);
        if !references.contains(&reference) {
            missing.insert(reference);
        }
    }
    assert!(
        missing.is_empty(),
        "e2e/tests/e2e/kubernetes_types/table.rs does not name {missing:#?}"
    );
}

#[test]
fn the_embedded_server_has_every_kind_that_descriptions_may_name() {
    let kinds = KNOWN
        .iter()
        .copied()
        .flatten()
        .filter(|known| known.resource.is_some());
    let served = |known: &BuiltinType| {
        krator_apiserver::builtin::kinds().iter().any(|kind| {
            let group = if kind.group.is_empty() {
                "core"
            } else {
                &kind.group
            };
            (group, kind.version.as_str(), kind.kind.as_str()) == (known.group, known.version, known.name)
        })
    };
    let missing: Vec<String> = kinds
        .filter(|known| !served(known))
        .map(BuiltinType::reference)
        .collect();
    assert!(missing.is_empty(), "not served: {missing:?}");
}

trait HasScope {
    const SCOPE: &'static str;
}

impl HasScope for ClusterResourceScope {
    const SCOPE: &'static str = "Cluster";
}

impl HasScope for NamespaceResourceScope {
    const SCOPE: &'static str = "Namespaced";
}

/// Detects whether a type implements `Default`: if so, the constant of the `impl` block takes precedence over that of
/// the trait.
struct Probe<T>(std::marker::PhantomData<T>);

trait HasNoDefault {
    const HAS_DEFAULT: bool = false;
}

impl<T> HasNoDefault for Probe<T> {}

impl<T: Default> Probe<T> {
    const HAS_DEFAULT: bool = true;
}

macro_rules! known {
    ($($module:ident = $group:literal, $version:literal:
        kinds {$($kind:ident,)*}
        types {$($type:ident,)*}
    )*) => {
        /// All types, in one slice for each group and version.
        pub(super) static KNOWN: &[&[BuiltinType]] = &[$(
            &[$(BuiltinType {
                group: $group,
                version: $version,
                name: stringify!($kind),
                schema_name: <$module::$kind as JsonSchema>::schema_name,
                schema: <$module::$kind as JsonSchema>::json_schema,
                rust: std::any::type_name::<$module::$kind>,
                has_default: <Probe<$module::$kind>>::HAS_DEFAULT,
                resource: Some((
                    <$module::$kind as Resource>::URL_PATH_SEGMENT,
                    <<$module::$kind as Resource>::Scope as HasScope>::SCOPE,
                )),
            },)*
            $(BuiltinType {
                group: $group,
                version: $version,
                name: stringify!($type),
                schema_name: <$module::$type as JsonSchema>::schema_name,
                schema: <$module::$type as JsonSchema>::json_schema,
                rust: std::any::type_name::<$module::$type>,
                has_default: <Probe<$module::$type>>::HAS_DEFAULT,
                resource: None,
            },)*],
        )*];
    };
}
use known;
