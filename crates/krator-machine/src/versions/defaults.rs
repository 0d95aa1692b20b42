//! What conversions have to know of the values of a version.
use super::change::written;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// What has to be known of a value and of those in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Defaults {
    /// What the API server fills in where the field is absent.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "written"
    )]
    pub default: Option<Value>,
    /// The fields by which the items of the list are told apart; empty if they are not, or the value is no list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
    /// What is in the fields of an object.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Defaults>,
    /// What is in each item of a list, and in each value of a map.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<Box<Defaults>>,
}

impl Defaults {
    /// Whether nothing has to be known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn field(&self, name: &str) -> &Self {
        self.fields.get(name).unwrap_or_else(|| self.item())
    }

    pub(super) fn item(&self) -> &Self {
        const NOTHING: &Defaults = &Defaults {
            default: None,
            keys: Vec::new(),
            fields: BTreeMap::new(),
            each: None,
        };
        self.each.as_deref().unwrap_or(NOTHING)
    }

    /// Fills defaults in. The API server does so when it reads an object, but not when it has converted one: a value that it
    /// fills in later would look like an edit.
    pub(super) fn fill(&self, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (name, field) in &self.fields {
                    if let Some(default) = &field.default {
                        fields.entry(name.clone()).or_insert_with(|| default.clone());
                    }
                    if let Some(value) = fields.get_mut(name) {
                        field.fill(value);
                    }
                }
                if let Some(each) = &self.each {
                    fields.values_mut().for_each(|value| each.fill(value));
                }
            }
            Value::Array(items) => {
                if let Some(each) = &self.each {
                    items.iter_mut().for_each(|item| each.fill(item));
                }
            }
            _ => {}
        }
    }
}
