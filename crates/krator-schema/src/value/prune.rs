//! Removes undeclared fields, after `pkg/apiserver/schema/pruning`.

use serde_json::{Map, Value as Json};

use crate::at::At;
use crate::schema::Properties;
use crate::{Items, Path, Schema};

/// Removes the fields that the schema of an object does not declare, and returns their paths. `apiVersion`, `kind` and
/// `metadata` of the object itself are kept unchanged.
pub fn prune(schema: &Schema, value: &mut Json) -> Vec<Path> {
    prune_at(Some(schema), value, true)
}

/// Prunes a value inside an object. It is itself a Kubernetes object only if `root` is set or its schema says so.
pub(crate) fn prune_at(schema: Option<&Schema>, value: &mut Json, root: bool) -> Vec<Path> {
    let mut pruner = Pruner::default();
    pruner.prune(schema, value, root, &At::Path(&Path::root()));
    pruner.removed
}

#[derive(Default)]
struct Pruner {
    removed: Vec<Path>,
}

impl Pruner {
    fn prune(&mut self, schema: Option<&Schema>, value: &mut Json, root: bool, at: &At<'_>) {
        let embedded = root || schema.is_some_and(Schema::is_embedded);
        let keeps = schema.is_some_and(Schema::preserves_unknown_fields);
        match value {
            Json::Object(fields) => self.fields(schema, fields, (embedded, keeps), at),
            Json::Array(items) => {
                let schema = schema.and_then(Schema::item);
                for (index, item) in items.iter_mut().enumerate() {
                    match (keeps, schema) {
                        // Without a schema for items, the items are kept like the list.
                        (true, None) => {}
                        (true, Some(schema)) => self.keep(schema, item, &at.index(index)),
                        (false, schema) => self.prune(schema, item, false, &at.index(index)),
                    }
                }
            }
            _ => {}
        }
    }

    /// In a value whose unknown fields are preserved, only the parts with a schema are pruned.
    fn keep(&mut self, schema: &Schema, value: &mut Json, at: &At<'_>) {
        match value {
            Json::Object(fields) => self.fields(Some(schema), fields, (schema.is_embedded(), true), at),
            Json::Array(items) => {
                if let Some(schema) = schema.item() {
                    for (index, item) in items.iter_mut().enumerate() {
                        self.keep(schema, item, &at.index(index));
                    }
                }
            }
            _ => {}
        }
    }

    fn fields(
        &mut self,
        schema: Option<&Schema>,
        fields: &mut Map<String, Json>,
        (embedded, keeps): (bool, bool),
        at: &At<'_>,
    ) {
        let Some(schema) = schema else {
            self.removed
                .extend(fields.keys().map(|name| Path::from(&at.field(name))));
            fields.clear();
            return;
        };
        let is_meta = |name: &str| embedded && matches!(name, "apiVersion" | "kind" | "metadata");
        let declares = |name: &str| schema.property(name).is_some();
        if !keeps && schema.additional_properties.is_none() {
            fields.retain(|name, _| {
                let stays = is_meta(name) || declares(name);
                if !stays {
                    self.removed.push(Path::from(&at.field(name)));
                }
                stays
            });
        }
        for (name, value) in fields.iter_mut().filter(|(name, _)| !is_meta(name)) {
            let at = at.field(name);
            match (schema.property(name), &schema.additional_properties) {
                (Some(schema), _) => self.prune(Some(schema), value, false, &at),
                (None, Some(Properties::Schema(schema))) => self.prune(Some(schema), value, false, &at),
                (None, Some(Properties::Allowed(_))) => self.prune(None, value, false, &at),
                (None, None) => {}
            }
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

    /// The schema of a declared field.
    pub(crate) fn property(&self, name: &str) -> Option<&Schema> {
        self.properties.as_ref()?.get(name)
    }

    /// The schema of undeclared fields.
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

    /// The default. As in the API, `null` counts as none.
    pub(crate) fn default_value(&self) -> Option<&Json> {
        self.default.as_ref().filter(|value| !value.is_null())
    }
}
