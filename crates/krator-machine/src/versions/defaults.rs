//! The defaults and list keys that conversions need.
use super::change::written;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The defaults and list keys of a value and its descendants.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Defaults {
    /// The default, if the field has one.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "written"
    )]
    pub default: Option<Value>,
    /// The keys of the list's items; empty if the list has no keys, or the value is not a list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
    /// The fields of an object.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Defaults>,
    /// The items of a list, or the values of a map.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<Box<Defaults>>,
}

impl Defaults {
    /// Whether there are no defaults and no keys.
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

    /// Fills in defaults. The API server does that when it reads an object, but not after a conversion;
    /// filled in later, a default would look like an edit.
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
