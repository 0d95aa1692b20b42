//! What the server makes of custom resources, after `pkg/registry/customresource` of `k8s.io/apiextensions-apiserver`.

use crate::{
    object::{at, fields_mut, set},
    refusal::{FieldError, Refusal},
};
use krator_schema::{
    Path, ProblemKind, Scale, Schema, Version,
    cel::{self, Outcome},
};
use serde_json::Value as Json;

/// A served version of a custom resource.
#[derive(Debug)]
pub(crate) struct Custom {
    /// The version as the CRD defines it.
    pub version: Version,
    schema: Schema,
    /// The schema as it was written.
    pub written: Json,
    /// The fields of an object that rules are about.
    ruled: Vec<String>,
}

/// What part of an object a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subresource {
    /// The object itself.
    None,
    /// `/status`.
    Status,
    /// `/scale`.
    Scale,
    /// `/finalize` of namespaces.
    Finalize,
}

impl Custom {
    pub fn new(version: Version, written: Json) -> Self {
        let schema = version
            .schema
            .clone()
            .and_then(|schema| schema.open_api_v3_schema);
        // Without a schema, nothing is known and everything is kept.
        let schema = schema.unwrap_or_else(|| Schema {
            preserve_unknown_fields: Some(true),
            type_: Some("object".to_owned()),
            ..Schema::default()
        });
        // A rule at the root may only look at metadata beside the fields that the schema names.
        let fields = written.get("properties").and_then(Json::as_object);
        let all = has_rule_itself(&written);
        let ruled = fields
            .into_iter()
            .flatten()
            .filter(|(_, schema)| all || has_rules(schema));
        let mut ruled: Vec<String> = ruled.map(|(field, _)| field.clone()).collect();
        if all {
            ruled.push("metadata".to_owned());
        }
        Self {
            version,
            schema,
            written,
            ruled,
        }
    }

    /// Where the numbers of `/scale` are, if it is served.
    pub fn scale(&self) -> Option<&Scale> {
        self.version.subresources.as_ref()?.scale.as_ref()
    }

    /// Whether `/status` is served.
    pub fn has_status(&self) -> bool {
        let subresources = self.version.subresources.as_ref();
        subresources.is_some_and(|subresources| subresources.status.is_some())
    }

    /// Reads an object: what the schema does not know is left out and listed.
    pub fn decode(&self, sent: &Json) -> (Json, Vec<String>) {
        let mut object = sent.clone();
        krator_schema::prune(&self.schema, &mut object);
        let mut unknown = Vec::new();
        removed(sent, &object, &mut String::new(), &mut unknown);
        unknown.sort();
        (object, unknown)
    }

    /// Fills in the defaults of the schema.
    pub fn default(&self, object: &mut Json) {
        krator_schema::default(&self.schema, object);
    }

    pub fn prepare_create(&self, object: &mut Json) {
        if self.has_status() {
            fields_mut(object).shift_remove("status");
        }
        crate::object::set_meta(object, "generation", 1.into());
    }

    /// Keeps what the request may not change, and counts a change of the rest.
    pub fn prepare_update(&self, new: &mut Json, old: &Json, subresource: Subresource) {
        if subresource == Subresource::Status {
            let (status, managed) = (
                at(new, &["status"]).clone(),
                at(new, &["metadata", "managedFields"]).clone(),
            );
            let version = at(new, &["metadata", "resourceVersion"]).clone();
            *new = old.clone();
            set(new, "status", status);
            crate::object::set_meta(new, "managedFields", managed);
            crate::object::set_meta(new, "resourceVersion", version);
            return;
        }
        if self.has_status() {
            set(new, "status", at(old, &["status"]).clone());
        }
        if !self.is_same_spec(new, old) {
            let generation = at(old, &["metadata", "generation"]).as_i64().unwrap_or(0);
            crate::object::set_meta(new, "generation", (generation + 1).into());
        }
    }

    /// Whether all is the same but metadata and, where it is a subresource, the status.
    fn is_same_spec(&self, new: &Json, old: &Json) -> bool {
        let is_spec = |key: &str| key != "metadata" && (key != "status" || !self.has_status());
        let fields = |object: &Json| {
            object
                .as_object()
                .map_or(0, |fields| fields.keys().filter(|key| is_spec(key)).count())
        };
        fields(new) == fields(old)
            && new
                .as_object()
                .into_iter()
                .flatten()
                .all(|(key, value)| !is_spec(key) || old.get(key) == Some(value))
    }

