//! Entries of `metadata.managedFields`, after `managedfields.go` of `k8s.io/apimachinery`.

use crate::field_set::FieldSet;
use crate::object::of_texts;
use jiff::Timestamp;
use serde_json::Value as Json;
use std::borrow::Cow;
use std::collections::BTreeMap;

pub(super) const APPLY: &str = "Apply";
pub(super) const UPDATE: &str = "Update";
const FIELDS_V1: &str = "FieldsV1";

/// An entry in its stored form.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct ManagedFieldsEntry<'a> {
    manager: String,
    operation: String,
    api_version: String,
    time: Option<String>,
    fields_type: String,
    fields: Option<Cow<'a, Json>>,
    subresource: String,
}

impl<'a> ManagedFieldsEntry<'a> {
    /// Reads an entry; none if a field has a wrong type.
    pub(super) fn read(json: &'a Json) -> Option<Self> {
        let entry = json.as_object()?;
        let text = |key: &str| match entry.get(key) {
            None | Some(Json::Null) => Some(String::new()),
            Some(Json::String(text)) => Some(text.clone()),
            Some(_) => None,
        };
        let time = match text("time")?.as_str() {
            "" => None,
            time => Some(utc(time)?),
        };
        Some(Self {
            manager: text("manager")?,
            operation: text("operation")?,
            api_version: text("apiVersion")?,
            time,
            fields_type: text("fieldsType")?,
            fields: entry
                .get("fieldsV1")
                .filter(|fields| !fields.is_null())
                .map(Cow::Borrowed),
            subresource: text("subresource")?,
        })
    }

    fn write(self) -> Json {
        let mut out = of_texts([
            ("manager", self.manager.as_str()),
            ("operation", &self.operation),
            ("apiVersion", &self.api_version),
            ("time", self.time.as_deref().unwrap_or_default()),
            ("fieldsType", &self.fields_type),
        ]);
        if let Some(fields) = self.fields {
            out.insert("fieldsV1".to_owned(), fields.into_owned());
        }
        out.extend(of_texts([("subresource", self.subresource.as_str())]));
        Json::Object(out)
    }

    fn key(&self) -> ManagerKey {
        ManagerKey {
            manager: self.manager.clone(),
            operation: self.operation.clone(),
            // The identity of an applying manager does not include the version.
            api_version: if self.operation == APPLY {
                String::new()
            } else {
                self.api_version.clone()
            },
            subresource: self.subresource.clone(),
        }
    }
}

/// A time in its stored form: in UTC, truncated to seconds.
fn utc(time: &str) -> Option<String> {
    let time: Timestamp = time.parse().ok()?;
    Some(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

/// The identity of a manager.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ManagerKey {
    pub(super) manager: String,
    pub(super) operation: String,
    pub(super) api_version: String,
    pub(super) subresource: String,
}

impl ManagerKey {
    /// The text that identifies the manager, which is the last criterion of the order.
    pub(super) fn identifier(&self) -> String {
        let fields = of_texts([
            ("manager", self.manager.as_str()),
            ("operation", &self.operation),
            ("apiVersion", &self.api_version),
            ("subresource", &self.subresource),
        ]);
        Json::Object(fields).to_string()
    }
}

/// The fields of a manager, in the version in which they were written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct VersionedSet {
    pub(super) set: FieldSet,
    pub(super) api_version: String,
    pub(super) applied: bool,
}

/// The field sets of managers.
pub(super) type Managers = BTreeMap<ManagerKey, VersionedSet>;

/// All managers of an object.
#[derive(Debug, Clone, Default)]
pub(super) struct Managed {
    pub(super) fields: Managers,
    /// The last write of each manager, as text that sorts like the time.
    pub(super) times: BTreeMap<ManagerKey, String>,
}

impl Managed {
    /// Reads the entries of an object.
    ///
    /// # Errors
    /// The error of an entry.
    pub(super) fn decode(entries: &[ManagedFieldsEntry<'_>]) -> Result<Self, String> {
        let mut managed = Self::default();
        for (index, entry) in entries.iter().enumerate() {
            if ![APPLY, UPDATE].contains(&entry.operation.as_str()) {
                return Err("operation must be `Apply` or `Update`".to_owned());
            }
            if entry.api_version.is_empty() {
                return Err("apiVersion must not be empty".to_owned());
            }
            match entry.fields_type.as_str() {
                FIELDS_V1 => {}
                "" => return Err(format!("missing fieldsType in managed fields entry {index}")),
                other => {
                    return Err(format!(
                        "invalid fieldsType {other:?} in managed fields entry {index}"
                    ));
                }
            }
            let set = match &entry.fields {
                Some(fields) => {
                    FieldSet::from_json(fields).map_err(|why| format!("error decoding set: {why}"))?
                }
                None => FieldSet::default(),
            };
            let set = VersionedSet {
                set,
                api_version: entry.api_version.clone(),
                applied: entry.operation == APPLY,
            };
            managed.fields.insert(entry.key(), set);
            managed
                .times
                .extend(entry.time.clone().map(|time| (entry.key(), time)));
        }
        Ok(managed)
    }

    /// The entries for the object: those of applies first, then by time.
    pub(super) fn encode(&self) -> Vec<Json> {
        let mut entries: Vec<ManagedFieldsEntry<'_>> = self
            .fields
            .iter()
            .map(|(key, set)| self.entry(key, set))
            .collect();
        let order = |entry: &ManagedFieldsEntry<'_>| {
            let ManagedFieldsEntry {
                operation,
                time,
                manager,
                api_version,
                subresource,
                ..
            } = entry;
            [
                operation,
                time.as_deref().unwrap_or_default(),
                manager,
                api_version,
                subresource,
            ]
            .map(str::to_owned)
        };
        entries.sort_by_cached_key(order);
        entries.into_iter().map(ManagedFieldsEntry::write).collect()
    }

    fn entry(&self, key: &ManagerKey, set: &VersionedSet) -> ManagedFieldsEntry<'static> {
        ManagedFieldsEntry {
            manager: key.manager.clone(),
            operation: if set.applied {
                APPLY.to_owned()
            } else {
                key.operation.clone()
            },
            api_version: set.api_version.clone(),
            time: self.times.get(key).cloned(),
            fields_type: FIELDS_V1.to_owned(),
            fields: Some(Cow::Owned(set.set.to_json())),
            subresource: key.subresource.clone(),
        }
    }
}
