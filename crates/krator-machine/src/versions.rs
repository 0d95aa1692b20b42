//! Conversions between the versions of a kind. Code of the author sees only the newest version; an older
//! version is defined by its changes to the next newer one.
//!
//! A conversion goes through all versions in between. Data that the other version cannot hold is kept in an
//! annotation, so that a conversion and its inverse change nothing. An edit in between wins over the kept
//! data, which has the digest of the value that it belongs to.
mod change;
mod held;
mod defaults;
mod owned;
mod path;
#[cfg(test)]
mod tests;

use change::Failures;
pub use change::{Change, Direction, Functions};
pub use defaults::Defaults;
pub use path::{Path, Step, nested, nested_value, path_text};

use held::{Held, difference, put_back};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The HTTP path of the conversion webhook.
pub const PATH: &str = "/convert";

/// The versions of a kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Versions {
    /// The group of the kind.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The version in which objects are stored.
    pub stored: String,
    /// The newest version.
    pub newest: Shape,
    /// The older versions, newest first.
    pub older: Vec<Older>,
}

/// The schema of a version, as far as conversions need it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shape {
    /// The name of the version.
    pub name: String,
    /// The defaults and list keys of its `.spec`.
    #[serde(default, skip_serializing_if = "Defaults::is_empty")]
    pub spec: Defaults,
}

/// An older version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Older {
    /// The version.
    #[serde(flatten)]
    pub shape: Shape,
    /// The changes that lead from this version to the next newer one, in this order.
    pub changes: Vec<Change>,
}

/// The longest text of the annotation. All annotations of an object may have 256 KiB together, and one object
/// that is too large makes the API server fail a whole list.
const LONGEST: usize = 128 << 10;
/// The text of an annotation that would be too long.
const INCOMPLETE: &str = "incomplete";

/// Errors of the author's conversion functions for one object: by the older one of the two versions between
/// which a function converts, and by the path of the value.
pub type Failed = BTreeMap<String, BTreeMap<String, String>>;

/// The contents of the annotation.
#[derive(Default, Serialize, Deserialize)]
struct ConversionData {
    /// For each version, the data of its spec that other versions cannot hold.
    #[serde(flatten)]
    held: BTreeMap<String, Held>,
    /// The errors of conversion functions. No version has the name of this field.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    failed: Failed,
}

impl ConversionData {
    /// Parses the annotation. Text of another format counts as empty.
    fn of(text: Option<String>) -> ConversionData {
        let data = text.and_then(|text| serde_json::from_str(&text).ok());
        data.unwrap_or_default()
    }

    fn is_empty(&self) -> bool {
        self.held.is_empty() && self.failed.is_empty()
    }

