//! Values of expressions, after `common/types` of cel-go and `pkg/cel/common/valuesunstructured.go` of the API server.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use serde_json::{Map as JsonMap, Value as Json};

use super::quantity::Quantity;
use super::semver::Semver;
use super::time::Timestamp;
use super::url::Url;
use super::{Failure, Fallible};
use crate::authorizer::Authorizer;
use crate::decl_type::{DeclType, ListType, ObjectType};

/// A value. It borrows from the object to which the expression applies, and from its schema.
#[derive(Debug, Clone)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(Arc<str>),
    Bytes(Arc<[u8]>),
    Timestamp(Timestamp),
    /// A duration in nanoseconds.
    Duration(i64),
    List(List<'a>),
    Map(Map<'a>),
    Optional(Option<Arc<Value<'a>>>),
    /// A type, by name.
    Type(Arc<str>),
    Ip(IpAddr),
    Cidr(IpAddr, u8),
    Url(Arc<Url>),
    Quantity(Arc<Quantity>),
    Semver(Arc<Semver>),
    /// A named format, such as `dns1123Label`.
    Format(&'static str),
    Authorizer(Arc<Authorizer>),
    /// The variables of a policy, each with its value or an error.
    Variables(Arc<Vec<(String, Fallible<Value<'a>>)>>),
    /// A part of an object without a type in the schema. It only supports comparisons.
    Unknown(&'a Json),
}

#[derive(Debug, Clone)]
pub(crate) enum List<'a> {
    /// A list that the expression has created.
    Made(Arc<Vec<Value<'a>>>),
    /// A list without a schema.
    Dynamic(&'a [Json]),
    /// A list with a schema, to which elements may have been added.
    Typed {
        elements: Arc<Vec<Element<'a>>>,
        of: &'a DeclType,
        kind: &'a ListType,
    },
}

/// An element of a list with a schema: a stored or an added value.
#[derive(Debug, Clone)]
pub(crate) enum Element<'a> {
    Stored(&'a Json),
    Added(Value<'a>),
}

#[derive(Debug, Clone)]
pub(crate) enum Map<'a> {
    /// A map that the expression has created.
    Made(Arc<Vec<(Value<'a>, Value<'a>)>>),
    /// A map without a schema.
    Dynamic(&'a JsonMap<String, Json>),
    /// A map with a schema.
    Typed(&'a JsonMap<String, Json>, &'a DeclType),
    /// An object with a schema.
    Object(&'a JsonMap<String, Json>, &'a ObjectType),
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
    /// The name of the type.
    pub(crate) fn type_name(&self) -> &'static str {
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

    /// Whether the value can be a constant index.
    pub(crate) fn can_be_key(&self) -> bool {
        matches!(
            self,
            Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Double(_) | Value::Text(_)
        )
    }

    /// Whether the value is the zero value of its type.
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
            // Lists and maps with a schema do not implement this check.
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

impl Value<'_> {
    /// Whether two values are the same key of a map, where equal numbers of different types are the same.
    pub(super) fn is_same_key(&self, other: &Value<'_>) -> bool {
        matches!(self.equals(other), Ok(true))
    }
}

/// The value as Go prints it in messages.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => value.fmt(f),
            Value::Int(value) => value.fmt(f),
            Value::Uint(value) => value.fmt(f),
            Value::Double(value) => f.write_str(&super::go::shortest(*value)),
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
