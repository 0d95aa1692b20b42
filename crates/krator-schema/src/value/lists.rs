//! Validates that the entries of sets and associative lists are unique, after `pkg/apiserver/schema/listtype`.

use serde_json::{Map, Value as Json};

use super::check::equal;
use super::number::{self, GoNumber};
use crate::at::At;
use crate::{Problem, ProblemKind, Schema};

pub(crate) fn validate(path: &At<'_>, schema: &Schema, value: &Json) -> Vec<Problem> {
    match value {
        Json::Object(fields) => {
            let mut problems = Vec::new();
            for (name, value) in fields {
                if let Some(schema) = schema.additional() {
                    problems.extend(validate(&path.key(name), schema, value));
                }
                if let Some(schema) = schema.property(name) {
                    problems.extend(validate(&path.field(name), schema, value));
                }
            }
            problems
        }
        Json::Array(items) => {
            let mut problems = match schema.list_type.as_deref() {
                Some("set") => repeated(items, same_entry)
                    .into_iter()
                    .map(|at| duplicate(&path.index(at), &items[at]))
                    .collect(),
                Some("map") => validate_map(path, schema, items),
                _ => Vec::new(),
            };
            if let Some(schema) = schema.item() {
                for (index, item) in items.iter().enumerate() {
                    problems.extend(validate(&path.index(index), schema, item));
                }
            }
            problems
        }
        _ => Vec::new(),
    }
}

fn validate_map(path: &At<'_>, schema: &Schema, items: &[Json]) -> Vec<Problem> {
    if let Some(at) = items.iter().position(|item| !item.is_object() && !item.is_null()) {
        return vec![Problem::new(
            &path.index(at),
            ProblemKind::Invalid,
            "must be an object for an array of list-type map",
        )];
    }
    let names = schema.list_map_keys.as_deref().unwrap_or_default();
    let key = |item: &Json| {
        let fields = names
            .iter()
            .filter_map(|name| Some((name.clone(), item.get(name)?.clone())));
        Json::Object(Map::from_iter(fields))
    };
    let repeated = match names {
        // The API server compares a single key by value, and several keys by their text.
        [name] => {
            let keys: Vec<Option<&Json>> = items.iter().map(|item| item.get(name)).collect();
            repeated(&keys, |a, b| match (a, b) {
                (Some(a), Some(b)) => same_entry(a, b),
                (a, b) => a.is_none() && b.is_none(),
            })
        }
        _ => {
            let keys: Vec<Json> = items.iter().map(key).collect();
            repeated(&keys, same_entry)
        }
    };
    repeated
        .into_iter()
        .map(|at| duplicate(&path.index(at), &key(&items[at])))
        .collect()
}

fn duplicate(path: &At<'_>, value: &Json) -> Problem {
    Problem::new(path, ProblemKind::Duplicate, format!("duplicate value: {value}"))
}

/// The indexes at which a value occurs for the second time. Further occurrences are not reported.
fn repeated<T>(values: &[T], same: impl Fn(&T, &T) -> bool) -> Vec<usize> {
    let earlier = |at: usize| {
        values[..at]
            .iter()
            .filter(|value| same(value, &values[at]))
            .count()
    };
    (0..values.len()).filter(|at| earlier(*at) == 1).collect()
}

/// Compares scalars by value, and lists and objects by their JSON text.
fn same_entry(a: &Json, b: &Json) -> bool {
    let compound = |value: &Json| value.is_array() || value.is_object();
    if compound(a) && compound(b) {
        same_text(a, b)
    } else {
        equal(a, b)
    }
}

fn same_text(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => match (GoNumber::read(a), GoNumber::read(b)) {
            (GoNumber::Int(int), GoNumber::Float(float)) | (GoNumber::Float(float), GoNumber::Int(int)) => {
                int as f64 == float && number::to_int(float) == int
            }
            (a, b) => a == b,
        },
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_text(a, b))
        }
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(name, a)| b.get(name).is_some_and(|b| same_text(a, b)))
        }
        _ => a == b,
    }
}