    /// What is wrong with an object, beside its metadata, and, if it is an update, was not wrong before: what has not changed is let through, as by
    /// the ratcheting of the API server.
    ///
    /// # Errors
    ///
    /// If a rule cannot be judged here.
    pub fn validate(
        &self,
        object: &Json,
        old: Option<&Json>,
        of_metadata: &[FieldError],
    ) -> Result<Vec<FieldError>, Refusal> {
        let is_new = |path: &Path| !old.is_some_and(|old| is_unchanged(path, object, old));
        let at_path = |path: &Path, kind, detail: String| {
            FieldError::new(path.to_string(), kind, path.find(object).cloned(), detail)
        };
        let structural: Vec<FieldError> = krator_schema::validate(&self.schema, object)
            .into_iter()
            .filter(|problem| is_new(&problem.path))
            .map(|problem| at_path(&problem.path, problem.kind, problem.detail))
            .collect();
        // Rules are not judged where types or sizes are wrong.
        let blocks = |error: &FieldError| {
            !matches!(
                error.kind,
                ProblemKind::Invalid | ProblemKind::Duplicate | ProblemKind::Forbidden
            )
        };
        let blocked = structural.iter().chain(of_metadata).any(blocks);
        let mut errors = structural;
        // A value of a wrong type is wrong in one way.
        let mistyped: Vec<String> = errors
            .iter()
            .filter(|error| error.kind == ProblemKind::TypeInvalid)
            .map(|error| error.field.clone())
            .collect();
        errors.retain(|error| error.kind == ProblemKind::TypeInvalid || !mistyped.contains(&error.field));
        errors.extend(self.scale_errors(object));
        if blocked {
            if !self.ruled.is_empty() {
                let why = "some validation rules were not checked because the object was invalid; correct the existing \
                           errors to complete validation";
                errors.push(FieldError::new("<nil>", ProblemKind::Invalid, None, why));
            }
            return Ok(errors);
        }
        // Evaluation is most of the work of an update, and what has not changed is let through anyhow.
        if old.is_some_and(|old| self.ruled.iter().all(|field| old.get(field) == object.get(field))) {
            return Ok(errors);
        }
        for judged in cel::evaluate(&self.schema, &Path::root(), object, old) {
            match judged.outcome {
                Outcome::Violated(message) if is_new(&judged.value) => {
                    errors.push(at_path(&judged.value, ProblemKind::Invalid, message));
                }
                Outcome::Unknown(why) if is_new(&judged.value) => {
                    return Err(Refusal::not_built(&format!(
                        "Some CEL rules, here {} ({why}),",
                        judged.rule
                    )));
                }
                _ => {}
            }
        }
        Ok(errors)
    }
}

impl Custom {
    /// What is wrong with the numbers that `/scale` shows.
    fn scale_errors(&self, object: &Json) -> Vec<FieldError> {
        let paths = self
            .scale()
            .map(|scale| [&scale.spec_replicas_path, &scale.status_replicas_path]);
        let wrong = |path: &&String| {
            let value = path
                .split('.')
                .filter(|part| !part.is_empty())
                .fold(object, |value, key| value.get(key).unwrap_or(&Json::Null));
            let fits = |number: i64| (0..=i64::from(i32::MAX)).contains(&number);
            let is_wrong = !value.is_null() && !value.as_i64().is_some_and(fits);
            is_wrong.then(|| {
                FieldError::invalid(path.as_str(), value.clone(), "should be a non-negative integer")
            })
        };
        paths.iter().flatten().filter_map(wrong).collect()
    }
}

fn has_rule_itself(schema: &Json) -> bool {
    schema.get("x-kubernetes-validations").is_some()
}

/// Whether a schema has rules somewhere.
fn has_rules(schema: &Json) -> bool {
    match schema {
        Json::Object(fields) => has_rule_itself(schema) || fields.values().any(has_rules),
        Json::Array(items) => items.iter().any(has_rules),
        _ => false,
    }
}

/// Whether what is at a place is the same in both objects. A value that is missing is judged by the value that it is missing
/// from.
fn is_unchanged(path: &Path, new: &Json, old: &Json) -> bool {
    let mut path = path.clone();
    while path.find(new).is_none() {
        match path.parent() {
            Some(parent) => path = parent,
            None => return false,
        }
    }
    !path.segments().is_empty() && path.find(new) == path.find(old)
}

/// The fields that pruning has removed, as paths. `path` is where the values are, and is left as it was.
fn removed(before: &Json, after: &Json, path: &mut String, found: &mut Vec<String>) {
    let here = path.len();
    match (before, after) {
        (Json::Object(before), Json::Object(after)) => {
            for (key, value) in before {
                if here > 0 {
                    path.push('.');
                }
                path.push_str(key);
                match after.get(key) {
                    Some(after) => removed(value, after, path, found),
                    None => found.push(format!("unknown field {path:?}")),
                }
                path.truncate(here);
            }
        }
        (Json::Array(before), Json::Array(after)) => {
            for (index, (before, after)) in before.iter().zip(after).enumerate() {
                path.push_str(&format!("[{index}]"));
                removed(before, after, path, found);
                path.truncate(here);
            }
        }
        _ => {}
    }
}
