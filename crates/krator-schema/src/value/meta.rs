//! The metadata of embedded objects, after `pkg/apiserver/schema/objectmeta`.

use krator_cel::names;
use serde_json::{Map, Value as Json};

use super::object_meta::ObjectMeta;
use crate::at::At;
use crate::{Path, Problem, ProblemKind, Schema};

fn problem(path: &At<'_>, kind: ProblemKind, detail: impl Into<String>) -> Problem {
    Problem::new(path, kind, detail)
}

/// Converts the `metadata` of an object to its stored form: unknown and empty fields are removed.
///
/// # Errors
///
/// If a field has the wrong type.
pub fn admit_metadata(metadata: &mut Json) -> Result<(), Problem> {
    let path = Path::root().field("metadata");
    let path = At::Path(&path);
    let read = ObjectMeta::read(metadata).map_err(|detail| problem(&path, ProblemKind::Invalid, detail))?;
    *metadata = read.write();
    Ok(())
}

/// Validates the `metadata` of an object after [`admit_metadata`]. A name is not required, and not checked by the rule
/// for its kind.
pub fn validate_metadata(metadata: &Json) -> Vec<Problem> {
    let path = Path::root().field("metadata");
    let fields = metadata.as_object();
    fields.map_or_else(Vec::new, |fields| {
        ObjectMeta::admitted(fields).validate(&At::Path(&path))
    })
}

/// Normalizes the metadata of the objects in a value like the API server: unknown and empty fields are removed. `Err`
/// if a field has a wrong type.
pub(crate) fn coerce(path: &At<'_>, value: &mut Json, schema: &Schema, root: bool) -> Result<(), Problem> {
    match value {
        Json::Object(fields) => {
            if root || schema.is_embedded() {
                for name in ["apiVersion", "kind"] {
                    if fields.get(name).is_some_and(|value| !value.is_string()) {
                        return Err(problem(
                            &path.field(name),
                            ProblemKind::Invalid,
                            "must be a string",
                        ));
                    }
                }
                if let Some(value) = fields.get_mut("metadata") {
                    let meta = ObjectMeta::read(value)
                        .map_err(|detail| problem(&path.field("metadata"), ProblemKind::Invalid, detail))?;
                    *value = meta.write();
                }
            }
            for (name, value) in fields.iter_mut() {
                if let Some(schema) = schema.property(name) {
                    coerce(&path.field(name), value, schema, false)?;
                } else if let Some(schema) = schema.additional() {
                    coerce(&path.key(name), value, schema, false)?;
                }
            }
        }
        Json::Array(items) => {
            if let Some(schema) = schema.item() {
                for (index, item) in items.iter_mut().enumerate() {
                    coerce(&path.index(index), item, schema, false)?;
                }
            }
        }
        _ => {}
    }
    Ok(())
}

/// Validates `apiVersion`, `kind` and `metadata` of the objects in a value.
pub(crate) fn validate(path: &At<'_>, value: &Json, schema: &Schema) -> Vec<Problem> {
    validate_at(path, value, schema, false)
}

pub(crate) fn validate_at(path: &At<'_>, value: &Json, schema: &Schema, root: bool) -> Vec<Problem> {
    let mut problems = Vec::new();
    match value {
        Json::Object(fields) => {
            if root || schema.is_embedded() {
                problems.extend(validate_object(path, fields));
            }
            for (name, value) in fields {
                if let Some(schema) = schema.property(name) {
                    problems.extend(validate_at(&path.field(name), value, schema, false));
                } else if let Some(schema) = schema.additional() {
                    problems.extend(validate_at(&path.key(name), value, schema, false));
                }
            }
        }
        Json::Array(items) => {
            if let Some(schema) = schema.item() {
                for (index, item) in items.iter().enumerate() {
                    problems.extend(validate_at(&path.index(index), item, schema, false));
                }
            }
        }
        _ => {}
    }
    problems
}

fn validate_object(path: &At<'_>, fields: &Map<String, Json>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for name in ["apiVersion", "kind"] {
        let path = path.field(name);
        match fields.get(name) {
            None => problems.push(problem(&path, ProblemKind::Required, "is required")),
            Some(Json::String(text)) if text.is_empty() => {
                problems.push(problem(&path, ProblemKind::Invalid, "must not be empty"));
            }
            Some(Json::String(text)) if name == "apiVersion" => {
                if text.matches('/').count() > 1 {
                    problems.push(problem(
                        &path,
                        ProblemKind::Invalid,
                        "unexpected GroupVersion string",
                    ));
                }
            }
            Some(Json::String(text)) => {
                let wrong = names::dns_1035_label(&text.to_lowercase());
                if !wrong.is_empty() {
                    let detail = format!(
                        "may have mixed case, but should otherwise match: {}",
                        wrong.join(",")
                    );
                    problems.push(problem(&path, ProblemKind::Invalid, detail));
                }
            }
            Some(_) => problems.push(problem(&path, ProblemKind::Invalid, "must be a string")),
        }
    }
    if let Some(metadata) = fields.get("metadata") {
        let path = path.field("metadata");
        match ObjectMeta::read(metadata) {
            Ok(metadata) => problems.extend(metadata.validate(&path)),
            Err(detail) => problems.push(problem(&path, ProblemKind::Invalid, detail)),
        }
    }
    problems
}
