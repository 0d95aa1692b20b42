//! Access to the elements of lists, the entries of maps and the fields of objects.

use serde_json::{Map as JsonMap, Value as Json};

use super::value::{Element, List, Map, Value};
use super::{Fallible, convert, fail};
use crate::decl_type::DeclType;

impl<'a> Value<'a> {
    /// The field or entry of a key; `None` if there is none.
    pub(crate) fn find(&self, key: &Value<'a>) -> Fallible<Option<Value<'a>>> {
        let no_such_key = || fail(format!("no such key: {key}"));
        match self {
            Value::Map(map) => map.find(key),
            Value::List(list) => match index(key)? {
                Some(at) => list.get(at),
                None => Ok(None),
            },
            Value::Variables(all) => match key {
                Value::Text(name) => {
                    let found = all.iter().find(|(known, _)| **known == **name);
                    found.map_or_else(no_such_key, |(_, value)| value.clone().map(Some))
                }
                _ => no_such_key(),
            },
            _ => Ok(None),
        }
    }

    /// Unwraps the operand of a selection: the value inside an optional one, if any, and whether the operand is
    /// optional.
    pub(super) fn opened(self) -> (Option<Value<'a>>, bool) {
        match self {
            Value::Optional(value) => (value.map(|value| value.without_schema()), true),
            value => (Some(value), false),
        }
    }

    /// The value without its schema, which is its form in Go inside an optional value.
    pub(super) fn without_schema(&self) -> Value<'a> {
        match self {
            Value::Map(Map::Typed(map, _) | Map::Object(map, _)) => Value::Map(Map::Dynamic(map)),
            Value::List(List::Typed { elements, .. }) => {
                let plain = elements.iter().map(|element| match element {
                    Element::Stored(json) => convert::dynamic(json),
                    Element::Added(value) => value.without_schema(),
                });
                plain.collect::<Vec<_>>().into()
            }
            _ => self.clone(),
        }
    }
}

/// The index that a value denotes; `None` if it is out of any range.
fn index(key: &Value<'_>) -> Fallible<Option<usize>> {
    match key {
        Value::Int(at) => Ok(usize::try_from(*at).ok()),
        Value::Uint(at) => Ok(usize::try_from(*at).ok()),
        Value::Double(at) if at.fract() == 0.0 => Ok((*at >= 0.0).then_some(*at as usize)),
        Value::Double(at) => fail(format!("unsupported index value {at} in list")),
        other => fail(format!("unsupported index type '{}' in list", other.type_name())),
    }
}

impl<'a> List<'a> {
    pub(super) fn len(&self) -> usize {
        match self {
            List::Made(elements) => elements.len(),
            List::Dynamic(elements) => elements.len(),
            List::Typed { elements, .. } => elements.len(),
        }
    }

    /// The element at an index; `None` if there is none.
    pub(super) fn get(&self, at: usize) -> Fallible<Option<Value<'a>>> {
        Ok(match self {
            List::Made(elements) => elements.get(at).cloned(),
            List::Dynamic(elements) => elements.get(at).map(convert::dynamic),
            List::Typed { elements, of, .. } => {
                let element = elements.get(at).map(|element| element.read(of));
                return element.transpose();
            }
        })
    }

    /// All elements. Those that violate the schema are errors.
    pub(super) fn elements(&self) -> impl Iterator<Item = Fallible<Value<'a>>> {
        let get = |at| {
            let found = self.get(at).transpose();
            found.unwrap_or_else(|| fail("index out of bounds".to_owned()))
        };
        (0..self.len()).map(get)
    }

    /// All elements; an error if any element is one.
    pub(super) fn values(&self) -> Fallible<Vec<Value<'a>>> {
        self.elements().collect()
    }
}

impl<'a> Element<'a> {
    pub(super) fn read(&self, of: &'a DeclType) -> Fallible<Value<'a>> {
        match self {
            Element::Stored(json) => convert::typed(json, of),
            Element::Added(value) => convert::added(value, of),
        }
    }
}

impl<'a> Map<'a> {
    pub(super) fn len(&self) -> usize {
        match self {
            Map::Made(entries) => entries.len(),
            Map::Dynamic(map) | Map::Typed(map, _) | Map::Object(map, _) => map.len(),
        }
    }

    /// The stored form, unless the expression has created the map.
    pub(super) fn stored(&self) -> Option<&'a JsonMap<String, Json>> {
        match self {
            Map::Made(_) => None,
            Map::Dynamic(map) | Map::Typed(map, _) | Map::Object(map, _) => Some(map),
        }
    }

    pub(super) fn find(&self, key: &Value<'a>) -> Fallible<Option<Value<'a>>> {
        let text = match (self, key) {
            (Map::Made(entries), _) => {
                let found = entries.iter().find(|(known, _)| known.is_same_key(key));
                return Ok(found.map(|(_, value)| value.clone()));
            }
            (_, Value::Text(text)) => text,
            (Map::Dynamic(_), _) => return Ok(None),
            _ => return fail("no such overload".to_owned()),
        };
        match self {
            Map::Made(_) => Ok(None),
            Map::Dynamic(map) => Ok(map.get(&**text).map(convert::dynamic)),
            Map::Typed(map, of) => {
                let found = map.get(&**text).map(|value| convert::typed(value, of));
                found.transpose()
            }
            Map::Object(map, object) => {
                let Some(name) = object.stored_name(text) else {
                    return Ok(None);
                };
                // A field that is `null` counts as absent.
                let value = map
                    .get(&*name)
                    .filter(|value| !value.is_null() && object.knows(&name));
                let read = |value| match object.declared(&name) {
                    Some(of) => convert::typed(value, of),
                    None => Ok(Value::Unknown(value)),
                };
                value.map(read).transpose()
            }
        }
    }

    /// The keys, in the order of the stored form; those of an object are escaped for CEL.
    pub(super) fn keys(&self) -> Vec<Value<'a>> {
        match self {
            Map::Made(entries) => entries.iter().map(|(key, _)| key.clone()).collect(),
            Map::Dynamic(map) | Map::Typed(map, _) => map.keys().map(|key| key.as_str().into()).collect(),
            Map::Object(map, object) => {
                let known = map.keys().filter(|key| object.knows(key));
                known.map(|key| object.written_name(key).into()).collect()
            }
        }
    }
}
