//! The result of a run of a scenario: the objects of other kinds, compared with those of two runs without faults.
//! Differences between these two result from the time or from random numbers, so a run with a fault may have another
//! value there, but only one.
use crate::local::{InMemoryApi, Key};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Metadata that differs between equivalent objects.
const OF_THE_SERVER: [&str; 5] = [
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "generation",
    "managedFields",
];

/// The result of a run.
pub(super) struct Left {
    /// The objects, without metadata that only the API server sets. An object with a generated name is identified by
    /// its position among such objects of its kind, in the order of their creation.
    objects: BTreeMap<Key, Value>,
    /// The order in which they were created.
    created: Vec<Key>,
    /// Each version of each object.
    history: Vec<(Key, Value)>,
}

impl Left {
    pub fn of(api: &InMemoryApi) -> Self {
        let history = api.history();
        let mut created: Vec<Key> = Vec::new();
        for (key, _) in &history {
            if !created.contains(key) {
                created.push(key.clone());
            }
        }
        let mut objects: BTreeMap<_, _> = api.left().into_iter().collect();
        for object in objects.values_mut() {
            if let Some(metadata) = object["metadata"].as_object_mut() {
                metadata.retain(|field, _| !OF_THE_SERVER.contains(&&**field));
            }
        }
        Self {
            objects,
            created,
            history,
        }
    }

    /// The kinds of which this run has created more objects than another run.
    pub fn more_made_than(&self, other: &Self) -> Vec<String> {
        let made = |left: &Self| {
            let uids = left.history.iter().map(|(key, object)| {
                let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
                (key.clone(), uid.to_owned())
            });
            let mut made = BTreeMap::<String, usize>::new();
            for (key, _) in uids.collect::<BTreeSet<_>>() {
                *made.entry(key.collection).or_default() += 1;
            }
            made
        };
        let (most, mut wrong) = (made(other), Vec::new());
        for (collection, made) in made(self) {
            let most = most.get(&collection).copied().unwrap_or_default();
            if made > most {
                wrong.push(format!(
                    "{made} objects instead of {most} are made in {collection}"
                ));
            }
        }
        wrong
    }

    /// The objects of a collection whose names differ between runs, in the order of their creation.
    fn generated(&self, collection: &str, stable: &BTreeSet<Key>) -> Vec<&Value> {
        let names = self.created.iter();
        let generated = names.filter(|key| key.collection == collection && !stable.contains(key));
        generated.filter_map(|key| self.objects.get(key)).collect()
    }

    /// The number of different values that a field of an object has had, without times.
    fn values(&self, key: &Key, pointer: &str) -> usize {
        let versions = self.history.iter().filter(|(of, _)| of == key);
        let values = versions.filter_map(|(_, object)| object.pointer(pointer));
        let values = values.filter(|value| !value.is_null() && !is_time(value));
        values.map(Value::to_string).collect::<BTreeSet<_>>().len()
    }
}

/// The differences between a run with a fault and two runs without one. The fields of the status are JSON.
pub(super) fn differences([plain, again, ran]: [&Left; 3], status: [Option<String>; 3]) -> Vec<String> {
    let mut wrong = Vec::new();
    let status = status.map(|text| {
        text.and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default()
    });
    let [of_plain, of_again, of_ran] = &status;
    wrong.extend(
        difference(of_plain, of_ran, &differing(of_plain, of_again)).map(|(at, is)| {
            let at = at.replace('/', ".");
            format!("`.status{at}` {is}")
        }),
    );
    let stable: BTreeSet<Key> = plain
        .objects
        .keys()
        .filter(|key| again.objects.contains_key(key))
        .cloned()
        .collect();
    for key in &stable {
        let (object, name) = (&plain.objects[key], named(key, &plain.objects[key]));
        let Some(made) = ran.objects.get(key) else {
            wrong.push(format!("{name} is missing"));
            continue;
        };
        let once = differing(object, &again.objects[key]);
        let differs = difference(object, made, &once);
        wrong.extend(differs.map(|(at, is)| format!("`{}` of {name} {is}", at.replace('/', "."))));
        for pointer in &once {
            if ran.values(key, pointer) > plain.values(key, pointer).max(1) {
                let at = pointer.replace('/', ".");
                wrong.push(format!("`{at}` of {name} is generated again after it was stored"));
            }
        }
    }
    let collections: BTreeSet<&String> = [plain, ran]
        .iter()
        .flat_map(|left| left.objects.keys())
        .map(|key| &key.collection)
        .collect();
    for collection in collections {
        let [of_plain, of_again, of_ran] =
            [plain, again, ran].map(|left| left.generated(collection, &stable));
        if of_plain.len() != of_ran.len() {
            let among = stable.iter().filter(|key| key.collection == *collection).count();
            wrong.push(format!(
                "{} objects instead of {} are left in {collection}",
                among + of_ran.len(),
                among + of_plain.len()
            ));
            continue;
        }
        for (nth, (object, made)) in of_plain.iter().zip(&of_ran).enumerate() {
            let once = of_again
                .get(nth)
                .map(|again| differing(object, again))
                .unwrap_or_default();
            let differs = difference(object, made, &once);
            wrong.extend(
                differs
                    .map(|(at, is)| format!("`{}` of an object in {collection} {is}", at.replace('/', "."))),
            );
        }
    }
    wrong
}

/// An object, for messages.
fn named(key: &Key, object: &Value) -> String {
    let kind = object["kind"].as_str().unwrap_or(&key.collection);
    format!("{kind} `{}`", key.name)
}

fn is_time(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|text| text.parse::<Timestamp>().is_ok())
}

/// The pointers at which two values differ.
fn differing(one: &Value, other: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut pairs = vec![(String::new(), one, other)];
    while let Some((at, one, other)) = pairs.pop() {
        match members(&at, one, other) {
            Some(members) => pairs.extend(members),
            None if one != other => drop(found.insert(at)),
            None => {}
        }
    }
    found
}

/// The first difference between an expected and an actual value, except for those at the pointers in `once`.
fn difference(expected: &Value, is: &Value, once: &BTreeSet<String>) -> Option<(String, String)> {
    let mut pairs = vec![(String::new(), expected, is)];
    while let Some((at, expected, is)) = pairs.pop() {
        let is_once = once.contains(&at) || (is_time(expected) && is_time(is));
        if is_once && expected.is_null() == is.is_null() {
            continue;
        }
        match members(&at, expected, is) {
            Some(members) => pairs.extend(members),
            None if expected != is => return Some((at, format!("is {is} instead of {expected}"))),
            None => {}
        }
    }
    None
}

/// The members of two objects, or of two lists of the same length, each with its pointer. `None` if they are compared as a
/// whole.
fn members<'a>(at: &str, one: &'a Value, other: &'a Value) -> Option<Vec<(String, &'a Value, &'a Value)>> {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            let member = |key: &String| {
                let pointer = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
                let of = |map: &'a serde_json::Map<String, Value>| map.get(key).unwrap_or(&Value::Null);
                (pointer, of(one), of(other))
            };
            Some(keys.into_iter().map(member).collect())
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let members = one.iter().zip(other).enumerate();
            Some(
                members
                    .map(|(nth, (one, other))| (format!("{at}/{nth}"), one, other))
                    .collect(),
            )
        }
        _ => None,
    }
}
