//! The owners of fields: `metadata.managedFields`, server-side apply, and the effect of other writes on them, after
//! `k8s.io/apimachinery/pkg/util/managedfields/internal`. The nested managers of the original are steps of [`apply`]
//! and [`update`] here, with the same names.

mod entries;
mod updater;
mod conflicts;
mod tracking;
mod client_side;
mod scale;

pub use scale::ScaleFields;

use crate::field_set::FieldSet;
use crate::refusal::Refusal;
use crate::types::Type;
use conflicts::Failure;
use entries::{Managed, ManagedFieldsEntry};
use serde_json::{Map, Value as Json, json};
use std::borrow::Cow;
use tracking::Tracking;

/// The writer of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manager {
    /// The name of the field manager; an empty name is replaced by `unknown`.
    pub name: String,
    /// The version in which the object is written.
    pub api_version: String,
    /// The subresource through which it is written; empty for the object itself.
    pub subresource: String,
}

/// Merges an applied configuration into an object, or into a new one if there is none. The `managedFields` of the
/// result contain the owners. `now` is a time such as `2026-01-31T12:00:00Z`. The fields in `ignored` are not owned,
/// because the strategy resets them: for example, `status` of an object with a status subresource.
///
/// The caller must check the kind of the configuration before ([`check_kind`]). Afterwards, it must apply defaults,
/// validate, and call [`keep_times`] before it stores the result.
///
/// # Errors
/// 400 if the configuration has `managedFields` or another version, 409 if it changes fields of other managers without
/// force, and 500, as from the API server, if it does not have the type of the object.
pub fn apply(
    live: Option<&Json>,
    config: &Json,
    type_: &Type,
    by: &Manager,
    force: bool,
    now: &str,
    ignored: &FieldSet,
) -> Result<Json, Refusal> {
    let live = live.map_or_else(|| Cow::Owned(empty(type_, config)), Cow::Borrowed);
    let managed = Managed::decode(&entries_of(&live).unwrap_or_default())
        .map_err(|why| failed(format!("failed to decode managed fields: {why}")))?;
    if config["apiVersion"].as_str() != Some(by.api_version.as_str()) {
        return Err(wrong_kind(config));
    }
    let tracking = Tracking {
        type_,
        by,
        now,
        ignored,
    };
    let (mut object, managed) =
        client_side::apply(&tracking, &without_managed(&live), config, managed, force).map_err(
            |failure| match failure {
                Failure::Conflicts(conflicts) => conflicts::refusal(conflicts),
                Failure::Refused(refusal) => refusal,
            },
        )?;
    set_managed(&mut object, &managed);
    Ok(object)
}

/// Records the manager that has created, updated or patched an object. `live` is the object before. `new` may contain
/// its own `managedFields`, and an empty list of them ends the tracking. `now` and `ignored` are as for [`apply`].
///
/// As in the API server, an object that does not have its type keeps its former `managedFields`.
pub fn update(
    live: Option<&Json>,
    new: Json,
    type_: &Type,
    by: &Manager,
    now: &str,
    ignored: &FieldSet,
) -> Json {
    let managed = live_or_new(live, &new, by);
    let mut object = new;
    drop_managed(&mut object);
    let tracking = Tracking {
        type_,
        by,
        now,
        ignored,
    };
    let tracked = match live {
        // Tracking begins with the creation or an apply of an object. An update does not start it again.
        Some(_) if managed.fields.is_empty() => Ok(managed),
        Some(live) => tracking.update(&without_managed(live), &object, managed, &by.name),
        None => tracking.update(&empty(type_, &object), &object, managed, &by.name),
    };
    match tracked {
        Ok(managed) => set_managed(&mut object, &managed),
        Err(_) => {
            if let Some(kept) = live.and_then(|live| live.pointer("/metadata/managedFields")) {
                object["metadata"]["managedFields"] = kept.clone();
            }
        }
    }
    object
}

/// Restores the times in `managedFields` if nothing else has changed, so that a write without changes does not create a
/// new version of the object. After `IgnoreManagedFieldsTimestampsTransformer` of `k8s.io/apiserver`.
pub fn keep_times(live: &Json, new: &mut Json) {
    let (Some(before), Some(after)) = (managed_of(live), managed_of(new)) else {
        return;
    };
    let same_entry = |(a, b): (&Json, &Json)| match (a, b) {
        (Json::Object(a), Json::Object(b)) => are_same_but(a, b, "time"),
        _ => a == b,
    };
    let same_managers = before.len() == after.len() && before.iter().zip(after).all(same_entry);
    if same_managers && are_same_but_managed(live, new) {
        new["metadata"]["managedFields"] = live["metadata"]["managedFields"].clone();
    }
}

