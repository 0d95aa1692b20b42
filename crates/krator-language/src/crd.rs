//! The CustomResourceDefinition of each kind, as a value. Manifests, samples and the rules about schemas are based on
//! it.

mod changes;
mod place;
mod schema;
mod status;

pub use status::new_status;

use krator_machine::versions::PATH;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use crate::model::{Certificates, Column, Description, Kind, NameRule, Resource, Scale, Scope, Version};
use crate::names::VersionName;
use crate::text::shown;

pub(crate) use changes::{Obstacle, field_rules};
pub(crate) use place::{place, rules_of, type_of_value};
pub(crate) use schema::{DURATION_PATTERN, schema_of};

/// Parses a part of a CRD as the API server does: a whole `spec`, or a schema.
pub(crate) fn as_read<T: DeserializeOwned>(written: Json) -> T {
    // This module generates the keys and types of the API.
    serde_json::from_value(written).expect("the JSON is a valid CRD")
}

/// The annotation that the API server requires for definitions in groups of Kubernetes.
pub(crate) const API_APPROVED: &str = "api-approved.kubernetes.io";

/// The definition of a kind. Its keys are in alphabetical order, except for the first two.
pub fn definition(description: &Description, kind: &Kind) -> Json {
    let resource = &kind.resource;
    let approval = resource.api_approved.as_ref();
    let mounts = kind.converts() && description.deploy.certificates == Certificates::Mounted;
    let annotations = object_of([
        (
            API_APPROVED,
            approval.map(|approval| approval.value.as_str().into()),
        ),
        (INJECTED, mounts.then(|| certificate(description).into())),
    ]);
    let has_annotations = annotations
        .as_object()
        .is_some_and(|annotations| !annotations.is_empty());
    let metadata = object_of([
        ("annotations", has_annotations.then_some(annotations)),
        ("name", Some(resource.definition().into())),
    ]);
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": specification(description, kind),
    })
}

/// The `.spec` of the definition of a kind.
pub fn specification(description: &Description, kind: &Kind) -> Json {
    let resource = &kind.resource;
    let name = resource.kind.as_str();
    let names = object_of([
        (
            "categories",
            list(&resource.categories, |name| name.as_str().into()),
        ),
        ("kind", Some(name.into())),
        ("listKind", Some(format!("{name}List").into())),
        ("plural", Some(resource.plural.as_str().into())),
        (
            "shortNames",
            list(&resource.short_names, |name| name.as_str().into()),
        ),
        ("singular", Some(resource.singular.as_str().into())),
    ]);
    let scope = match resource.scope.value {
        Scope::Namespaced => "Namespaced",
        Scope::Cluster => "Cluster",
    };
    let stored = kind.stored_version();
    let newest = version(description, kind, None, stored);
    let older = kind.versions.iter();
    let older = older.map(|older| version(description, &kind.in_version(older), Some(older), stored));
    let mut versions: Vec<Json> = std::iter::once(newest).chain(older).collect();
    tell_selectable_fields_apart(&mut versions);
    object_of([
        ("conversion", kind.converts().then(|| conversion(description))),
        ("group", Some(resource.group.as_str().into())),
        ("names", Some(names)),
        ("scope", Some(scope.into())),
        ("versions", Some(versions.into())),
    ])
}

/// If the selectable fields are the same in all versions although the schemas differ, the API server requires a common
/// schema for them. Another order makes them different. A single field cannot be reordered, so it is left out of the
/// oldest version.
fn tell_selectable_fields_apart(versions: &mut [Json]) {
    if versions
        .windows(2)
        .all(|pair| pair[0]["schema"] == pair[1]["schema"])
    {
        return;
    }
    let [newest, .., oldest] = versions else {
        return;
    };
    let fields = oldest.get_mut("selectableFields");
    if let Some(Json::Array(fields)) = fields.filter(|fields| newest["selectableFields"] == **fields) {
        fields.rotate_left(1);
        if fields.len() == 1 {
            fields.clear();
        }
    }
}

/// The conversion of objects by the API server: it calls the operator, which writes the `caBundle`.
fn conversion(description: &Description) -> Json {
    json!({
        "strategy": "Webhook",
        "webhook": {"clientConfig": client_config(description, PATH), "conversionReviewVersions": ["v1"]},
    })
}

/// The annotation for which cert-manager, if it is installed, writes a `caBundle`.
pub const INJECTED: &str = "cert-manager.io/inject-ca-from";

/// The Certificate, for that annotation, whose authority the API server should trust.
pub fn certificate(description: &Description) -> String {
    format!(
        "{}/{}",
        description.namespace,
        webhook_service(description.operator.as_str())
    )
}

/// The name of the Service of the webhooks, and of the Secret with their certificates.
pub fn webhook_service(operator: &str) -> String {
    format!("{operator}-webhook")
}

