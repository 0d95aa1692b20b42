//! Fields that the schema does not name are removed, after `pkg/apiserver/schema/pruning`.

use serde_json::{Map, Value as Json};

use crate::schema::Properties;
use crate::{Items, Schema};

/// Removes the fields that the schema of an object does not name. `apiVersion`, `kind` and `metadata` of the object itself
/// are left as they are.
pub fn prune(schema: &Schema, value: &mut Json) {
    prune_at(Some(schema), value, true);
}

/// The same for a value within an object, which is only an object of Kubernetes if `root` or its schema say so.
pub(crate) fn prune_at(schema: Option<&Schema>, value: &mut Json, root: bool) {
    let embedded = root || schema.is_some_and(Schema::is_embedded);
    let keeps = schema.is_some_and(Schema::preserves_unknown_fields);
    match value {
        Json::Object(fields) => prune_fields(schema, fields, embedded, keeps),
        Json::Array(items) => {
            let schema = schema.and_then(Schema::item);
            for item in items {
                match (keeps, schema) {
                    // Without a schema of their own, the items are kept as the list is.
                    (true, None) => {}
                    (true, Some(schema)) => keep(schema, item),
                    (false, schema) => prune_at(schema, item, false),
                }
            }
        }
        _ => {}
    }
}

/// What is in a value whose unknown fields are kept is only pruned where the schema goes on.
fn keep(schema: &Schema, value: &mut Json) {
    match value {
        Json::Object(fields) => prune_fields(Some(schema), fields, schema.is_embedded(), true),
        Json::Array(items) => {
            if let Some(schema) = schema.item() {
                items.iter_mut().for_each(|item| keep(schema, item));
            }
        }
        _ => {}
    }
}

fn prune_fields(schema: Option<&Schema>, fields: &mut Map<String, Json>, embedded: bool, keeps: bool) {
    let Some(schema) = schema else {
        fields.clear();
        return;
    };
    let is_meta = |name: &str| embedded && matches!(name, "apiVersion" | "kind" | "metadata");
    let declares = |name: &str| schema.property(name).is_some();
    if !keeps && schema.additional_properties.is_none() {
        fields.retain(|name, _| is_meta(name) || declares(name));
    }
    for (name, value) in fields.iter_mut().filter(|(name, _)| !is_meta(name)) {
        match (schema.property(name), &schema.additional_properties) {
            (Some(schema), _) => prune_at(Some(schema), value, false),
            (None, Some(Properties::Schema(schema))) => prune_at(Some(schema), value, false),
            (None, Some(Properties::Allowed(_))) => prune_at(None, value, false),
            (None, None) => {}
        }
    }
}

impl Schema {
    /// The schema of the items of a list.
    pub(crate) fn item(&self) -> Option<&Schema> {
        match &self.items {
            Some(Items::All(schema)) => Some(schema),
            _ => None,
        }
    }

    /// The schema of a field that is named.
    pub(crate) fn property(&self, name: &str) -> Option<&Schema> {
        self.properties.as_ref()?.get(name)
    }

    /// The schema of the fields that are not named.
    pub(crate) fn additional(&self) -> Option<&Schema> {
        match &self.additional_properties {
            Some(Properties::Schema(schema)) => Some(schema),
            _ => None,
        }
    }

    pub(crate) fn is_embedded(&self) -> bool {
        self.embedded_resource == Some(true)
    }

    pub(crate) fn preserves_unknown_fields(&self) -> bool {
        self.preserve_unknown_fields == Some(true)
    }

    /// The default. As in the API, one that is `null` is none.
    pub(crate) fn default_value(&self) -> Option<&Json> {
        self.default.as_ref().filter(|value| !value.is_null())
    }
}
