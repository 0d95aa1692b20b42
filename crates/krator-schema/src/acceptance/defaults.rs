//! Validates the defaults of a schema against the schema, after `pkg/apiserver/schema/defaulting`.

use serde_json::{Map, Value as Json, json};

use super::default_rules;
use crate::at::At;
use crate::value::{Reading, Validator, meta, prune_at};
use crate::{Path, Problem, ProblemKind, Schema};

/// Validates the defaults of the schema of an object.
pub(super) fn validate(schema: &Schema, path: &Path) -> Vec<Problem> {
    let mut defaults = Defaults {
        validator: Validator::new(Reading::Default),
        problems: Vec::new(),
    };
    let object = Object {
        schema,
        steps: Vec::new(),
    };
    defaults.validate(schema, path, &object, true, false);
    defaults.problems
}

/// The object that contains a default, and the steps from the object to the default.
#[derive(Clone)]
struct Object<'a> {
    schema: &'a Schema,
    steps: Vec<Step>,
}

#[derive(Clone)]
enum Step {
    Field(String),
    Item,
}

impl Object<'_> {
    fn step(&self, step: Step) -> Self {
        let mut object = self.clone();
        object.steps.push(step);
        object
    }

    /// An object with only the value, `kind` and `apiVersion`; `None` if the value would be the object itself and is
    /// none.
    fn around(&self, value: &Json) -> Option<Json> {
        let mut value = value.clone();
        for step in self.steps.iter().rev() {
            value = match step {
                Step::Field(name) => Json::Object(Map::from_iter([(name.clone(), value)])),
                Step::Item => Json::Array(vec![value]),
            };
        }
        let fields = value.as_object_mut()?;
        for (name, text) in [("kind", "Validation"), ("apiVersion", "validation/v1")] {
            if !fields.contains_key(name) {
                fields.insert(name.to_string(), json!(text));
            }
        }
        Some(value)
    }
}

struct Defaults {
    validator: Validator,
    problems: Vec<Problem>,
}

impl Defaults {
    fn validate<'a>(
        &mut self,
        schema: &'a Schema,
        path: &Path,
        object: &Object<'a>,
        root: bool,
        in_meta: bool,
    ) {
        let is_object = root || schema.is_embedded();
        let in_meta = in_meta && !is_object;
        let own;
        let object = if is_object {
            own = Object {
                schema,
                steps: Vec::new(),
            };
            &own
        } else {
            object
        };
        if let Some(default) = schema.default_value() {
            let path = path.field("default");
            let problems = if in_meta {
                self.validate_meta(schema, default, &path, object)
            } else {
                self.validate_value(schema, default, &path, is_object)
            };
            self.problems.extend(problems);
        }
        // The API server never applies defaults to values of maps, so their defaults are not validated.
        if let Some(item) = schema.item() {
            self.validate(
                item,
                &path.field("items"),
                &object.step(Step::Item),
                false,
                in_meta,
            );
        }
        for (name, property) in schema.properties.iter().flatten() {
            let meta = is_object && matches!(name.as_str(), "metadata" | "apiVersion" | "kind");
            self.validate(
                property,
                &path.field("properties").key(name),
                &object.step(Step::Field(name.clone())),
                false,
                in_meta || meta,
            );
        }
    }

    fn validate_value(
        &mut self,
        schema: &Schema,
        default: &Json,
        path: &Path,
        is_object: bool,
    ) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut pruned = default.clone();
        prune_at(Some(schema), &mut pruned, is_object);
        if !crate::value::equal(&pruned, default) {
            problems.push(Problem::new(
                path,
                ProblemKind::Invalid,
                "must not have unknown fields",
            ));
        }
        let mut value = default.clone();
        if let Err(problem) = meta::coerce(&At::Path(path), &mut value, schema, is_object) {
            problems.push(problem);
            return problems;
        }
        let found = meta::validate_at(&At::Path(path), &value, schema, is_object);
        if !found.is_empty() {
            problems.extend(found);
            return problems;
        }
        problems.extend(self.validate_alone(schema, &value, path));
        problems
    }

    /// A default inside the metadata is validated with an object around it.
    fn validate_meta(
        &mut self,
        schema: &Schema,
        default: &Json,
        path: &Path,
        object: &Object<'_>,
    ) -> Vec<Problem> {
        let invalid = |problem: &Problem| {
            let detail = format!("must result in valid metadata: {problem}");
            vec![Problem::new(path, ProblemKind::Invalid, detail)]
        };
        let Some(mut value) = object.around(default) else {
            return Vec::new();
        };
        let root = Path::root();
        if let Err(problem) = meta::coerce(&At::Path(&root), &mut value, object.schema, true) {
            return invalid(&problem);
        }
        match meta::validate_at(&At::Path(&root), &value, object.schema, true).first() {
            Some(problem) => invalid(problem),
            None => self.validate_alone(schema, default, path),
        }
    }

    /// Validates the default against its schema, and then against the rules of the schema.
    fn validate_alone(&mut self, schema: &Schema, value: &Json, path: &Path) -> Vec<Problem> {
        let problems = self.validator.validate(schema, value, path);
        if problems.is_empty() {
            return default_rules::broken(schema, value, path);
        }
        problems
    }
}