/// The address of the operator for calls of the API server.
pub fn client_config(description: &Description, path: &str) -> Json {
    let service = webhook_service(description.operator.as_str());
    json!({"service": {"name": service, "namespace": &description.namespace, "path": path, "port": 443}})
}

/// A version of a definition. `older` has the settings of an older version.
fn version(description: &Description, kind: &Kind, older: Option<&Version>, stored: &VersionName) -> Json {
    let resource = &kind.resource;
    let deprecated = older.and_then(|older| older.deprecated.as_ref());
    let scale = resource.scale.as_ref().map(scale);
    object_of([
        ("additionalPrinterColumns", Some(columns(kind))),
        ("deprecated", deprecated.map(|_| true.into())),
        (
            "deprecationWarning",
            deprecated.map(|why| deprecation(resource, &why.value).into()),
        ),
        ("name", Some(resource.version.as_str().into())),
        (
            "schema",
            Some(json!({"openAPIV3Schema": object_schema(description, kind)})),
        ),
        (
            "selectableFields",
            list(
                &resource.selectable_fields,
                |path| json!({"jsonPath": path.to_string()}),
            ),
        ),
        ("served", Some(older.is_none_or(|older| older.served).into())),
        ("storage", Some((resource.version.value == *stored).into())),
        (
            "subresources",
            Some(object_of([("scale", scale), ("status", Some(json!({})))])),
        ),
    ])
}

/// The warning about a deprecated version, in the wording of Kubernetes.
fn deprecation(resource: &Resource, why: &str) -> String {
    let (group, version, kind) = (&resource.group, &resource.version, &resource.kind);
    format!(
        "{}/{} {} is deprecated: {}",
        group.value,
        version.value,
        kind.value,
        why.trim()
    )
}

fn scale(scale: &Scale) -> Json {
    object_of([
        (
            "labelSelectorPath",
            scale.selector.as_ref().map(|path| path.to_string().into()),
        ),
        ("specReplicasPath", Some(scale.spec.to_string().into())),
        ("statusReplicasPath", Some(scale.status.to_string().into())),
    ])
}

/// The schema of the objects of a kind.
pub(crate) fn object_schema(description: &Description, kind: &Kind) -> Json {
    let mut spec = schema_of(description, &kind.spec);
    if let Json::Object(spec) = &mut spec {
        spec.entry("description")
            .or_insert_with(|| "The desired state of this object.".into());
        spec.sort_keys();
    }
    let mut schema = object_of([
        (
            "description",
            kind.doc.as_ref().map(|doc| doc.value.trim().into()),
        ),
        (
            "properties",
            Some(json!({"spec": spec, "status": status::schema(description, kind)})),
        ),
        ("required", (!kind.spec.optional).then(|| json!(["spec"]))),
        ("type", Some("object".into())),
        (
            "x-kubernetes-validations",
            kind.resource.name.as_ref().map(|name| json!([name_rule(name)])),
        ),
    ]);
    changes::add(description, kind, &mut schema);
    schema
}

/// The rule for the name of a new object. It never refuses an existing object, because updates that remove its
/// finalizer have to succeed.
fn name_rule(name: &NameRule) -> Json {
    let pattern = Json::from(name.pattern.value.as_str());
    let default = || format!("the name has to match {}", shown(&name.pattern));
    let message = name.message.as_ref().map(|message| message.value.clone());
    json!({
        "message": message.unwrap_or_else(default),
        "optionalOldSelf": true,
        "reason": "FieldValueForbidden",
        "rule": format!("oldSelf.hasValue() || self.metadata.name.matches({pattern})"),
    })
}

/// The columns of the description, followed by the default columns whose names the description does not use.
fn columns(kind: &Kind) -> Json {
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
        .map(|(name, type_, path)| json!({"jsonPath": path, "name": name, "type": type_}));
    kind.columns.iter().map(column).chain(ours).collect()
}

fn column(column: &Column) -> Json {
    // The API's number is signed. Differences between priorities of this size are irrelevant.
    let priority = i32::try_from(column.priority).unwrap_or(i32::MAX);
    object_of([
        (
            "description",
            column.description.as_ref().map(|text| text.value.clone().into()),
        ),
        ("jsonPath", Some(column.path.to_string().into())),
        ("name", Some(column.name.as_str().into())),
        ("priority", (priority > 0).then(|| priority.into())),
        ("type", Some(column.column_type.as_str().into())),
    ])
}

/// An object of the fields that have a value.
fn object_of<const N: usize>(fields: [(&str, Option<Json>); N]) -> Json {
    let present = fields
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Json::Object(present.collect())
}

/// `None` for an empty list, so that the key is left out.
fn list<T>(items: &[T], item: impl FnMut(&T) -> Json) -> Option<Json> {
    (!items.is_empty()).then(|| items.iter().map(item).collect())
}
