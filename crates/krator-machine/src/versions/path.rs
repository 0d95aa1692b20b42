//! Paths in objects, for the changes between two versions.
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A step of a path. In JSON it is a field name, an index, or null for every item.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Step {
    /// A field of an object.
    Field(String),
    /// An item of a list.
    Index(usize),
    /// Every item of a list, or every value of a map.
    Each,
}

/// The steps from an object to a value in it.
pub type Path = Vec<Step>;

/// The path as text, in the form of descriptions: `.spec.rules[*].name`.
pub fn path_text(path: &[Step]) -> String {
    let steps = path.iter().map(|step| match step {
        Step::Field(name) => format!(".{}", name.replace('.', "\\.")),
        Step::Index(at) => format!("[{at}]"),
        Step::Each => "[*]".to_owned(),
    });
    steps.collect()
}

/// An object that contains only a value at a path; lists get one item.
pub fn nested(path: &[Step], value: Value) -> Value {
    path.iter().rev().fold(value, |below, step| match step {
        Step::Field(name) => json!({name: below}),
        Step::Index(_) | Step::Each => json!([below]),
    })
}

/// The value at a path in the result of [`nested`], also after a change.
pub fn nested_value<'v>(object: &'v mut Value, path: &[Step]) -> Option<&'v mut Value> {
    path.iter().try_fold(object, |object, step| match step {
        Step::Field(name) => object.get_mut(name),
        Step::Index(_) | Step::Each => object.get_mut(0),
    })
}

/// Calls `act` with each value at a path.
pub(super) fn at_each(value: &mut Value, path: &[Step], act: &mut dyn FnMut(&mut Value)) {
    let Some((step, rest)) = path.split_first() else {
        return act(value);
    };
    match (step, value) {
        (Step::Each, Value::Array(items)) => items.iter_mut().for_each(|item| at_each(item, rest, act)),
        (Step::Each, Value::Object(fields)) => fields.values_mut().for_each(|item| at_each(item, rest, act)),
        (step, value) => {
            if let Some(below) = below(value, step) {
                at_each(below, rest, act);
            }
        }
    }
}

/// Splits a path after its last [`Step::Each`]: the front leads to several values, and the rest to one in each.
pub(super) fn split(path: &[Step]) -> (&[Step], &[Step]) {
    let last = path.iter().rposition(|step| *step == Step::Each);
    path.split_at(last.map_or(0, |at| at + 1))
}

fn below<'v>(value: &'v mut Value, step: &Step) -> Option<&'v mut Value> {
    match step {
        Step::Field(name) => value.as_object_mut()?.get_mut(name),
        Step::Index(at) => value.as_array_mut()?.get_mut(*at),
        Step::Each => None,
    }
}

/// Removes and returns the value at a path. Its ancestors below the first `kept` steps are removed as well,
/// because the target version lacks them.
pub(super) fn take(value: &mut Value, path: &[Step], kept: usize) -> Option<Value> {
    let (step, rest) = path.split_first()?;
    let taken = match rest {
        [] => below(value, step).map(Value::take),
        rest => below(value, step).and_then(|below| take(below, rest, kept.saturating_sub(1))),
    };
    let leaves = rest.is_empty() || kept == 0;
    if let (true, Step::Field(name), Value::Object(fields)) = (leaves, step, value) {
        fields.remove(name);
    }
    taken
}

/// Sets the value at a path, and creates missing objects and lists; without effect if another type is in the way.
pub(super) fn put(value: &mut Value, path: &[Step], new: Value) {
    let Some((step, rest)) = path.split_first() else {
        *value = new;
        return;
    };
    if value.is_null() {
        *value = match step {
            Step::Field(_) => Value::Object(Map::new()),
            _ => Value::Array(Vec::new()),
        };
    }
    match (step, value) {
        (Step::Field(name), Value::Object(fields)) => {
            put(fields.entry(name.clone()).or_insert(Value::Null), rest, new);
        }
        (Step::Index(at), Value::Array(items)) => {
            if items.len() == *at {
                items.push(Value::Null);
            }
            if let Some(item) = items.get_mut(*at) {
                put(item, rest, new);
            }
        }
        _ => {}
    }
}
