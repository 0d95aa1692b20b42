//! The data of an object that another version cannot hold: the difference between the object and its conversion
//! there and back. It is stored with the object, and put back when the object is converted to its version again.
//!
//! Each value has the digest of the value that it replaces. If that is different by then, it was edited in
//! the other version, and the edit wins.
use super::{Defaults, change::written};
use crate::spec_digest::of_text;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The data to put back at a path and below.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Held {
    /// A value.
    Value {
        /// The digest of the value to replace; `None` if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        was: Option<String>,
        /// The value to put back; `None` removes what is there.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "written"
        )]
        is: Option<Value>,
    },
    /// Data in fields of an object.
    Fields(BTreeMap<String, Held>),
    /// Data in items with these keys.
    Items(Vec<(Map<String, Value>, Held)>),
    /// Data in items of a list without keys.
    Places {
        /// The index of an item, its digest, and its data.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        items: Vec<(usize, String, Held)>,
        /// The expected number of items, and the items to append.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rest: Option<(usize, Vec<Value>)>,
    },
}

/// The digest of a value, which is independent of the order of fields.
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

/// The data that turns `without` into `whole`; `None` if they are equal.
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

/// Sorts the fields of a value, so that equal objects have equal annotations.
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

/// The differences of a list with keys; `None` if putting them back would not give `whole`.
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

/// The differences of a list without keys; `None` if `whole` is shorter.
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

/// The key of an item; `None` if a key field is missing.
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

/// Puts data back, except where the value to replace has been edited.
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
