//! Paths of values in objects, in terms of their schema.

use std::fmt;

use serde_json::Value as Json;

/// The path of values in an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SchemaPath(pub Vec<PathStep>);

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathStep {
    /// The field of that name.
    Field(String),
    /// Every item of a list.
    Items,
    /// Every value of a map.
    Values,
}

impl SchemaPath {
    /// The path of a top-level field.
    pub fn root(field: &str) -> Self {
        SchemaPath(vec![PathStep::Field(field.to_owned())])
    }

    /// The path with one more step.
    pub fn then(&self, step: PathStep) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        SchemaPath(steps)
    }

    /// The path of a field of this value.
    pub fn field(&self, name: &str) -> Self {
        self.then(PathStep::Field(name.to_owned()))
    }

    /// The path of the value that contains this one.
    pub fn parent(&self) -> Self {
        let mut steps = self.0.clone();
        steps.pop();
        SchemaPath(steps)
    }

    /// Whether the path is in `.status`, which is written by the operator and lost when an object is created anew.
    pub(crate) fn is_status(&self) -> bool {
        matches!(self.0.first(), Some(PathStep::Field(name)) if name == "status")
    }

    /// Whether the other path is this one or begins with it.
    pub fn holds(&self, other: &SchemaPath) -> bool {
        other.0.starts_with(&self.0)
    }

    /// The values in the object at the path.
    pub fn values<'v>(&self, object: &'v Json) -> Vec<&'v Json> {
        self.0.iter().fold(vec![object], |values, step| {
            let below = values.into_iter().flat_map(|value| match step {
                PathStep::Field(name) => value.get(name).into_iter().collect::<Vec<_>>(),
                PathStep::Items => value.as_array().into_iter().flatten().collect(),
                PathStep::Values => value
                    .as_object()
                    .into_iter()
                    .flat_map(|map| map.values())
                    .collect(),
            });
            below.collect()
        })
    }
}

/// The notation of printer columns: `.spec.steps[*].name`; `.*` is every value of a map.
impl fmt::Display for SchemaPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|step| match step {
            PathStep::Field(name) => write!(f, ".{name}"),
            PathStep::Items => f.write_str("[*]"),
            PathStep::Values => f.write_str(".*"),
        })
    }
}
