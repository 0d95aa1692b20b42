//! Values of expressions, after `common/types` of cel-go and `pkg/cel/common/valuesunstructured.go` of the API server.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use serde_json::{Map as JsonMap, Value as Json};

use super::super::authorizer::Authorizer;
use super::super::schema_types::{Declared, Object};
use super::quantity::Quantity;
use super::semver::Semver;
use super::time::Timestamp;
use super::url::Url;
use super::{Failure, Fallible, convert, fail};

/// A value. It borrows from the object that the expression is about, and from the schema of that.
#[derive(Debug, Clone)]
pub(in crate::cel) enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(Arc<str>),
    Bytes(Arc<[u8]>),
    Timestamp(Timestamp),
    /// Nanoseconds.
    Duration(i64),
    List(List<'a>),
    Map(Map<'a>),
    Optional(Option<Arc<Value<'a>>>),
    /// A type, by its name.
    Type(Arc<str>),
    Ip(IpAddr),
    Cidr(IpAddr, u8),
    Url(Arc<Url>),
    Quantity(Arc<Quantity>),
    Semver(Arc<Semver>),
    /// A named format, such as `dns1123Label`.
    Format(&'static str),
    Authorizer(Arc<Authorizer>),
    /// The variables of a policy, each with its value or why it has none.
    Variables(Arc<Vec<(String, Fallible<Value<'a>>)>>),
    /// A part of an object whose schema gives it no type. It can be compared, and nothing else.
    Unknown(&'a Json),
}

#[derive(Debug, Clone)]
pub(in crate::cel) enum List<'a> {
    /// A list that the expression has made.
    Made(Arc<Vec<Value<'a>>>),
    /// A list without a schema.
    Dynamic(&'a [Json]),
    /// A list of a schema, to which elements may have been added.
    Typed {
        elements: Arc<Vec<Element<'a>>>,
        of: &'a Declared,
        kind: &'a ListKind,
    },
}

/// How the lists of a schema are compared and added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cel) enum ListKind {
    Atomic,
    Set,
    /// With the names of the keys.
    Map(Vec<String>),
}

/// An element of a list with a schema: what is stored, or a value that was added.
#[derive(Debug, Clone)]
pub(in crate::cel) enum Element<'a> {
    Stored(&'a Json),
    Added(Value<'a>),
}

#[derive(Debug, Clone)]
pub(in crate::cel) enum Map<'a> {
    /// A map that the expression has made.
    Made(Arc<Vec<(Value<'a>, Value<'a>)>>),
    /// A map without a schema.
    Dynamic(&'a JsonMap<String, Json>),
    /// A map of a schema.
    Typed(&'a JsonMap<String, Json>, &'a Declared),
    /// An object of a schema.
    Object(&'a JsonMap<String, Json>, &'a Object),
}

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Value::Int(value)
    }
}

impl From<u64> for Value<'_> {
    fn from(value: u64) -> Self {
        Value::Uint(value)
    }
}

impl From<f64> for Value<'_> {
    fn from(value: f64) -> Self {
        Value::Double(value)
    }
}

impl From<&str> for Value<'_> {
    fn from(text: &str) -> Self {
        Value::Text(text.into())
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Value::Text(text.into())
    }
}

impl<'a> From<Vec<Value<'a>>> for Value<'a> {
    fn from(elements: Vec<Value<'a>>) -> Self {
        Value::List(List::Made(Arc::new(elements)))
    }
}

impl<'a> From<Option<Value<'a>>> for Value<'a> {
    fn from(value: Option<Value<'a>>) -> Self {
        Value::Optional(value.map(Arc::new))
    }
}

