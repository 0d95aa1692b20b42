//! Custom resources: pruning, defaults, validation and scaling, after `pkg/registry/customresource` of
//! `k8s.io/apiextensions-apiserver`.

use crate::{
    conversion::Converter,
    object::{at, fields_mut, set},
    refusal::{FieldError, Refusal},
    request::Subresource,
};
use krator_schema::{
    CompiledSchema, Path, Problem, ProblemKind, Scale, Schema, Version,
    cel::{Outcome, Rules},
};
use serde_json::Value as Json;
use std::{collections::BTreeMap, sync::Arc};

/// The versions of a custom resource, served or not, and the conversion between them.
#[derive(Debug)]
pub(crate) struct Versions {
    /// The versions by `apiVersion`.
    pub all: BTreeMap<String, Arc<Custom>>,
    /// The `apiVersion` in which objects are stored.
    pub stored: String,
    pub converter: Converter,
}

impl Versions {
    /// An object in another version, pruned by the schema of that version. It gets no defaults.
    ///
    /// # Errors
    ///
    /// If the conversion fails.
    pub fn convert(&self, object: &Json, to: &str) -> Result<Json, Refusal> {
        let object = self.converter.convert(object, to).map_err(Refusal::failed)?;
        Ok(match self.all.get(to) {
            Some(version) => version.decode(object).0,
            None => object,
        })
    }

    /// An object as a real server reads it from etcd: with pruning and defaults by the schema of its own version.
    pub fn read(&self, object: Json) -> Json {
        let version = at(&object, &["apiVersion"]).as_str().unwrap_or_default();
        let Some(version) = self.all.get(version) else {
            return object;
        };
        let (mut object, _) = version.decode(object);
        version.default(&mut object);
        object
    }

    /// An object in its stored form. It has the defaults of the stored version, because a real server applies them at
    /// each read of the stored object.
    ///
    /// # Errors
    ///
    /// If the conversion fails.
    pub fn to_stored(&self, mut object: Json) -> Result<Json, Refusal> {
        if at(&object, &["apiVersion"]) != self.stored.as_str() {
            object = self.convert(&object, &self.stored)?;
        }
        if let Some(stored) = self.all.get(&self.stored) {
            stored.default(&mut object);
        }
        Ok(object)
    }
}

/// A version of a custom resource.
#[derive(Debug)]
pub(crate) struct Custom {
    /// The version as the CRD defines it.
    pub version: Version,
    schema: CompiledSchema,
    rules: Rules,
    /// The schema as it is in the definition.
    pub written: Json,
}

impl Custom {
    pub fn new(version: Version, written: Json) -> Self {
        let schema = version
            .schema
            .clone()
            .and_then(|schema| schema.open_api_v3_schema);
        // Without a schema, no field is pruned.
        let schema = schema.unwrap_or_else(|| Schema {
            preserve_unknown_fields: Some(true),
            type_: Some("object".to_owned()),
            ..Schema::default()
        });
        Self {
            version,
            rules: Rules::compile(&schema, &Path::root()),
            schema: CompiledSchema::new(schema),
            written,
        }
    }

    /// The paths of the replicas for `/scale`, if it is served.
    pub fn scale(&self) -> Option<&Scale> {
        self.version.subresources.as_ref()?.scale.as_ref()
    }

    /// Whether `/status` is served.
    pub fn has_status(&self) -> bool {
        let subresources = self.version.subresources.as_ref();
        subresources.is_some_and(|subresources| subresources.status.is_some())
    }

    /// Prunes an object, and lists the pruned fields.
    pub fn decode(&self, mut object: Json) -> (Json, Vec<String>) {
        let removed = krator_schema::prune(self.schema.schema(), &mut object).into_iter();
        let mut unknown: Vec<String> = removed
            .map(|path| format!("unknown field {:?}", path.to_string()))
            .collect();
        unknown.sort();
        (object, unknown)
    }

