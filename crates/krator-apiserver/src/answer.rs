//! Objects in the requested form: whole, as metadata only, or as rows of a table.

use crate::{
    builtin,
    kinds::{Kind, Origin},
    listing::Listed,
    negotiation::MediaType,
    object::{at, meta, of_texts},
    world::World,
};
use krator_schema::Column;
use serde_json::{Value as Json, json};
use std::{borrow::Cow, sync::Arc};

/// The part of an object that a table row contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Include {
    Nothing,
    Metadata,
    Object,
}

impl Include {
    /// Reads the parameter `includeObject`.
    pub fn of(text: &str) -> Self {
        match text {
            "None" => Self::Nothing,
            "Object" => Self::Object,
            _ => Self::Metadata,
        }
    }
}

/// One object in the requested form.
pub(crate) fn one<'a>(kind: &Kind, object: &'a Json, form: &MediaType, include: Include) -> Cow<'a, Json> {
    match form {
        MediaType::Objects => kind.to_served(object),
        MediaType::Metadata { version, .. } => Cow::Owned(metadata_of(kind, object, version)),
        MediaType::Table(version) => {
            // The result of a dry run has no version.
            let metadata = of_texts([("resourceVersion", meta(object, "resourceVersion"))]).into();
            Cow::Owned(table(
                kind,
                &[Arc::new(object.clone())],
                metadata,
                version,
                include,
            ))
        }
    }
}

/// The response of `/scale`, in the requested form.
pub(crate) fn scale(scale: &Json, form: &MediaType) -> Json {
    let MediaType::Table(version) = form else {
        return scale.clone();
    };
    let column = |name: &str, type_: &str, format: &str, description: &str| json!({"name": name, "type": type_, "format": format, "description": description, "priority": 0});
    let desired = "replicas is the desired number of instances for the scaled object.";
    let available = "replicas is the actual number of observed instances of the scaled object.";
    let number = |part: &str| at(scale, &[part, "replicas"]).as_i64().unwrap_or(0);
    let metadata = at(scale, &["metadata"]);
    let created = age(at(metadata, &["creationTimestamp"]), jiff::Timestamp::now());
    json!({
        "kind": "Table",
        "apiVersion": format!("meta.k8s.io/{version}"),
        "metadata": {"resourceVersion": at(metadata, &["resourceVersion"])},
        "columnDefinitions": [
            column("Name", "string", "name", NAME),
            column("Desired", "integer", "", desired),
            column("Available", "integer", "", available),
            column("Age", "string", "", AGE),
        ],
        "rows": [{
            "cells": [at(metadata, &["name"]), number("spec"), number("status"), created],
            "object": {
                "kind": "PartialObjectMetadata",
                "apiVersion": format!("meta.k8s.io/{version}"),
                "metadata": metadata,
            },
        }],
    })
}

/// A list of objects in the requested form.
pub(crate) fn many(kind: &Kind, listed: Listed, form: &MediaType, include: Include) -> Json {
    let Listed { objects, metadata } = listed;
    match form {
        MediaType::Objects => {
            let mut metadata = metadata;
            if kind.is_custom() && metadata.get("continue").is_none() {
                metadata["continue"] = "".into();
            }
            let items: Vec<Json> = objects.iter().map(|object| item(kind, object)).collect();
            json!({
                "kind": kind.list_kind,
                "apiVersion": kind.api_version(),
                "metadata": metadata,
                "items": items,
            })
        }
        MediaType::Metadata { version, .. } => {
            let items: Vec<Json> = objects
                .iter()
                .map(|object| metadata_of(kind, object, version))
                .collect();
            json!({
                "kind": "PartialObjectMetadataList",
                "apiVersion": format!("meta.k8s.io/{version}"),
                "metadata": metadata,
                // Go encodes an empty list as null here.
                "items": Some(items).filter(|items| !items.is_empty()),
            })
        }
        MediaType::Table(version) => table(kind, &objects, metadata, version, include),
    }
}

/// An item of a list. Items of builtin kinds omit `apiVersion` and `kind`, which the list has.
fn item(kind: &Kind, object: &Json) -> Json {
    let mut object = kind.to_served(object).into_owned();
    if !kind.is_custom() {
        let fields = crate::object::fields_mut(&mut object);
        fields.shift_remove("apiVersion");
        fields.shift_remove("kind");
    }
    object
}

fn metadata_of(kind: &Kind, object: &Json, version: &str) -> Json {
    let mut shown = json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": format!("meta.k8s.io/{version}"),
        "metadata": at(object, &["metadata"]),
    });
    // The API server takes metadata from the internal form of objects, where this annotation is a field of the spec.
    if kind.id.resource == "daemonsets" {
        let meta = crate::object::meta_mut(&mut shown);
        if let Some(Json::Object(annotations)) = meta.get_mut("annotations") {
            annotations.shift_remove("deprecated.daemonset.template.generation");
            if annotations.is_empty() {
                meta.shift_remove("annotations");
            }
        }
    }
    shown
}

