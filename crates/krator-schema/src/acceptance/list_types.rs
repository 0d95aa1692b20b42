//! The types of lists and maps in a schema: `x-kubernetes-list-type`, `x-kubernetes-list-map-keys` and
//! `x-kubernetes-map-type`.

use std::collections::BTreeSet;

use super::problems::Problems;
use crate::schema::Items;
use crate::{Path, ProblemKind, Schema};

impl Problems {
    pub(super) fn map_type(&mut self, schema: &Schema, path: &Path) {
        let Some(map_type) = schema.map_type.as_deref() else {
            return;
        };
        self.needs_type(
            schema,
            "object",
            "must be object if x-kubernetes-map-type is specified",
            path,
        );
        if !matches!(map_type, "atomic" | "granular") {
            self.add(
                &path.field("x-kubernetes-map-type"),
                ProblemKind::NotSupported,
                "supported values: \"atomic\", \"granular\"",
            );
        }
    }

    fn needs_type(&mut self, schema: &Schema, type_: &str, detail: &str, path: &Path) {
        let kind = match schema.type_.as_deref().unwrap_or_default() {
            "" => ProblemKind::Required,
            found if found != type_ => ProblemKind::Invalid,
            _ => return,
        };
        self.add(&path.field("type"), kind, detail);
    }

    pub(super) fn list_type(&mut self, schema: &Schema, path: &Path) {
        let at = path.field("x-kubernetes-list-type");
        let keys = schema.list_map_keys.as_deref().unwrap_or_default();
        let Some(list_type) = schema.list_type.as_deref() else {
            if !keys.is_empty() {
                self.add(
                    &at,
                    ProblemKind::Required,
                    "must be map if x-kubernetes-list-map-keys is non-empty",
                );
            }
            return;
        };
        let items = path.field("items");
        if schema.type_.as_deref() == Some("array") {
            if list_type == "set"
                && let Some(item) = schema.item()
            {
                self.set_item(item, &items);
            }
        } else {
            self.needs_type(
                schema,
                "array",
                "must be array if x-kubernetes-list-type is specified",
                path,
            );
        }
        if !matches!(list_type, "atomic" | "set" | "map") {
            self.add(
                &at,
                ProblemKind::NotSupported,
                "supported values: \"atomic\", \"set\", \"map\"",
            );
        }
        if !keys.is_empty() && list_type != "map" {
            self.add(
                &at,
                ProblemKind::Invalid,
                "must be map if x-kubernetes-list-map-keys is non-empty",
            );
        }
        if matches!(list_type, "set" | "map") && schema.item().is_some_and(|item| item.nullable == Some(true))
        {
            self.forbidden(
                &items,
                "nullable",
                &format!("cannot be nullable when x-kubernetes-list-type is {list_type}"),
            );
        }
        if list_type == "map" {
            self.list_map(schema, keys, path);
        }
    }

    fn set_item(&mut self, item: &Schema, path: &Path) {
        let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
        let wrong = match item.type_.as_deref() {
            Some("array") if item.list_type.as_deref().is_some_and(|type_| type_ != "atomic") => {
                "x-kubernetes-list-type"
            }
            Some("object") if item.map_type.as_deref() != Some("atomic") => "x-kubernetes-map-type",
            _ => return,
        };
        self.add(&path.field(wrong), ProblemKind::Invalid, detail);
    }

    fn list_map(&mut self, schema: &Schema, keys: &[String], path: &Path) {
        let at = path.field("x-kubernetes-list-map-keys");
        if keys.is_empty() {
            self.add(
                &at,
                ProblemKind::Required,
                "must not be empty if x-kubernetes-list-type is map",
            );
        }
        let items = path.field("items");
        let item = match &schema.items {
            None => {
                let detail = "must have a schema if x-kubernetes-list-type is map";
                return self.add(&items, ProblemKind::Required, detail);
            }
            Some(Items::Each(_)) => {
                let detail = "must only have a single schema if x-kubernetes-list-type is map";
                return self.add(&items, ProblemKind::Invalid, detail);
            }
            Some(Items::All(item)) => item,
        };
        if item.type_.as_deref() != Some("object") {
            self.add(
                &items.field("type"),
                ProblemKind::Invalid,
                "must be object if parent array's x-kubernetes-list-type is map",
            );
        } else {
            let mut seen = BTreeSet::new();
            for key in keys {
                match item.property(key).map(|property| property.type_.as_deref()) {
                    None => self.add(
                        &at,
                        ProblemKind::Invalid,
                        "entries must all be names of item properties",
                    ),
                    Some(Some("array" | "object")) => self.add(
                        &items.field("properties").key(key).field("type"),
                        ProblemKind::Invalid,
                        "must be a scalar type if parent array's x-kubernetes-list-type is map",
                    ),
                    Some(_) => {}
                }
                if !seen.insert(key) {
                    self.add(&at, ProblemKind::Invalid, "must not contain duplicate entries");
                }
            }
        }
        for key in keys {
            let Some(property) = item.property(key) else {
                continue;
            };
            let at = items.field("properties").key(key);
            let required = item.required.iter().flatten().any(|name| name == key);
            if !required && property.default_value().is_none() {
                self.add(
                    &at.field("default"),
                    ProblemKind::Required,
                    "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
                );
            }
            if property.nullable == Some(true) {
                self.forbidden(
                    &at,
                    "nullable",
                    "this property is in x-kubernetes-list-map-keys, so it cannot be nullable",
                );
            }
        }
    }
}
