//! One write by one manager, from the check of types to the time of the entry: `structuredmerge.go`, `stripmeta.go`,
//! `managedfieldsupdater.go`, `buildmanagerinfo.go`, `capmanagers.go` and `skipnonapplied.go` of
//! `k8s.io/apimachinery/pkg/util/managedfields/internal`.

use super::conflicts::Failure;
use super::entries::{APPLY, Managed, ManagerKey, UPDATE};
use super::updater::Updater;
use super::{Manager, empty, failed, kind_text};
use crate::field_set::FieldSet;
use crate::refusal::Refusal;
use crate::typed::{Duplicates, validate};
use crate::types::Type;
use serde_json::Value as Json;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The largest number of managers with the operation `Update`. Above it, the oldest are merged.
const MAX_UPDATE_MANAGERS: usize = 10;
/// The manager of the merged oldest entries.
const OLD_UPDATES: &str = "ancient-changes";
/// The manager of the fields that an object has when its tracking begins with an apply.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// A write of an object.
pub(super) struct Tracking<'a> {
    pub(super) type_: &'a Type,
    pub(super) by: &'a Manager,
    pub(super) now: &'a str,
    pub(super) ignored: &'a FieldSet,
}

impl Tracking<'_> {
    /// The managers after an object was replaced by a new one.
    ///
    /// # Errors
    /// A message about the object that does not have its type, or that cannot be converted to the version of a manager.
    pub(super) fn update(
        &self,
        live: &Json,
        new: &Json,
        managed: Managed,
        name: &str,
    ) -> Result<Managed, String> {
        let check = |what: &str, object: &Json| {
            let error = |why| {
                format!(
                    "failed to convert {what} object ({}) to smd typed: {why}",
                    describe(object)
                )
            };
            validate(self.type_, object, Duplicates::Allowed).map_err(error)
        };
        check("new", new)?;
        check("live", live)?;
        // The changes of this write are collected separately: they decide whether the entry of the manager needs a new
        // time.
        let current = ManagerKey {
            manager: "current-operation".to_owned(),
            operation: String::new(),
            api_version: String::new(),
            subresource: String::new(),
        };
        let Managed { fields, mut times } = managed;
        let mut fields = self.updater().update(live, new, fields, &current)?;
        if let Some(mut changed) = fields.remove(&current) {
            changed.set = changed.set.difference(&NEVER_OWNED);
            if !changed.set.is_empty() {
                let key = self.key(name, UPDATE);
                if let Some(previous) = fields.get(&key) {
                    changed.set.add(previous.set.clone());
                }
                fields.insert(key.clone(), changed);
                times.insert(key, self.now.to_owned());
            }
        }
        let mut managed = Managed { fields, times };
        cap(&mut managed);
        Ok(managed)
    }

    /// The object and its managers after a configuration was applied.
    ///
    /// # Errors
    /// The reason why it cannot be applied.
    pub(super) fn apply(
        &self,
        live: &Json,
        config: &Json,
        managed: Managed,
        force: bool,
    ) -> Result<(Json, Managed), Failure> {
        let managed = if managed.fields.is_empty() {
            let started = self.update(&empty(self.type_, config), live, managed, BEFORE_FIRST_APPLY);
            started.map_err(|why| {
                Failure::Refused(failed(format!(
                    "failed to create manager for existing fields: {why}"
                )))
            })?
        } else {
            managed
        };
        self.check_applied(live, config).map_err(Failure::Refused)?;
        let key = self.key(&self.by.name, APPLY);
        let Managed { fields, mut times } = managed;
        let (object, mut fields) = self.updater().apply(live, config, fields, &key, force)?;
        if let Some(of) = fields.get_mut(&key) {
            of.set = of.set.difference(&NEVER_OWNED);
            if of.set.is_empty() {
                fields.remove(&key);
            }
        }
        // A manager that changes nothing keeps its time, or has none if it is new.
        if object.is_some() {
            times.insert(key, self.now.to_owned());
        }
        let object = object.map_or_else(|| Cow::Borrowed(live), Cow::Owned);
        Ok((object.into_owned(), Managed { fields, times }))
    }

    fn check_applied(&self, live: &Json, config: &Json) -> Result<(), Refusal> {
        if config["metadata"]["managedFields"].is_array() {
            return Err(Refusal::bad_request("metadata.managedFields must be nil"));
        }
        validate(self.type_, config, Duplicates::Refused).map_err(|why| {
            failed(format!(
                "failed to create typed patch object ({}): {why}",
                describe(config)
            ))
        })?;
        validate(self.type_, live, Duplicates::Allowed).map_err(|why| {
            failed(format!(
                "failed to create typed live object ({}): {why}",
                describe(live)
            ))
        })
    }

    fn updater(&self) -> Updater<'_> {
        Updater {
            type_: self.type_,
            api_version: &self.by.api_version,
            ignored: self.ignored,
            ignores_everywhere: self.by.subresource == "status",
        }
    }

    fn key(&self, name: &str, operation: &str) -> ManagerKey {
        ManagerKey {
            manager: if name.is_empty() {
                "unknown".to_owned()
            } else {
                name.to_owned()
            },
            operation: operation.to_owned(),
            api_version: if operation == APPLY {
                String::new()
            } else {
                self.by.api_version.clone()
            },
            subresource: self.by.subresource.clone(),
        }
    }
}