    fn text(&self) -> String {
        // This cannot fail, because all keys are strings.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Calls a conversion function of the author with a value of its type, and serializes its result. `null` counts as absent.
///
/// A required field may be absent as well, because the API server converts objects before it validates them.
/// The function is not called then.
///
/// # Errors
///
/// If the value is not of the type, or the function refuses it.
pub fn converted<From: DeserializeOwned, To: Serialize>(
    value: Option<Value>,
    function: impl Fn(From) -> Result<To, String>,
) -> Result<Option<Value>, String> {
    let is_absent = value.is_none();
    let Ok(value) = serde_json::from_value(value.unwrap_or_default()) else {
        // The error of serde is replaced, because it would repeat the value.
        return match is_absent {
            true => Ok(None),
            false => Err("the value is not of the type in the description".to_owned()),
        };
    };
    let value = serde_json::to_value(function(value)?).map_err(|_| "the result is not JSON".to_owned())?;
    Ok(Some(value).filter(|value| !value.is_null()))
}

/// The annotation for what a version cannot hold, of kinds of a group.
pub fn annotation(group: &str) -> String {
    format!("{group}/conversion-data")
}

/// The former name of [`annotation`], which is read for one release.
pub fn former_annotation(group: &str) -> String {
    format!("{group}/held")
}

/// The errors that [`Versions::convert`] has recorded in this text of the annotation.
pub fn failed(annotation: &str) -> Failed {
    // Annotations may be long and errors are rare, so the text is searched before it is parsed.
    let data = annotation
        .contains("\"failed\"")
        .then(|| serde_json::from_str::<ConversionData>(annotation).ok());
    data.flatten().unwrap_or_default().failed
}

impl Versions {
    /// The annotation for what a version cannot hold.
    pub fn annotation(&self) -> String {
        annotation(&self.group)
    }

    /// The errors of the last conversion of an object; see [`failed`].
    pub fn failed(&self, object: &Value) -> Failed {
        let annotation = object["metadata"]["annotations"][self.annotation()].as_str();
        annotation.map(failed).unwrap_or_default()
    }

    /// Whether functions of the author convert some of the values.
    pub fn have_functions(&self) -> bool {
        let mut changes = self.older.iter().flat_map(|older| &older.changes);
        changes.any(|change| matches!(change, Change::Custom { .. }))
    }

    /// Whether the object is of this kind, and `to` is a `group/version` of its group.
    pub fn are_of(&self, object: &Value, to: &str) -> bool {
        object.get("kind").and_then(Value::as_str) == Some(&*self.kind)
            && to.split('/').next() == Some(&*self.group)
    }

    /// Converts an object to another version. Metadata and required fields may be absent.
    ///
    /// # Errors
    ///
    /// If a version is unknown. In the storage version, also if data would be lost: such an object must not
    /// be written, while every stored object must remain readable.
    pub fn convert(&self, mut object: Value, to: &str, functions: &Functions<'_>) -> Result<Value, String> {
        let (from, source, target) = self.between(&object, to)?;
        if source == target {
            return Ok(object);
        }
        let to = self.shape(target).name.as_str();
        let is_stored = to == self.stored;
        if let Some(fields) = object.as_object_mut() {
            fields.insert("apiVersion".to_owned(), format!("{}/{to}", self.group).into());
        }
        let text = self.take_annotation(&mut object);
        let is_incomplete = text.as_deref() == Some(INCOMPLETE);
        if is_incomplete && is_stored {
            return Err(format!(
                "this object has data that {from} cannot hold, so it can be read in that version but not written: use {to}"
            ));
        }
        let mut data = ConversionData::of(text);
        // Fields that the source version has are taken from the object, and never from the annotation.
        data.held.remove(&from);
        self.pass(&mut object, (source, target), &mut data, functions);
        let mut text = data.text();
        if text.len() > LONGEST && is_stored {
            let (size, most) = (text.len() >> 10, LONGEST >> 10);
            return Err(format!(
                "this object has {size} KiB of data that {to} cannot hold, and an annotation can keep at most {most} KiB"
            ));
        }
        if text.len() > LONGEST || is_incomplete {
            text = INCOMPLETE.to_owned();
        }
        if !data.is_empty() || is_incomplete {
            self.put_annotation(&mut object, text);
        }
        Ok(object)
    }

    /// Removes the errors from the annotation: they are about the last conversion, and not part of the object.
    pub fn forget_failed(&self, object: &mut Value) {
        if !self.failed(object).is_empty() {
            let mut data = ConversionData::of(self.take_annotation(object));
            data.failed.clear();
            if !data.is_empty() {
                self.put_annotation(object, data.text());
            }
        }
    }

    /// The version of an object with its index, and the index of another version.
    fn between(&self, object: &Value, to: &str) -> Result<(String, usize, usize), String> {
        let find = |api_version: &str| {
            let name = api_version.strip_prefix(&self.group)?.strip_prefix('/')?;
            Some((name.to_owned(), self.find(name)?))
        };
        let from = object
            .get("apiVersion")
            .and_then(Value::as_str)
            .unwrap_or_default();
        match (find(from), find(to)) {
            (Some((name, source)), Some((_, target))) => Ok((name, source, target)),
            _ => Err(format!(
                "there is no conversion of a {} from {from:?} to {to:?}",
                self.kind
            )),
        }
    }

    /// Converts an object through all versions between two indexes: data that one of them cannot hold may be
    /// a field of the next.
    fn pass(
        &self,
        object: &mut Value,
        (mut at, target): (usize, usize),
        data: &mut ConversionData,
        functions: &Functions<'_>,
    ) {
        while at != target {
            let next = if at < target { at + 1 } else { at - 1 };
            let before = object.get("spec").cloned();
            let mut failed = Failures::new();
            self.step(object, (at, next), functions, &mut failed);
            let held = data.held.remove(&self.shape(next).name);
            if let (Some(held), Value::Object(fields)) = (held, &mut *object) {
                let fallbacks = (!failed.is_empty()).then(|| fields.get("spec").cloned());
                let mut whole = fields.get_mut("spec").map(Value::take);
                put_back(&mut whole, &held);
                if let Some(fallbacks) = fallbacks {
                    // A value that was put back needs no conversion function, so its error is dropped.
                    failed.retain(|path, _| !self.returns(path, (at, next), (&fallbacks, &whole)));
                }
                match whole {
                    Some(whole) => drop(fields.insert("spec".to_owned(), whole)),
                    None => drop(fields.remove("spec")),
                }
            }
            let between = self.shape(at.max(next)).name.clone();
            data.failed.remove(&between);
            if !failed.is_empty() {
                data.failed.insert(between, failed);
            }
            // Changes only read the spec, so the rest of the object, which may be long, is not copied.
            let mut back = Value::Object(Map::new());
            if let Some(spec) = object.get("spec") {
                back["spec"] = spec.clone();
            }
            // Where a function fails on the way back, the original value is kept in the annotation.
            self.step(&mut back, (next, at), functions, &mut Failures::new());
            let shape = self.shape(at);
            if let Some(held) = difference(back.get("spec"), before.as_ref(), &shape.spec) {
                data.held.insert(shape.name.clone(), held);
            }
            at = next;
        }
    }

    /// Whether every value at the path of a failed function was replaced by data from the annotation.
    /// `fallbacks` is the spec before that, and `whole` the spec after it.
    fn returns(
        &self,
        failed: &str,
        (from, to): (usize, usize),
        (fallbacks, whole): (&Option<Value>, &Option<Value>),
    ) -> bool {
        let mut path = None;
        self.each_change((from, to), |change, direction| match (change, &mut path) {
            (Change::Custom { at, .. }, None) if path_text(at) == failed => path = Some(at.clone()),
            (change, Some(path)) => change.follow(direction, path),
            _ => {}
        });
        let Some(path) = path else { return false };
        let values = |spec: &Option<Value>| {
            let mut spec = spec.clone().unwrap_or_default();
            let mut found = Vec::new();
            path::at_each(&mut spec, path.get(1..).unwrap_or_default(), &mut |value| {
                found.push(value.take());
            });
            found
        };
        let (before, after) = (values(fallbacks), values(whole));
        let all_differ =
            !before.is_empty() && before.iter().zip(&after).all(|(before, after)| before != after);
        before.len() != after.len() || all_differ
    }

    /// Applies or reverts the changes between two adjacent versions, and fills in the defaults of the target.
    fn step(
        &self,
        object: &mut Value,
        (from, to): (usize, usize),
        functions: &Functions<'_>,
        failures: &mut Failures,
    ) {
        self.each_change((from, to), |change, direction| {
            change.apply(object, direction, functions, failures)
        });
        if let Some(spec) = object.get_mut("spec") {
            self.shape(to).spec.fill(spec);
        }
    }

    /// Calls `act` with the changes between two adjacent versions, in the order in which they are applied or reverted.
    fn each_change(&self, (from, to): (usize, usize), mut act: impl FnMut(&Change, Direction)) {
        let changes = self.older[from.max(to) - 1].changes.iter();
        if from > to {
            changes.for_each(|change| act(change, Direction::Up));
        } else {
            changes.rev().for_each(|change| act(change, Direction::Down));
        }
    }

    /// The index of a version: 0 for the newest.
    fn find(&self, name: &str) -> Option<usize> {
        (0..=self.older.len()).find(|at| self.shape(*at).name == name)
    }

    fn shape(&self, at: usize) -> &Shape {
        match at.checked_sub(1) {
            Some(older) => &self.older[older].shape,
            None => &self.newest,
        }
    }

    /// Removes the annotation, and returns its text if it had one.
    pub fn take_annotation(&self, object: &mut Value) -> Option<String> {
        let metadata = object.get_mut("metadata")?.as_object_mut()?;
        let annotations = metadata.get_mut("annotations")?.as_object_mut()?;
        let former = annotations.remove(&former_annotation(&self.group));
        let taken = annotations.remove(&self.annotation()).or(former);
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
        Some(taken?.as_str()?.to_owned())
    }

    fn put_annotation(&self, object: &mut Value, text: String) {
        let Some(Value::Object(metadata)) = object.get_mut("metadata") else {
            return;
        };
        let annotations = metadata.entry("annotations").or_insert(Value::Null);
        if annotations.is_null() {
            *annotations = Value::Object(Map::new());
        }
        if let Value::Object(annotations) = annotations {
            annotations.insert(self.annotation(), text.into());
        }
    }
}
