//! `ObjectMeta` of `meta/v1`: its types and its validation by the API server.

use std::borrow::Cow;

use krator_cel::{formats, names};
use serde_json::{Map, Value as Json, json};

use super::number::{self, GoNumber};
use crate::at::At;
use crate::{
    Problem,
    ProblemKind::{self, Invalid, Required},
};

/// The metadata of an object: only known fields, each of its type and not empty.
#[derive(Debug, Default)]
pub(crate) struct ObjectMeta<'a>(Cow<'a, Map<String, Json>>);

const ANNOTATIONS: usize = 256 << 10;

impl<'a> ObjectMeta<'a> {
    /// Wraps metadata that was normalized before.
    pub(crate) fn admitted(fields: &'a Map<String, Json>) -> Self {
        ObjectMeta(Cow::Borrowed(fields))
    }

    /// Reads the metadata; an error names the field with a wrong type.
    pub(crate) fn read(value: &Json) -> Result<Self, String> {
        let mut meta = Map::new();
        match value {
            Json::Null => {}
            Json::Object(fields) => {
                for (name, value) in fields {
                    read_field(&mut meta, name, value)?;
                }
            }
            _ => return Err("must be an object".to_string()),
        }
        Ok(ObjectMeta(Cow::Owned(meta)))
    }

    pub(crate) fn write(self) -> Json {
        Json::Object(self.0.into_owned())
    }

    fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Json::as_str).unwrap_or_default()
    }

    fn texts(&self, name: &str) -> impl Iterator<Item = (&str, &str)> {
        let fields = self.0.get(name).and_then(Json::as_object);
        fields
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.as_str(), value.as_str().unwrap_or_default()))
    }

    fn items(&self, name: &str) -> impl Iterator<Item = &Json> {
        self.0.get(name).and_then(Json::as_array).into_iter().flatten()
    }

    /// Validates the metadata. A name is not required, because an embedded object may lack one.
    pub(crate) fn validate(&self, path: &At<'_>) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut report = |kind: ProblemKind, path: At<'_>, details: Vec<String>| {
            let new = details
                .into_iter()
                .map(|detail| Problem::new(&path, kind, detail));
            problems.extend(new);
        };
        for (field, exact) in [("generateName", false), ("name", true)] {
            report(Invalid, path.field(field), path_segment(self.text(field), exact));
        }
        if !self.text("namespace").is_empty() {
            report(
                Invalid,
                path.field("namespace"),
                names::dns_1123_label(self.text("namespace")),
            );
        }
        if self
            .0
            .get("generation")
            .and_then(Json::as_i64)
            .is_some_and(|value| value < 0)
        {
            let detail = "must be greater than or equal to 0".to_string();
            report(Invalid, path.field("generation"), vec![detail]);
        }
        for (name, value) in self.texts("labels") {
            report(Invalid, path.field("labels"), names::qualified_name(name));
            report(Invalid, path.field("labels"), names::label_value(value));
        }
        for (name, _) in self.texts("annotations") {
            report(
                Invalid,
                path.field("annotations"),
                names::qualified_name(&name.to_lowercase()),
            );
        }
        let owners = path.field("ownerReferences");
        let mut controllers = 0;
        for (index, owner) in self.items("ownerReferences").enumerate() {
            let at = owners.index(index);
            let text = |name: &str| owner.get(name).and_then(Json::as_str).unwrap_or_default();
            let if_so = |is_so: bool, what: &str| is_so.then(|| what.to_string()).into_iter().collect();
            let (group, version) = match text("apiVersion").split_once('/') {
                Some((_, version)) if version.contains('/') => ("", ""),
                Some((group, version)) => (group, version),
                None => ("", text("apiVersion")),
            };
            let is_wrong = version.is_empty() && !text("apiVersion").is_empty();
            let detail = "must be <group>/<version> or <version>";
            report(Invalid, at.field("apiVersion"), if_so(is_wrong, detail));
            for name in ["apiVersion", "kind", "name", "uid"] {
                let detail = if_so(text(name).is_empty(), "must not be empty");
                report(Required, at.field(name), detail);
            }
            let event = (group, version, text("kind")) == ("", "v1", "Event");
            report(Invalid, at, if_so(event, "events cannot own objects"));
            if owner.get("controller") == Some(&Json::Bool(true)) {
                controllers += 1;
                let several = "only one reference can have controller set to true";
                report(Invalid, owners, if_so(controllers > 1, several));
            }
        }
        let finalizers: Vec<&str> = self.items("finalizers").filter_map(Json::as_str).collect();
        for name in &finalizers {
            report(Invalid, path.field("finalizers"), names::qualified_name(name));
        }
        if finalizers.contains(&"orphan") && finalizers.contains(&"foregroundDeletion") {
            let detail = "finalizer orphan and foregroundDeletion cannot be both set".to_string();
            report(Invalid, path.field("finalizers"), vec![detail]);
        }
        let size = |(name, value): (&str, &str)| name.len() + value.len();
        if self.texts("annotations").map(size).sum::<usize>() > ANNOTATIONS {
            problems.push(Problem::new(
                &path.field("annotations"),
                ProblemKind::TooLong,
                format!("may not be more than {ANNOTATIONS} bytes"),
            ));
        }
        for (index, entry) in self.items("managedFields").enumerate() {
            problems.extend(validate_manager(&path.field("managedFields").index(index), entry));
        }
        problems
    }
}