/// Whether two objects are equal except for their `managedFields`.
pub fn are_same_but_managed(a: &Json, b: &Json) -> bool {
    let same_metadata = |a: &Json, b: &Json| match (a, b) {
        (Json::Object(a), Json::Object(b)) => are_same_but(a, b, "managedFields"),
        _ => a == b,
    };
    match (a, b) {
        (Json::Object(a), Json::Object(b)) => {
            are_same_but(a, b, "metadata")
                && match (a.get("metadata"), b.get("metadata")) {
                    (Some(a), Some(b)) => same_metadata(a, b),
                    (a, b) => a == b,
                }
        }
        _ => a == b,
    }
}

/// Whether two maps are equal except for one key.
fn are_same_but(a: &Map<String, Json>, b: &Map<String, Json>, key: &str) -> bool {
    let others = |map: &Map<String, Json>| map.len() - usize::from(map.contains_key(key));
    others(a) == others(b)
        && a.iter()
            .all(|(name, value)| name == key || b.get(name) == Some(value))
}

/// Checks that an applied configuration has a kind.
///
/// # Errors
/// 400 if it has another kind.
pub fn check_kind(config: &Json, api_version: &str, kind: &str) -> Result<(), Refusal> {
    match (config["apiVersion"].as_str(), config["kind"].as_str()) {
        (Some(version), Some(of)) if version == api_version && of == kind => Ok(()),
        _ => Err(wrong_kind(config)),
    }
}

fn wrong_kind(config: &Json) -> Refusal {
    Refusal::bad_request(format!("invalid object type: {}", kind_text(config)))
}

/// The kind of an object as Go prints it, such as `apps/v1, Kind=Deployment`.
fn kind_text(object: &Json) -> String {
    let api_version = object["apiVersion"].as_str().unwrap_or_default();
    let slash = if api_version.contains('/') { "" } else { "/" };
    format!(
        "{slash}{api_version}, Kind={}",
        object["kind"].as_str().unwrap_or_default()
    )
}

/// An internal error, whose message is the whole response.
fn failed(message: impl Into<String>) -> Refusal {
    Refusal {
        code: 500,
        reason: "",
        ..Refusal::bad_request(message)
    }
}

/// The empty object from which a creation starts.
fn empty(type_: &Type, like: &Json) -> Json {
    let mut object = Map::new();
    for key in ["apiVersion", "kind"] {
        if let Some(value) = like.get(key) {
            object.insert(key.to_owned(), value.clone());
        }
    }
    object.extend(type_.empty().as_object().cloned().unwrap_or_default());
    Json::Object(object)
}

fn managed_of(object: &Json) -> Option<&Vec<Json>> {
    object["metadata"]["managedFields"].as_array()
}

/// The entries of an object; none if they are malformed.
fn entries_of(object: &Json) -> Option<Vec<ManagedFieldsEntry<'_>>> {
    managed_of(object)?.iter().map(ManagedFieldsEntry::read).collect()
}

/// The managed fields from which a write starts. A client that was written before managed fields must not delete them.
fn live_or_new(live: Option<&Json>, new: &Json, by: &Manager) -> Managed {
    let of_live = || {
        let entries = live.and_then(entries_of).unwrap_or_default();
        Managed::decode(&entries).unwrap_or_default()
    };
    // A request for a subresource cannot set them.
    if !by.subresource.is_empty() {
        return of_live();
    }
    let Some(entries) = entries_of(new) else {
        return of_live();
    };
    if entries.is_empty() || entries == [ManagedFieldsEntry::default()] {
        return Managed::default();
    }
    match Managed::decode(&entries) {
        Ok(managed) if !managed.fields.is_empty() => managed,
        _ => of_live(),
    }
}

/// A copy of an object without its `managedFields`.
fn without_managed(object: &Json) -> Json {
    let Json::Object(fields) = object else {
        return object.clone();
    };
    let copied = fields.iter().map(|(key, value)| {
        let value = match value {
            Json::Object(metadata) if key == "metadata" => {
                let others = metadata.iter().filter(|(key, _)| *key != "managedFields");
                Json::Object(others.map(|(key, value)| (key.clone(), value.clone())).collect())
            }
            _ => value.clone(),
        };
        (key.clone(), value)
    });
    Json::Object(copied.collect())
}

/// Removes `managedFields` from an object.
fn drop_managed(object: &mut Json) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Json::as_object_mut) {
        metadata.shift_remove("managedFields");
    }
}

fn set_managed(object: &mut Json, managed: &Managed) {
    let entries = managed.encode();
    if entries.is_empty() {
        return;
    }
    if let Some(object) = object.as_object_mut() {
        let metadata = object.entry("metadata").or_insert_with(|| json!({}));
        if let Some(metadata) = metadata.as_object_mut() {
            metadata.insert("managedFields".to_owned(), entries.into());
        }
    }
}

#[cfg(test)]
mod tests;
