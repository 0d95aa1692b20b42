//! The types that a schema declares in CEL, after `apiserver/pkg/cel/types.go`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use regex::Regex;

use crate::check::TypeEnvironment;
use crate::syntax::tokens::is_reserved;
use crate::types::Type;

/// The type of a subschema, with the largest size of its values: the `DeclType` of the API server.
#[derive(Debug, Clone)]
pub struct DeclType {
    /// The type itself.
    pub shape: Shape,
    /// The largest number of elements of a list, of entries of a map, or of bytes of a string or of `bytes`. It must
    /// not be negative.
    pub max_elements: i64,
    /// The size of the smallest value as JSON, in bytes.
    pub min_size: i64,
    /// Whether the schema bounds the size of values, as far as the type requires a bound.
    pub bounded: bool,
}

/// A field of an object: the `DeclField` of the API server.
#[derive(Debug, Clone)]
pub struct DeclField {
    /// The name in the schema.
    pub name: String,
    /// The type.
    pub declared: DeclType,
}

/// The structure of the values of a type.
#[derive(Debug, Clone)]
pub enum Shape {
    /// A scalar: a bool, a number, a string, `bytes`, a time or a duration. [`Type::Dyn`] is either an integer or a string.
    Simple(Type),
    /// A list of elements of one type.
    List(Box<DeclType>, ListType),
    /// A map from strings to values of one type.
    Map(Box<DeclType>),
    /// An object with fields.
    Object(ObjectType),
}

/// The `x-kubernetes-list-type` of a list, which determines how lists are compared and added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListType {
    /// Lists are equal if they have equal elements in the same order.
    Atomic,
    /// The order is ignored, and each element occurs once.
    Set,
    /// The order is ignored, and the fields of these names identify an element. The names are escaped for CEL, as by
    /// [`escape`].
    Map(Vec<String>),
}

/// The fields of an object.
#[derive(Debug, Clone)]
pub struct ObjectType {
    /// The fields that expressions can use, by their names in CEL: see [`escape`].
    pub fields: BTreeMap<String, DeclField>,
    /// The names of all fields in the schema; `None` if the schema has no properties.
    pub properties: Option<BTreeSet<String>>,
}

/// The name of a field in CEL, after `apiserver/pkg/cel/escaping.go`; `None` if expressions cannot refer to it.
pub fn escape(name: &str) -> Option<String> {
    if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    if is_reserved(name) {
        return Some(format!("__{name}__"));
    }
    let mut escaped = String::new();
    let mut rest = name;
    while let Some(next) = rest.chars().next() {
        let (taken, text) = match next {
            '_' if rest.starts_with("__") => (2, "__underscores__"),
            '.' => (1, "__dot__"),
            '-' => (1, "__dash__"),
            '/' => (1, "__slash__"),
            '_' | 'a'..='z' | 'A'..='Z' | '0'..='9' => (1, &rest[..1]),
            _ => return None,
        };
        escaped.push_str(text);
        rest = &rest[taken..];
    }
    Some(escaped)
}

/// The field of a name in CEL, if the name is valid, after `Unescape` there.
fn unescape(written: &str) -> Option<Cow<'_, str>> {
    static SEQUENCE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("__[^_]+__").ok());
    let Some(first) = SEQUENCE.as_ref()?.find(written) else {
        return Some(written.into());
    };
    if first.as_str() == written && is_reserved(&written[2..written.len() - 2]) {
        return Some(written[2..written.len() - 2].into());
    }
    let (mut name, mut end) = (String::new(), 0);
    for sequence in SEQUENCE.as_ref()?.find_iter(written) {
        name.push_str(&written[end..sequence.start()]);
        name.push_str(match sequence.as_str() {
            "__underscores__" => "__",
            "__dot__" => ".",
            "__dash__" => "-",
            "__slash__" => "/",
            _ => return None,
        });
        end = sequence.end();
    }
    name.push_str(&written[end..]);
    Some(name.into())
}

impl ObjectType {
    /// The name in the schema for a name in CEL; `None` if the name is not a valid escape.
    pub(crate) fn stored_name<'n>(&self, written: &'n str) -> Option<Cow<'n, str>> {
        match self.properties {
            Some(_) => unescape(written),
            None => Some(written.into()),
        }
    }

    /// The name of a field in CEL.
    pub(crate) fn written_name(&self, stored: &str) -> String {
        escape(stored).unwrap_or_else(|| stored.to_owned())
    }

    /// Whether the schema has a field with this name.
    pub(crate) fn knows(&self, stored: &str) -> bool {
        self.properties
            .as_ref()
            .is_some_and(|names| names.contains(stored))
    }

    /// The type of a field, by its name in the schema; `None` if the schema has no such field, or CEL has no type for
    /// it.
    pub fn declared(&self, stored: &str) -> Option<&DeclType> {
        Some(&self.fields.get(&escape(stored)?)?.declared)
    }
}

impl DeclType {
    /// The type in CEL. The fields of the objects in it are declared in the environment.
    ///
    /// `name` becomes the name of the type if it is an object, and the prefix of the names of the objects below. It
    /// must differ from the names of other types of the environment.
    pub fn cel_type(&self, name: &str, environment: &mut TypeEnvironment) -> Type {
        match &self.shape {
            Shape::Simple(of) => of.clone(),
            Shape::List(of, _) => Type::list(of.cel_type(&format!("{name}.@idx"), environment)),
            Shape::Map(of) => Type::map(Type::String, of.cel_type(&format!("{name}.@elem"), environment)),
            Shape::Object(object) => {
                let mut types = BTreeMap::new();
                for (field, declared) in &object.fields {
                    types.insert(
                        field.clone(),
                        declared
                            .declared
                            .cel_type(&format!("{name}.{field}"), environment),
                    );
                }
                let name: Arc<str> = name.into();
                environment.objects.insert(name.clone(), types);
                Type::Struct(name)
            }
        }
    }
}