/// A table of objects.
pub(crate) fn table(
    kind: &Kind,
    objects: &[Arc<Json>],
    metadata: Json,
    version: &str,
    include: Include,
) -> Json {
    let now = jiff::Timestamp::now();
    let row = |object: &Arc<Json>| {
        let shown = match include {
            Include::Nothing => Json::Null,
            Include::Metadata => metadata_of(kind, object, version),
            Include::Object => kind.to_served(object).into_owned(),
        };
        let mut row = json!({"cells": cells(kind, object, now)});
        row["object"] = shown;
        row
    };
    json!({
        "kind": "Table",
        "apiVersion": format!("meta.k8s.io/{version}"),
        "metadata": metadata,
        "columnDefinitions": columns(kind),
        "rows": objects.iter().map(row).collect::<Vec<_>>(),
    })
}

const NAME: &str = "Name must be unique within a namespace. Is required when creating resources, although some resources \
    may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for \
    creation idempotence and configuration definition. Cannot be updated. More info: \
    https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";
const AGE: &str = "CreationTimestamp is a timestamp representing the server time when this object was created. It is not \
    guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is \
    represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: \
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

fn columns(kind: &Kind) -> Vec<Json> {
    let column = |name: &str, type_: &str, format: &str, description: &str, priority: i32| json!({"name": name, "type": type_, "format": format, "description": description, "priority": priority});
    match &kind.origin {
        Origin::Builtin(builtin) => builtin
            .columns()
            .iter()
            .map(|it| column(&it.name, &it.type_, &it.format, &it.description, it.priority))
            .collect(),
        Origin::Custom(custom, _) => {
            let name = column("Name", "string", "name", NAME, 0);
            let own = &custom.version.additional_printer_columns;
            if own.is_empty() {
                return vec![name, column("Age", "date", "", AGE, 0)];
            }
            let describe = |it: &Column| match it.description.as_str() {
                "" => format!(
                    "Custom resource definition column (in JSONPath format): {}",
                    it.json_path
                ),
                text => text.to_owned(),
            };
            let own = own
                .iter()
                .map(|it| column(&it.name, &it.type_, &it.format, &describe(it), it.priority));
            std::iter::once(name).chain(own).collect()
        }
    }
}

fn cells(kind: &Kind, object: &Json, now: jiff::Timestamp) -> Vec<Json> {
    let custom = match &kind.origin {
        Origin::Builtin(builtin) => return builtin.cells(&kind.to_served(object), now.as_second()),
        Origin::Custom(custom, _) => custom,
    };
    let name = at(object, &["metadata", "name"]).clone();
    let own = &custom.version.additional_printer_columns;
    if own.is_empty() {
        return vec![name, age(at(object, &["metadata", "creationTimestamp"]), now)];
    }
    std::iter::once(name)
        .chain(own.iter().map(|column| cell(column, object, now)))
        .collect()
}

fn age(time: &Json, now: jiff::Timestamp) -> Json {
    match time.as_str().map(str::parse::<jiff::Timestamp>) {
        None => "<unknown>".into(),
        Some(Err(_)) => "<invalid>".into(),
        Some(Ok(time)) => builtin::human_duration(now.duration_since(time).as_secs()).into(),
    }
}

fn cell(column: &Column, object: &Json, now: jiff::Timestamp) -> Json {
    let found = crate::json_path::find(object, &column.json_path);
    let Some(first) = found.first() else {
        return Json::Null;
    };
    match column.type_.as_str() {
        "integer" => match first.as_f64() {
            Some(number) if first.is_f64() => json!(number.trunc()),
            _ if first.is_number() => (*first).clone(),
            _ => Json::Null,
        },
        "number" if first.is_number() => (*first).clone(),
        "boolean" if first.is_boolean() => (*first).clone(),
        "date" if first.is_string() => age(first, now),
        "string" => {
            let texts: Vec<String> = found
                .iter()
                .map(|value| match value {
                    Json::String(text) => text.clone(),
                    other => other.to_string(),
                })
                .collect();
            texts.join(" ").into()
        }
        _ => Json::Null,
    }
}

/// The object of a bookmark event, which has metadata only.
pub(crate) fn bookmark(kind: &Kind, version: u64, ends_listing: bool) -> Json {
    let mut metadata = json!({"resourceVersion": version.to_string()});
    if ends_listing {
        metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
    }
    // For builtin kinds, it is an empty object as Go encodes it.
    let mut object = kind.types.empty().clone();
    object["kind"] = kind.kind.as_str().into();
    object["apiVersion"] = kind.api_version().into();
    object["metadata"] = metadata;
    // The internal form of some kinds has values that are absent in the served form.
    match (kind.is_custom(), kind.id.resource.as_str()) {
        (false, "deployments" | "statefulsets" | "replicasets") => object["spec"]["replicas"] = 0.into(),
        (false, "daemonsets") => {
            object["metadata"]["annotations"]["deprecated.daemonset.template.generation"] = "0".into();
        }
        _ => {}
    }
    object
}

/// The version of Kubernetes that this server reports.
const KUBERNETES: &str = "v1.37.2";

/// The response of `/version`.
pub(crate) fn version() -> Json {
    json!({
        "major": "1",
        "minor": KUBERNETES.split('.').nth(1),
        "gitVersion": KUBERNETES,
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": World::default().time(),
        "goVersion": "",
        "compiler": "",
        "platform": "",
    })
}