fn read_field(read_fields: &mut Map<String, Json>, name: &str, value: &Json) -> Result<(), String> {
    let read = match name {
        "name" | "generateName" | "namespace" | "selfLink" | "uid" | "resourceVersion" => string(value),
        "generation" => integer(value).map(|value| value.filter(|value| value != 0)),
        "deletionGracePeriodSeconds" => integer(value),
        "creationTimestamp" | "deletionTimestamp" => time(value),
        "labels" | "annotations" => strings(value),
        "finalizers" => list(value, |item| Some(string(item)?.unwrap_or_else(|| json!("")))),
        "ownerReferences" => list(value, owner_reference),
        "managedFields" => list(value, managed_fields),
        _ => return Ok(()),
    };
    match read {
        Some(Some(value)) => {
            read_fields.insert(name.to_string(), value);
            Ok(())
        }
        Some(None) => Ok(()),
        None => Err(format!("the field {name} has the wrong type")),
    }
}

fn validate_manager(path: &At<'_>, entry: &Json) -> Vec<Problem> {
    let text = |name: &str| entry.get(name).and_then(Json::as_str).unwrap_or_default();
    let mut problems = Vec::new();
    let mut add = |name: &str, wrong: bool, kind: ProblemKind, detail: &str| {
        if wrong {
            problems.push(Problem::new(&path.field(name), kind, detail));
        }
    };
    let operation = matches!(text("operation"), "Apply" | "Update");
    add("operation", !operation, Invalid, "must be `Apply` or `Update`");
    let fields = matches!(text("fieldsType"), "" | "FieldsV1");
    add("fieldsType", !fields, Invalid, "must be `FieldsV1`");
    let manager = text("manager");
    add(
        "manager",
        manager.len() > 128,
        ProblemKind::TooLong,
        "may not be more than 128 bytes",
    );
    let printable = manager.chars().all(|c| !c.is_control());
    add("manager", !printable, Invalid, "should be printable");
    let long = text("subresource").len() > 256;
    add(
        "subresource",
        long,
        ProblemKind::TooLong,
        "may not be more than 256 bytes",
    );
    problems
}

/// Validates a name that is an element of a URL path.
fn path_segment(name: &str, exact: bool) -> Vec<String> {
    if exact && matches!(name, "." | "..") {
        return vec![format!("may not be '{name}'")];
    }
    ["/", "%"]
        .iter()
        .filter(|part| name.contains(**part))
        .map(|part| format!("may not contain '{part}'"))
        .collect()
}

/// A field after decoding: `None` if it has the wrong type, and `Some(None)` if it is empty.
type Read = Option<Option<Json>>;

fn string(value: &Json) -> Read {
    match value {
        Json::Null => Some(None),
        Json::String(text) => Some((!text.is_empty()).then(|| value.clone())),
        _ => None,
    }
}

fn boolean(value: &Json) -> Read {
    match value {
        Json::Null => Some(None),
        Json::Bool(_) => Some(Some(value.clone())),
        _ => None,
    }
}

fn integer(value: &Json) -> Read {
    match value {
        Json::Null => Some(None),
        Json::Number(number) => match GoNumber::read(number) {
            GoNumber::Int(value) => Some(Some(json!(value))),
            // A float without a fraction is formatted without one before it is parsed as an integer.
            GoNumber::Float(value) if number::fits(GoNumber::Float(value), "integer", "int64") => {
                Some(Some(json!(number::to_int(value))))
            }
            GoNumber::Float(_) => None,
        },
        _ => None,
    }
}

fn strings(value: &Json) -> Read {
    match value {
        Json::Null => Some(None),
        Json::Object(fields) => {
            let mut read = Map::new();
            for (name, value) in fields {
                read.insert(name.clone(), string(value)?.unwrap_or_else(|| json!("")));
            }
            Some((!read.is_empty()).then_some(Json::Object(read)))
        }
        _ => None,
    }
}

fn list(value: &Json, item: impl Fn(&Json) -> Option<Json>) -> Read {
    match value {
        Json::Null => Some(None),
        Json::Array(items) => {
            let read: Vec<Json> = items.iter().map(item).collect::<Option<_>>()?;
            Some((!read.is_empty()).then_some(Json::Array(read)))
        }
        _ => None,
    }
}

/// The name of a field, and its decoder.
type Field = (&'static str, fn(&Json) -> Read);

/// Decodes a structure with typed fields. Fields that are always encoded come first.
fn structure(value: &Json, always: &[&str], fields: &[Field]) -> Option<Json> {
    let mut read: Map<String, Json> = always.iter().map(|name| (name.to_string(), json!(""))).collect();
    match value {
        Json::Null => {}
        Json::Object(value) => {
            for (name, field) in fields {
                if let Some(value) = value.get(*name)
                    && let Some(value) = field(value)?
                {
                    read.insert(name.to_string(), value);
                }
            }
        }
        _ => return None,
    }
    Some(Json::Object(read))
}

fn owner_reference(value: &Json) -> Option<Json> {
    let always = ["apiVersion", "kind", "name", "uid"];
    structure(
        value,
        &always,
        &[
            ("apiVersion", string),
            ("kind", string),
            ("name", string),
            ("uid", string),
            ("controller", boolean),
            ("blockOwnerDeletion", boolean),
        ],
    )
}

fn managed_fields(value: &Json) -> Option<Json> {
    structure(
        value,
        &[],
        &[
            ("manager", string),
            ("operation", string),
            ("apiVersion", string),
            ("time", time),
            ("fieldsType", string),
            ("fieldsV1", |value| {
                Some((!value.is_null()).then(|| value.clone()))
            }),
            ("subresource", string),
        ],
    )
}

fn time(value: &Json) -> Read {
    match value {
        Json::Null => Some(None),
        Json::String(text) if formats::is_rfc3339(text) => {
            Some((text != "0001-01-01T00:00:00Z").then(|| value.clone()))
        }
        _ => None,
    }
}
