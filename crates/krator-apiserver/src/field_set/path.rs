//! Elements of the path to a field, after `fieldpath/element.go` and `typed/helpers.go` of structured-merge-diff.

use crate::types::{Arena, List, ListKind};
use crate::values;
use serde_json::Value as Json;
use std::cmp::Ordering;
use std::fmt;

/// An element of the path to a field.
#[derive(Debug, Clone)]
pub enum PathElement {
    /// A field of a map.
    Field(String),
    /// The item of a list whose keys have these values, sorted by key.
    Key(Vec<(String, Json)>),
    /// The item of a set that has this value.
    Value(Json),
    /// An item of a list by its index.
    Index(i64),
}

impl PathElement {
    /// A field of a map.
    pub fn field(name: &str) -> Self {
        Self::Field(name.to_owned())
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Field(_) => 0,
            Self::Key(_) => 1,
            Self::Value(_) => 2,
            Self::Index(_) => 3,
        }
    }
}

impl Ord for PathElement {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Field(a), Self::Field(b)) => a.cmp(b),
            (Self::Key(a), Self::Key(b)) => {
                let pairs = a.iter().zip(b);
                let mut orders = pairs.map(|(a, b)| a.0.cmp(&b.0).then_with(|| values::compare(&a.1, &b.1)));
                orders
                    .find(|order| order.is_ne())
                    .unwrap_or(a.len().cmp(&b.len()))
            }
            (Self::Value(a), Self::Value(b)) => values::compare(a, b),
            (Self::Index(a), Self::Index(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for PathElement {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for PathElement {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for PathElement {}

impl fmt::Display for PathElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(keys) => {
                let keys = keys
                    .iter()
                    .map(|(name, value)| format!("{name}={}", values::display(value)));
                write!(f, "[{}]", keys.collect::<Vec<_>>().join(","))
            }
            Self::Value(value) => write!(f, "[={}]", values::display(value)),
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// A path as in messages, such as `.spec.containers[name="web"].image`.
pub(crate) fn display_path(path: &[PathElement]) -> String {
    path.iter().map(PathElement::to_string).collect()
}

/// The path element of an item of a list that is not atomic.
///
/// # Errors
/// The reason why the item is invalid in such a list.
pub(crate) fn list_item(arena: &Arena, list: &List, item: &Json) -> Result<PathElement, String> {
    match &list.kind {
        ListKind::Atomic => Err("invalid indexing of non-associative list".to_owned()),
        ListKind::Set => set_item(item),
        // A list of maps whose schema declares no keys is treated as a set.
        ListKind::Map(keys) if keys.is_empty() => set_item(item),
        ListKind::Map(keys) => keyed_item(arena, list, keys, item),
    }
}

fn set_item(item: &Json) -> Result<PathElement, String> {
    let why = match item {
        Json::Object(_) => "associative list without keys has an element that's a map type",
        Json::Array(_) => "not supported: associative list with lists as elements",
        Json::Null => "associative list without keys has an element that's an explicit null",
        scalar => return Ok(PathElement::Value(scalar.clone())),
    };
    Err(why.to_owned())
}

fn keyed_item(arena: &Arena, list: &List, keys: &[String], item: &Json) -> Result<PathElement, String> {
    let map = match item {
        Json::Object(map) => map,
        Json::Null => return Err("associative list with keys may not have a null element".to_owned()),
        _ => return Err("associative list with keys may not have non-map elements".to_owned()),
    };
    let mut found = Vec::new();
    for key in keys {
        if let Some(value) = map.get(key) {
            found.push((key.clone(), value.clone()));
            continue;
        }
        let Some(element) = &arena.atom(list.element).map else {
            return Err(format!(
                "couldn't find default value for {key}: associative list may not have non-map types"
            ));
        };
        // An item without a key differs from an item that has it, so defaults are part of the element.
        if let Some(default) = element.fields.get(key).and_then(|field| field.default.clone()) {
            found.push((key.clone(), default));
        }
    }
    if found.is_empty() {
        let keys: Vec<String> = keys.iter().map(|key| format!("{key:?}")).collect();
        return Err(format!(
            "associative list with keys has an element that omits all key fields [{}] (and doesn't have default values \
             for any key fields)",
            keys.join(" ")
        ));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(PathElement::Key(found))
}
