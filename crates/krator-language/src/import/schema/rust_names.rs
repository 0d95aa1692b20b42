//! The Rust names of fields whose own names are invalid in Rust, or taken by fields of the same object.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use super::ordered;
use crate::names::{FieldName, NotAName, RustFieldName, rust_ident, unique_rust_field};

/// The Rust names of the fields of one object.
pub(in crate::import) struct RustNames<'j> {
    /// The taken names, each with the field for which it is derived, if any.
    taken: BTreeMap<String, Option<&'j str>>,
}

impl<'j> RustNames<'j> {
    /// Reserves each derived name for the first field that has it, so that few fields need another one.
    pub fn of(properties: &'j Json) -> Self {
        let mut taken = BTreeMap::new();
        for name in properties.as_object().into_iter().flatten().map(|(name, _)| name) {
            if let Some(rust_name) = FieldName::parse(name).ok().and_then(|name| name.rust_field()) {
                taken.entry(rust_name).or_insert(Some(name.as_str()));
            }
        }
        Self { taken }
    }

    /// Excludes a name from the names of fields.
    pub fn reserve(&mut self, rust_name: &str) {
        self.taken.insert(rust_name.to_owned(), None);
    }

    /// The `rustName` of a field, if it needs one.
    pub fn of_field(&mut self, name: &str) -> Result<Option<RustFieldName>, NotAName> {
        let own = FieldName::parse(name)?.rust_field();
        if own.is_some_and(|own| self.taken.get(&own) == Some(&Some(name))) {
            return Ok(None);
        }
        let rust_name = unique_rust_field(name, |wanted| self.taken.contains_key(wanted));
        self.taken.insert(rust_ident(rust_name.as_str()), None);
        Ok(Some(rust_name))
    }
}

/// The type of a field, with the Rust name of the field.
pub(in crate::import) fn called(field: Json, rust_name: Option<RustFieldName>) -> Json {
    let Some(rust_name) = rust_name else { return field };
    let mut keys = match field {
        Json::Object(keys) => keys,
        phrase => Map::from_iter([("type".to_owned(), phrase)]),
    };
    keys.insert("rustName".to_owned(), rust_name.as_str().into());
    Json::Object(ordered(keys))
}