/// An object as it is named in errors.
fn describe(object: &Json) -> String {
    let text = |key: &str| object["metadata"][key].as_str().unwrap_or_default();
    format!("{}/{}; {}", text("namespace"), text("name"), kind_text(object))
}

/// The fields that no manager owns, because they identify the object or are set by the server.
static NEVER_OWNED: LazyLock<FieldSet> = LazyLock::new(|| {
    let metadata = [
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "clusterName",
        "generation",
        "managedFields",
        "resourceVersion",
    ];
    let metadata = metadata.map(|field| ["metadata", field]);
    let mut paths: Vec<&[&str]> = vec![&["apiVersion"], &["kind"], &["metadata"]];
    paths.extend(metadata.iter().map(<[&str; 2]>::as_slice));
    FieldSet::of(&paths)
});

/// Merges the oldest managers with the operation `Update`, by version, until the limit is met.
fn cap(managed: &mut Managed) {
    let updaters = managed.fields.iter().filter(|(_, of)| !of.applied);
    let mut updaters: Vec<ManagerKey> = updaters.map(|(key, _)| key.clone()).collect();
    let mut left = updaters.len();
    updaters.sort_by_cached_key(|key| (managed.times.get(key).cloned(), key.identifier()));
    // A version has a merged entry only if at least two entries were merged.
    let mut first_of_version: BTreeMap<String, ManagerKey> = BTreeMap::new();
    for key in updaters {
        if left <= MAX_UPDATE_MANAGERS {
            return;
        }
        let Some(of) = managed.fields.get(&key).cloned() else {
            continue;
        };
        let Some(first) = first_of_version.get(&of.api_version) else {
            first_of_version.insert(of.api_version, key);
            continue;
        };
        let bucket = ManagerKey {
            manager: OLD_UPDATES.to_owned(),
            operation: UPDATE.to_owned(),
            api_version: of.api_version.clone(),
            subresource: String::new(),
        };
        if !managed.fields.contains_key(&bucket)
            && let Some(oldest) = managed.fields.remove(first)
        {
            managed.fields.insert(bucket.clone(), oldest);
        }
        if let Some(merged) = managed.fields.get_mut(&bucket) {
            let before = std::mem::replace(merged, of);
            merged.set.add(before.set);
        }
        managed.fields.remove(&key);
        left -= 1;
        // The later of the two times.
        match managed.times.get(&key).cloned() {
            Some(time) => managed.times.insert(bucket, time),
            None => managed.times.remove(&bucket),
        };
    }
}
