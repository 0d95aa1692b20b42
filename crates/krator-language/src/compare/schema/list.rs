//! Lists: their items, and the criteria for duplicates.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::SchemaWalk;
use super::query::{items_of, takes_null, value_types};
use crate::compare::affected::{Affected, ValueType, violates};
use crate::compare::place::Part;
use crate::compare::{ChangeKind, PathStep, SchemaPath, ServerOutcome};

impl SchemaWalk {
    pub(super) fn list(&mut self, old: &Json, new: &Json, path: &SchemaPath) {
        let (old_items, new_items) = (items_of(old), items_of(new));
        let below = path.then(PathStep::Items);
        let list_type = new["x-kubernetes-list-type"].as_str();
        // Items without keys make every update fail, because the API server cannot match them with the stored ones.
        let keyed = value_types(&old_items)
            .iter()
            .any(|sort| *sort != ValueType::Object)
            || takes_null(&old_items);
        if list_type == Some("map") && keyed {
            let message = "must now be an object: the list identifies its items by their fields";
            self.changes
                .refused(
                    ChangeKind::ListTypeChanged,
                    &below,
                    Part::Type,
                    message,
                    Affected::NoObject,
                )
                .outcomes(ServerOutcome::Refused, ServerOutcome::Refused)
                .unreadable();
        } else if takes_null(&old_items) && !takes_null(&new_items) {
            let updated = match list_type {
                Some("set") => ServerOutcome::ApplyFails,
                _ => ServerOutcome::Kept,
            };
            let message = "can no longer be null";
            self.changes
                .refused(
                    ChangeKind::NullableRemoved,
                    &below,
                    Part::Type,
                    message,
                    Affected::Null,
                )
                .outcomes(ServerOutcome::Refused, updated)
                .unreadable();
        }
        self.value(&old_items, &new_items, &below);

        let key = "x-kubernetes-list-type";
        let kind_of = |schema: &Json| schema[key].as_str().unwrap_or("atomic").to_owned();
        let keys_of = |schema: &Json| -> BTreeSet<String> {
            let keys = schema["x-kubernetes-list-map-keys"]
                .as_array()
                .into_iter()
                .flatten();
            keys.filter_map(Json::as_str).map(str::to_owned).collect()
        };
        let (old_keys, new_keys) = (keys_of(old), keys_of(new));
        match (kind_of(old).as_str(), kind_of(new).as_str()) {
            ("map", "map") if !old_keys.is_subset(&new_keys) => {
                let keys: Vec<String> = new_keys.into_iter().collect();
                let message = format!("now identifies its items by {} alone", listed(&keys));
                let part = Part::Key("x-kubernetes-list-map-keys");
                self.unique(new, path, part, message);
            }
            (before, "map") if before != "map" => {
                let keys: Vec<String> = new_keys.into_iter().collect();
                let message = format!("now identifies its items by {}", listed(&keys));
                self.unique(new, path, Part::Key(key), message);
            }
            (before, "set") if before != "set" => {
                let message = "must now have unique items".to_owned();
                self.unique(new, path, Part::Key(key), message);
            }
            (before, "atomic") if before != "atomic" => {
                self.atomic(path, key);
            }
            _ => {}
        }
    }

    /// Reports that duplicate items, or items with the same keys, are now refused.
    fn unique(&mut self, new: &Json, path: &SchemaPath, part: Part, message: String) {
        let affected = violates(new, &["x-kubernetes-list-type", "x-kubernetes-list-map-keys"]);
        self.changes
            .refused(ChangeKind::ListTypeChanged, path, part, message, affected)
            .clients("requests with duplicate items are refused");
    }
}

fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
