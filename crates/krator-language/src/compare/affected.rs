//! The objects that a change breaks, as far as this can be predicted without the API server.

use std::collections::BTreeSet;

use krator_schema::cel::{self, Outcome};
use krator_schema::{Path, Schema, validate};
use serde_json::{Map, Value as Json, json};

use super::SchemaPath;
use crate::names::VersionName;

/// Whether an object breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Breaks {
    /// The object does not break.
    No,
    /// The value exists, but only the API server can evaluate the rule that it may break.
    Maybe,
    /// The object breaks.
    Yes,
}

/// The objects that break. Values are those at the path of the change.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Affected {
    /// All objects.
    Every,
    /// Objects that have the value.
    Present,
    /// Objects without the field of this name in the value that contains it.
    Lacks(String),
    /// Objects with a value of none of these types.
    OfType(BTreeSet<ValueType>),
    /// Objects with a value other than null that this part of the new schema refuses.
    Violates(Box<Schema>),
    /// Objects with a value that breaks the rules of this schema, which contains no other rules for the value.
    BreaksRule(Box<Schema>),
    /// Objects with fields other than these.
    OtherFields(BTreeSet<String>),
    /// Objects in which the value is null.
    Null,
    /// Objects in which the value is not a JSON object.
    NoObject,
    /// Objects in which the value is not a Kubernetes object, with `apiVersion` and `kind`.
    NoResource,
    /// Objects in this state.
    InState(String),
    /// Objects that are stored in this version, which objects do not show.
    StoredIn(VersionName),
    /// Only the API server can decide.
    Unknown,
}

/// Objects with values that some keywords of a schema refuse.
pub(super) fn violates(schema: &Json, keywords: &[&str]) -> Affected {
    let part: Map<String, Json> = keywords
        .iter()
        .filter_map(|key| Some(((*key).to_owned(), schema.get(*key)?.clone())))
        .collect();
    part_of(Json::Object(part)).map_or(Affected::Unknown, Affected::Violates)
}

/// Objects with values that break one rule of a schema.
pub(super) fn breaks_rule(schema: &Json, rule: &str) -> Affected {
    let mut part = schema.clone();
    remove_rules(&mut part);
    part["x-kubernetes-validations"] = json!([{"rule": rule}]);
    part_of(part).map_or(Affected::Unknown, Affected::BreaksRule)
}

fn part_of(part: Json) -> Option<Box<Schema>> {
    serde_json::from_value(part).ok().map(Box::new)
}

fn remove_rules(schema: &mut Json) {
    match schema {
        Json::Object(fields) => {
            fields.remove("x-kubernetes-validations");
            fields.values_mut().for_each(remove_rules);
        }
        Json::Array(items) => items.iter_mut().for_each(remove_rules),
        _ => {}
    }
}

/// The types of JSON values that schemas distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ValueType {
    String,
    Integer,
    Fraction,
    Boolean,
    List,
    Object,
}

impl ValueType {
    pub(crate) const ALL: [ValueType; 6] = [
        ValueType::String,
        ValueType::Integer,
        ValueType::Fraction,
        ValueType::Boolean,
        ValueType::List,
        ValueType::Object,
    ];

    fn of(value: &Json) -> Option<ValueType> {
        Some(match value {
            Json::Null => return None,
            Json::Bool(_) => ValueType::Boolean,
            Json::String(_) => ValueType::String,
            Json::Array(_) => ValueType::List,
            Json::Object(_) => ValueType::Object,
            // The API server treats 3.0 as an integer.
            Json::Number(number) => match number.as_f64() {
                Some(number) if number.fract() != 0.0 => ValueType::Fraction,
                _ => ValueType::Integer,
            },
        })
    }
}

impl Affected {
    /// Whether the object breaks.
    pub fn of(&self, object: &Json, path: Option<&SchemaPath>) -> Breaks {
        let certain = |breaks: bool| if breaks { Breaks::Yes } else { Breaks::No };
        match self {
            Affected::Every => return Breaks::Yes,
            Affected::InState(state) => return certain(object["status"]["state"] == **state),
            Affected::StoredIn(_) => return Breaks::Maybe,
            _ => {}
        }
        let Some(path) = path else { return Breaks::Maybe };
        let values = match self {
            Affected::Lacks(_) => path.parent().values(object),
            _ => path.values(object),
        };
        match self {
            Affected::Unknown if values.is_empty() => Breaks::No,
            Affected::Unknown => Breaks::Maybe,
            Affected::BreaksRule(schema) => {
                let outcomes = values.into_iter().map(|value| breaks(schema, value));
                outcomes.max().unwrap_or(Breaks::No)
            }
            _ => certain(values.into_iter().any(|value| self.finds(value))),
        }
    }

    fn finds(&self, value: &Json) -> bool {
        match self {
            Affected::Every => true,
            // The API server treats null like an absent field.
            Affected::Present => !value.is_null(),
            Affected::Lacks(field) => value.get(field).is_none_or(Json::is_null),
            Affected::OfType(sorts) => ValueType::of(value).is_some_and(|sort| !sorts.contains(&sort)),
            Affected::Violates(schema) => !value.is_null() && !validate(schema, value).is_empty(),
            Affected::OtherFields(known) => value.as_object().is_some_and(|fields| {
                let mut there = fields.iter().filter(|(_, value)| !value.is_null());
                there.any(|(name, _)| !known.contains(name))
            }),
            Affected::Null => value.is_null(),
            Affected::NoObject => !value.is_object(),
            Affected::NoResource => {
                let has = |field: &str| value[field].as_str().is_some_and(|text| !text.is_empty());
                !has("apiVersion") || !has("kind")
            }
            Affected::InState(_) | Affected::StoredIn(_) | Affected::BreaksRule(_) | Affected::Unknown => {
                false
            }
        }
    }
}

/// Whether a value breaks the rules of a schema.
fn breaks(schema: &Schema, value: &Json) -> Breaks {
    let outcomes = cel::evaluate(schema, &Path::root(), value, None);
    let outcomes = outcomes.iter().map(|outcome| match outcome.outcome {
        Outcome::Holds => Breaks::No,
        Outcome::Violated(_) | Outcome::Failed(_) => Breaks::Yes,
        Outcome::Unknown(_) => Breaks::Maybe,
    });
    outcomes.max().unwrap_or(Breaks::No)
}