    /// Fills in the defaults of the schema.
    pub fn default(&self, object: &mut Json) {
        krator_schema::default(self.schema.schema(), object);
    }

    pub fn prepare_create(&self, object: &mut Json) {
        if self.has_status() {
            fields_mut(object).shift_remove("status");
        }
        crate::object::set_meta(object, "generation", 1.into());
    }

    /// Restores the fields that the request may not change, and increments the generation if the rest has changed.
    pub fn prepare_update(&self, new: &mut Json, old: &Json, subresource: Subresource) {
        if subresource == Subresource::Status {
            let mut taken = |path: &str| new.pointer_mut(path).map(Json::take).unwrap_or_default();
            let status = taken("/status");
            let managed = taken("/metadata/managedFields");
            let version = taken("/metadata/resourceVersion");
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

    /// Whether both objects are equal, except for metadata and, if it is a subresource, the status.
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

    /// The errors of an object, without those of its metadata. In an update, errors of unchanged values are ignored, as
    /// by the ratcheting of the API server.
    ///
    /// # Errors
    ///
    /// If this server cannot evaluate a rule.
    pub fn validate(
        &self,
        object: &Json,
        old: Option<&Json>,
        of_metadata: &[FieldError],
    ) -> Result<Vec<FieldError>, Refusal> {
        let is_new = |path: &Path| !old.is_some_and(|old| is_unchanged(path, object, old));
        let structural: Vec<FieldError> = self
            .schema
            .validate(object)
            .into_iter()
            .filter(|problem| is_new(&problem.path))
            .map(|problem| structural_error(object, problem))
            .collect();
        // Rules are not evaluated if types or sizes are wrong.
        let blocks = |error: &FieldError| {
            !matches!(
                error.kind,
                ProblemKind::Invalid | ProblemKind::Duplicate | ProblemKind::Forbidden
            )
        };
        let blocked = structural.iter().chain(of_metadata).any(blocks);
        let mut errors = structural;
        // A value of a wrong type has only that error.
        let mistyped: Vec<String> = errors
            .iter()
            .filter(|error| error.kind == ProblemKind::TypeInvalid)
            .map(|error| error.field.clone())
            .collect();
        errors.retain(|error| error.kind == ProblemKind::TypeInvalid || !mistyped.contains(&error.field));
        errors.extend(self.scale_errors(object));
        if blocked {
            if !self.rules.is_empty() {
                let why = "some validation rules were not checked because the object was invalid; correct the existing \
                           errors to complete validation";
                errors.push(FieldError::invalid("<nil>", Json::Null, why));
            }
            return Ok(errors);
        }
        errors.extend(self.broken_rules(object, old, is_new)?);
        Ok(errors)
    }
}

impl Custom {
    /// The rules that an object violates. Ratcheting ignores violations by unchanged values, except for transition
    /// rules and for rules that cannot be evaluated.
    fn broken_rules(
        &self,
        object: &Json,
        old: Option<&Json>,
        is_new: impl Fn(&Path) -> bool,
    ) -> Result<Vec<FieldError>, Refusal> {
        let mut errors = Vec::new();
        for judged in self.rules.evaluate(object, old) {
            let (message, ratchets) = match judged.outcome {
                Outcome::Holds => continue,
                Outcome::Violated(message) => (message, !judged.is_transition),
                Outcome::Failed(message) => (message, false),
                Outcome::Unknown(why) if judged.is_transition || is_new(&judged.value) => {
                    return Err(Refusal::not_built(&format!(
                        "Some CEL rules, here {} ({why}),",
                        judged.rule
                    )));
                }
                Outcome::Unknown(_) => continue,
            };
            if ratchets && !is_new(&judged.value) {
                continue;
            }
            errors.push(self.rule_error(&judged.rule, object, &judged.value, message));
        }
        Ok(errors)
    }

    /// The error of a rule, with the reason that the rule defines.
    fn rule_error(&self, rule: &Path, object: &Json, at: &Path, message: String) -> FieldError {
        // `rule` is the path of the expression, and its parent that of the rule.
        let written = rule
            .parent()
            .and_then(|rule| rule.find(&self.written)?.as_object());
        let reason = written.and_then(|rule| rule.get("reason")?.as_str());
        // Objects and lists would make messages unreadable.
        let value = at.find(object).filter(|it| !it.is_object() && !it.is_array());
        let below = written
            .and_then(|rule| rule.get("fieldPath")?.as_str())
            .unwrap_or_default();
        let below = below.replace("['", ".").replace("']", "");
        let path = match format!("{at}{below}").trim_start_matches('.') {
            "" => "<nil>".to_owned(),
            path => path.to_owned(),
        };
        match reason {
            Some("FieldValueForbidden") => FieldError::forbidden(path, message),
            Some("FieldValueRequired") => FieldError::required(path, message),
            Some("FieldValueDuplicate") => FieldError::new(path, ProblemKind::Duplicate, value.cloned(), ""),
            _ => FieldError::new(path, ProblemKind::Invalid, value.cloned(), message),
        }
    }

    /// The errors of the numbers at the paths of `/scale`.
    fn scale_errors(&self, object: &Json) -> Vec<FieldError> {
        let paths = self
            .scale()
            .map(|scale| [&scale.spec_replicas_path, &scale.status_replicas_path]);
        let wrong = |path: &&String| {
            let value = at(
                object,
                &path
                    .split('.')
                    .filter(|part| !part.is_empty())
                    .collect::<Vec<_>>(),
            );
            let fits = |number: &i64| (0..=i64::from(i32::MAX)).contains(number);
            if value.is_null() || value.as_i64().as_ref().is_some_and(fits) {
                return None;
            }
            if value.is_i64() {
                let why = "should be a non-negative integer";
                return Some(FieldError::invalid(path.as_str(), value.clone(), why));
            }
            let (found, type_) = (crate::values::plain(value), crate::values::go_type(value));
            let why = format!("{path} accessor error: {found} is of the type {type_}, expected int64");
            Some(FieldError::invalid(path.as_str(), 0, why))
        };
        paths.iter().flatten().filter_map(wrong).collect()
    }
}

/// An error about types and sizes, with the message of `pkg/validation/errors` of `k8s.io/kube-openapi`.
fn structural_error(object: &Json, problem: Problem) -> FieldError {
    let value = problem.path.find(object);
    let path = problem.path.to_string();
    let is_bound = ["should ", "shouldn't ", "must be of type "]
        .iter()
        .any(|words| problem.detail.starts_with(words));
    match problem.kind {
        ProblemKind::TypeInvalid if is_bound => {
            // The value in the error is the name of the actual type.
            let found = problem.detail.rsplit_once(": ").map_or("", |(_, found)| found);
            let found = serde_json::from_str(found).unwrap_or_default();
            let detail = format!("{path} in body {}", problem.detail);
            FieldError::new(path, problem.kind, Some(found), detail)
        }
        ProblemKind::Invalid if is_bound => {
            let detail = format!("{path} in body {}", problem.detail);
            FieldError::new(path, problem.kind, value.cloned(), detail)
        }
        ProblemKind::Required | ProblemKind::Duplicate => {
            FieldError::new(path, problem.kind, value.cloned(), "")
        }
        ProblemKind::TooMany => {
            let count = match value {
                Some(Json::Array(items)) => items.len(),
                Some(Json::Object(fields)) => fields.len(),
                _ => 0,
            };
            FieldError::new(path, problem.kind, Some(count.into()), problem.detail)
        }
        _ => FieldError::new(path, problem.kind, value.cloned(), problem.detail),
    }
}

/// Whether the value at a path is the same in both objects. If it is missing, its closest existing parent is compared.
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
