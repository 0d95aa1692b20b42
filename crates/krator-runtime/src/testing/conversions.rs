//! Tests of conversions: objects of each version are converted to all others and back, as they are and after edits.

use crate::versions::{Change, Direction, Functions, Step, Versions};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Mutex, PoisonError},
};

/// The maximum number of reported problems; one defect breaks many objects.
const MOST: usize = 5;

/// Checks the laws of conversions for a kind. `versions` is a [`Versions`] as JSON, and `specs` contains the specs of
/// some objects of each version, as JSON:
///
/// 1. An object is unchanged after a conversion to another version and back.
/// 2. An edit in the other version is kept when the object returns to that version, and nothing else changes.
/// 3. The data of a list item that the other version cannot hold returns to that item or to none.
/// 4. A field of the spec that no change affects is the same in the other version. The metadata is unchanged except for
///    the annotation with the data that the other version cannot hold.
/// 5. A function of the author does not panic, and the other function of its pair undoes it: a value that was converted
///    there and back is converted to the same result again. A function may refuse a value.
///
/// # Panics
///
/// If a law is broken. The message names the objects.
pub fn conversions(versions: &str, functions: &Functions<'_>, specs: &str) {
    let versions: Versions = serde_json::from_str(versions).expect("versions.json is as krator writes it");
    let specs: BTreeMap<String, Vec<Value>> =
        serde_json::from_str(specs).expect("specs.json is as krator writes it");
    let trips = RoundTrips {
        versions,
        functions,
        wrong: Mutex::default(),
    };
    for (version, own) in &specs {
        for (other, others) in specs.iter().filter(|(other, _)| *other != version) {
            for (at, spec) in own.iter().enumerate() {
                let edited = others.get((at + 1) % others.len().max(1));
                trips.check(version, spec, other, edited.unwrap_or(&Value::Null));
            }
        }
    }
    let wrong = trips.wrong.into_inner().unwrap_or_else(PoisonError::into_inner);
    let told: Vec<String> = wrong.iter().take(MOST).cloned().collect();
    let more = wrong.len() - told.len();
    assert!(wrong.is_empty(), "\n{}\nand {more} more", told.join("\n"));
}

struct RoundTrips<'f> {
    versions: Versions,
    functions: &'f Functions<'f>,
    wrong: Mutex<Vec<String>>,
}

impl RoundTrips<'_> {
    /// Converts an object of a version to another and back. In the other version, it is edited to have the fields of
    /// another spec, and lists in another order.
    fn check(&self, version: &str, spec: &Value, other: &str, edited: &Value) {
        let object = json!({
            "apiVersion": format!("{}/{version}", self.versions.group), "kind": self.versions.kind,
            "metadata": {"name": "one", "labels": {"a": "b"}}, "spec": spec,
        });
        let there = self.convert(&object, other);
        let back = self.convert(&there, version);
        if back != object {
            self.tell(format!(
                "an object of {version} changes when it is converted to {other} and back: {object} becomes {back}"
            ));
        }
        if self.bare(&there)["metadata"] != object["metadata"] {
            self.tell(format!("the metadata of an object of {version} changes: {there}"));
        }
        for (name, value) in spec.as_object().into_iter().flatten() {
            if !self.is_changed(name) && there["spec"].get(name) != Some(value) {
                self.tell(format!(
                    "no change mentions `{name}`, but it differs from {version}: {there}"
                ));
            }
        }
        for (name, value) in edited.as_object().into_iter().flatten() {
            let mut edit = there.clone();
            edit["spec"][name] = value.clone();
            let home = self.convert(&edit, version);
            let again = self.convert(&home, other);
            if self.bare(&again)["spec"] != edit["spec"] {
                self.tell(format!(
                    "an edit of `{name}` in {other} is lost in {version}: {edit} becomes {again}"
                ));
            }
        }
        for (name, list) in there["spec"].as_object().into_iter().flatten() {
            let (Value::Array(list), Some(own)) = (list, object["spec"][name].as_array()) else {
                continue;
            };
            if list.len() == own.len() && list.len() > 1 {
                self.hold_list(version, (&there, list), name, own);
            }
        }
    }

    /// Whether a change affects a field of the spec or a part of it.
    fn is_changed(&self, name: &str) -> bool {
        let changes = self.versions.older.iter().flat_map(|older| &older.changes);
        let mut places = changes.flat_map(Change::places);
        places.any(|place| matches!(place.get(1), Some(Step::Field(field)) if field == name))
    }

    /// Reorders the items of a list, and checks the data of each item when the object is back.
    fn hold_list(&self, version: &str, (there, list): (&Value, &[Value]), name: &str, own: &[Value]) {
        let mut edit = there.clone();
        let mut turned = list.to_vec();
        turned.rotate_left(1);
        edit["spec"][name] = turned.into();
        let home = self.convert(&edit, version);
        let fresh = self.convert(&self.bare(&edit), version);
        for (at, item) in home["spec"][name].as_array().into_iter().flatten().enumerate() {
            // Items that are equal in the other version cannot be distinguished.
            let mut same = list
                .iter()
                .zip(own)
                .filter(|(other, _)| edit["spec"][name].get(at) == Some(*other));
            let is_own = same.any(|(_, own)| own == item);
            if !is_own && fresh["spec"][name].get(at) != Some(item) {
                self.tell(format!(
                    "an item of `{name}` in {version} has data of another item: {item}"
                ));
            }
        }
    }

    /// Converts an object, and removes the marks of functions that have refused.
    fn convert(&self, object: &Value, version: &str) -> Value {
        let to = format!("{}/{version}", self.versions.group);
        let functions: &Functions<'_> = &|name, direction, value| self.call(name, direction, value);
        let converted = self.versions.convert(object.clone(), &to, functions);
        let mut converted = converted.unwrap_or_else(|why| {
            self.tell(format!("{object} cannot be converted to {version}: {why}"));
            Value::Null
        });
        self.versions.forget_failed(&mut converted);
        converted
    }

    /// The object without the data that the other version cannot hold.
    fn bare(&self, object: &Value) -> Value {
        let mut object = object.clone();
        self.versions.take_annotation(&mut object);
        object
    }

    /// Calls a function of the author, and checks that the other function of the pair undoes it.
    fn call(&self, name: &str, direction: Direction, value: Option<Value>) -> Result<Option<Value>, String> {
        let there = self.try_call(name, direction, &value)?;
        if there.is_some() {
            let back = self.try_call(name, direction.opposite(), &there);
            let again = back.and_then(|back| self.try_call(name, direction, &back));
            if again.as_ref() != Ok(&there) {
                let [value, there] = [value, there.clone()].map(Option::unwrap_or_default);
                let again = again.map_or_else(|why| why, |again| again.unwrap_or_default().to_string());
                self.tell(format!(
                    "the functions of {name} are not inverse: {value} becomes {there}, and then {again}"
                ));
            }
        }
        Ok(there)
    }

    fn try_call(
        &self,
        name: &str,
        direction: Direction,
        value: &Option<Value>,
    ) -> Result<Option<Value>, String> {
        let called = catch_unwind(AssertUnwindSafe(|| {
            (self.functions)(name, direction, value.clone())
        }));
        called.unwrap_or_else(|_| {
            let shown = value.clone().unwrap_or_default();
            self.tell(format!("a function of {name} panics: {direction:?} with {shown}"));
            Err("it panics".to_owned())
        })
    }

    fn tell(&self, what: String) {
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        if !wrong.contains(&what) {
            wrong.push(what);
        }
    }
}