impl<'a> Value<'a> {
    /// The name of its type.
    pub(in crate::cel) fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null_type",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Uint(_) => "uint",
            Value::Double(_) => "double",
            Value::Text(_) => "string",
            Value::Bytes(_) => "bytes",
            Value::Timestamp(_) => "google.protobuf.Timestamp",
            Value::Duration(_) => "google.protobuf.Duration",
            Value::List(_) => "list",
            Value::Map(_) | Value::Variables(_) => "map",
            Value::Optional(_) => "optional_type",
            Value::Type(_) => "type",
            Value::Ip(_) => "net.IP",
            Value::Cidr(..) => "net.CIDR",
            Value::Url(_) => "kubernetes.URL",
            Value::Quantity(_) => "kubernetes.Quantity",
            Value::Semver(_) => "kubernetes.Semver",
            Value::Format(_) => "kubernetes.NamedFormat",
            Value::Authorizer(_) => "kubernetes.authorization.Authorizer",
            Value::Unknown(_) => "unknown",
        }
    }

    /// Whether an expression can have it as a constant index.
    pub(in crate::cel) fn can_be_key(&self) -> bool {
        matches!(
            self,
            Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Double(_) | Value::Text(_)
        )
    }

    /// The field or the entry of a name or key; `None` if there is none.
    pub(in crate::cel) fn find(&self, key: &Value<'a>) -> Fallible<Option<Value<'a>>> {
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

    /// The value without what the schema says of it, as Go has it inside an optional value.
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

    /// Whether it is the zero value of its type.
    pub(super) fn is_zero(&self) -> bool {
        match self {
            Value::Null => true,
            Value::Bool(value) => !value,
            Value::Int(value) | Value::Duration(value) => *value == 0,
            Value::Uint(value) => *value == 0,
            Value::Double(value) => *value == 0.0,
            Value::Text(text) => text.is_empty(),
            Value::Bytes(bytes) => bytes.is_empty(),
            Value::Timestamp(time) => time.is_zero(),
            // Lists and maps of a schema do not know what zero is.
            Value::List(List::Made(_) | List::Dynamic(_)) => self.size() == Some(0),
            Value::Map(Map::Made(_) | Map::Dynamic(_)) => self.size() == Some(0),
            _ => false,
        }
    }

    /// The number of elements, characters or bytes.
    pub(super) fn size(&self) -> Option<usize> {
        match self {
            Value::Text(text) => Some(text.chars().count()),
            Value::Bytes(bytes) => Some(bytes.len()),
            Value::List(list) => Some(list.len()),
            Value::Map(map) => Some(map.len()),
            _ => None,
        }
    }
}

/// The index that a value stands for; `None` if it is out of any range.
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

    /// All elements. Those that break the schema have no value.
    pub(super) fn elements(&self) -> impl Iterator<Item = Fallible<Value<'a>>> {
        let get = |at| {
            let found = self.get(at).transpose();
            found.unwrap_or_else(|| fail("index out of bounds".to_owned()))
        };
        (0..self.len()).map(get)
    }

    /// All elements, if each has a value.
    pub(super) fn values(&self) -> Fallible<Vec<Value<'a>>> {
        self.elements().collect()
    }
}

impl<'a> Element<'a> {
    pub(super) fn read(&self, of: &'a Declared) -> Fallible<Value<'a>> {
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

    /// What is stored, if the expression has not made the map.
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
                // A field that is `null` is as if it were absent.
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

    /// The keys, in the order of what is stored; those of an object as expressions write them.
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

impl Value<'_> {
    /// Whether two values are the same key of a map: numbers are, if they are equal.
    pub(super) fn is_same_key(&self, other: &Value<'_>) -> bool {
        matches!(self.equals(other), Ok(true))
    }
}

/// As Go prints it within messages.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => value.fmt(f),
            Value::Int(value) => value.fmt(f),
            Value::Uint(value) => value.fmt(f),
            Value::Double(value) => f.write_str(&super::text::shortest(*value)),
            Value::Text(text) | Value::Type(text) => f.write_str(text),
            other => f.write_str(other.type_name()),
        }
    }
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Failure::Error(why)
    }
}
