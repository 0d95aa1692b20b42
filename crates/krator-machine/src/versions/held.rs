//! What a version cannot hold of an object: the difference that a conversion and the one back make. It is kept with the
//! object and put back when the object returns.
//!
//! Each value that is put back has the digest of what was there without it. Where something else is there by then, somebody
//! has edited the object in the other version, and the edit wins.
use super::{Defaults, change::written};
use crate::spec_digest::of_text;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What has to be put back at a place and below.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Held {
    /// A value.
    Value {
        /// The digest of what is there without it; `None` if nothing is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        was: Option<String>,
        /// The value; `None` if there is none.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "written"
        )]
        is: Option<Value>,
    },
    /// Values in fields.
    Fields(BTreeMap<String, Held>),
    /// Values in items with these keys.
    Items(Vec<(Map<String, Value>, Held)>),
    /// Values in items of a list without keys.
    Places {
        /// The index of each item, its digest, and what belongs into it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        items: Vec<(usize, String, Held)>,
        /// The number of items, and those that follow.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rest: Option<(usize, Vec<Value>)>,
    },
}

/// The digest of a value. The order of fields does not matter.
fn digest(value: &Value) -> String {
    fn of(value: &Value, place: &str) -> u64 {
        match value {
            Value::Object(fields) => fields.iter().fold(of_text(place, "{}"), |all, (name, field)| {
                all ^ of(field, &format!("{place}/{name}"))
            }),
            Value::Array(items) => items
                .iter()
                .enumerate()
                .fold(of_text(place, "[]"), |all, (at, item)| {
                    all ^ of(item, &format!("{place}#{at}"))
                }),
            other => of_text(place, &other.to_string()),
        }
    }
    format!("{:016x}", of(value, ""))
}

/// What has to be put back into `without` so that it becomes `whole`; `None` if nothing has to be.
pub(super) fn difference(without: Option<&Value>, whole: Option<&Value>, known: &Defaults) -> Option<Held> {
    if without == whole {
        return None;
    }
    Some(match (without, whole) {
        (Some(Value::Object(from)), Some(Value::Object(to))) => {
            let names = from.keys().chain(to.keys());
            let fields = names.filter_map(|name| {
                let held = difference(from.get(name), to.get(name), known.field(name))?;
                Some((name.clone(), held))
            });
            Held::Fields(fields.collect())
        }
        (Some(Value::Array(from)), Some(Value::Array(to))) => {
            let held = match known.keys.is_empty() {
                false => keyed(from, to, known),
                true => placed(from, to, known),
            };
            held.unwrap_or_else(|| value(without, whole))
        }
        (without, whole) => value(without, whole),
    })
}

/// The value with its fields in order, so that the same object has the same annotation whoever has written it.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<&String, Value> =
                fields.iter().map(|(name, value)| (name, sorted(value))).collect();
            fields
                .into_iter()
                .map(|(name, value)| (name.clone(), value))
                .collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

fn value(without: Option<&Value>, whole: Option<&Value>) -> Held {
    Held::Value {
        was: without.map(digest),
        is: whole.map(sorted),
    }
}

/// The differences of a list whose items have keys; `None` if putting them back would not give `whole`.
fn keyed(without: &[Value], whole: &[Value], known: &Defaults) -> Option<Held> {
    let names = &known.keys;
    let of_whole = whole.iter().map(|item| key(item, names));
    let of_whole: Vec<Map<String, Value>> = of_whole.collect::<Option<_>>()?;
    let mut held = Vec::new();
    for item in without {
        let key = key(item, names)?;
        if !of_whole.contains(&key) {
            held.push((key, value(Some(item), None)));
        }
    }
    for (item, key) in whole.iter().zip(of_whole) {
        let found = find(without, &key).map(|at| &without[at]);
        held.extend(difference(found, Some(item), known.item()).map(|held| (key, held)));
    }
    let held = Held::Items(held);
    let mut restored = Some(Value::Array(without.to_vec()));
    put_back(&mut restored, &held);
    (restored.as_ref().and_then(Value::as_array).map(Vec::as_slice) == Some(whole)).then_some(held)
}

/// The differences of a list whose items have no keys; `None` if it has become shorter.
fn placed(without: &[Value], whole: &[Value], known: &Defaults) -> Option<Held> {
    let rest = whole.get(without.len()..)?;
    let items = without
        .iter()
        .zip(whole)
        .enumerate()
        .filter_map(|(at, (without, whole))| {
            let held = difference(Some(without), Some(whole), known.item())?;
            Some((at, digest(without), held))
        });
    Some(Held::Places {
        items: items.collect(),
        rest: (!rest.is_empty()).then(|| (without.len(), rest.iter().map(sorted).collect())),
    })
}

/// The fields by which an item is told apart.
fn key(item: &Value, names: &[String]) -> Option<Map<String, Value>> {
    let fields = item.as_object()?;
    let there = names
        .iter()
        .filter_map(|name| Some((name.clone(), fields.get(name)?.clone())));
    Some(there.collect())
}

fn find(items: &[Value], key: &Map<String, Value>) -> Option<usize> {
    items
        .iter()
        .position(|item| key.iter().all(|(name, value)| item.get(name) == Some(value)))
}

/// Puts back what is held, except where the value that it belongs to has been edited.
pub(super) fn put_back(value: &mut Option<Value>, held: &Held) {
    match (held, value) {
        (Held::Value { was, is }, value) if value.as_ref().map(digest) == *was => value.clone_from(is),
        (Held::Fields(held), Some(Value::Object(fields))) => {
            for (name, held) in held {
                let mut field = fields.get_mut(name).map(Value::take);
                put_back(&mut field, held);
                match field {
                    Some(field) => drop(fields.insert(name.clone(), field)),
                    None => drop(fields.remove(name)),
                }
            }
        }
        (Held::Items(held), Some(Value::Array(items))) => {
            for (key, held) in held {
                let found = find(items, key);
                let mut item = found.map(|at| items[at].take());
                put_back(&mut item, held);
                match (found, item) {
                    (Some(at), Some(item)) => items[at] = item,
                    (Some(at), None) => drop(items.remove(at)),
                    (None, item) => items.extend(item),
                }
            }
        }
        (Held::Places { items: held, rest }, Some(Value::Array(items))) => {
            let length = items.len();
            for (at, was, held) in held {
                if let Some(item) = items.get_mut(*at).filter(|item| digest(item) == *was) {
                    let mut whole = Some(item.take());
                    put_back(&mut whole, held);
                    *item = whole.unwrap_or_default();
                }
            }
            if let Some((_, rest)) = rest.as_ref().filter(|(at, _)| *at == length) {
                items.extend(rest.iter().cloned());
            }
        }
        _ => {}
    }
}
