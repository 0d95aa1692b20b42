//! The types that a schema declares for CEL, after `apiserver/pkg/cel/common/schemas.go`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use regex::Regex;

use crate::{Items, Properties, Schema};

use super::check::Environment;
use super::tokens::is_reserved;
use super::types::Type;

/// The largest request that the API server takes, in bytes. It bounds what has no bound of its own.
pub(super) const MAX_REQUEST: i64 = 3 * 1024 * 1024;

/// The type of a part of a schema, with how large values may be.
#[derive(Debug, Clone)]
pub(super) struct Declared {
    pub(super) shape: Shape,
    /// The largest number of elements or bytes of a value.
    pub(super) max_elements: i64,
    /// The size of the smallest value as JSON, in bytes.
    pub(super) min_size: i64,
    /// Whether the schema says how large values may be, as far as that matters for its type.
    pub(super) bounded: bool,
}

/// A field of an object.
#[derive(Debug, Clone)]
pub(super) struct Field {
    /// Its name in the schema.
    pub(super) name: String,
    pub(super) declared: Declared,
}

#[derive(Debug, Clone)]
pub(super) enum Shape {
    Simple(Type),
    List(Box<Declared>, ListKind),
    Map(Box<Declared>),
    Object(Object),
}

/// How the lists of a schema are compared and added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ListKind {
    Atomic,
    Set,
    /// With the names of the keys.
    Map(Vec<String>),
}

/// The fields of an object.
#[derive(Debug, Clone)]
pub(super) struct Object {
    /// Those that expressions can use, by their names as CEL writes them.
    pub(super) fields: BTreeMap<String, Field>,
    /// The names of all of them in the schema; `None` if the schema has no properties.
    pub(super) properties: Option<BTreeSet<String>>,
}

/// The root of a resource, embedded or not: `apiVersion`, `kind` and some metadata are always declared.
pub(super) fn root_of_resource(schema: &Schema, is_root: bool) -> bool {
    is_root || schema.embedded_resource == Some(true)
}

/// The type of a schema, if it has one that the API server can express.
pub(super) fn declare(schema: &Schema, is_resource: bool) -> Option<Declared> {
    if schema.int_or_string == Some(true) {
        return Some(Declared {
            shape: Shape::Simple(Type::Dyn),
            max_elements: schema.max_length.map_or(MAX_REQUEST - 2, bytes_of),
            min_size: 1,
            bounded: schema.max_length.is_some(),
        });
    }
    match schema.type_.as_deref()? {
        "array" => {
            let Some(Items::All(items)) = &schema.items else {
                return None;
            };
            let of = declare(items, items.embedded_resource == Some(true))?;
            let most = (MAX_REQUEST - 2) / (of.min_size + 1);
            Some(Declared {
                max_elements: schema.max_items.map_or(most, |items| items.max(0)),
                shape: Shape::List(Box::new(of), list_kind(schema)),
                min_size: 2,
                bounded: schema.max_items.is_some(),
            })
        }
        "object" => match &schema.additional_properties {
            Some(Properties::Schema(values)) => {
                let of = declare(values, values.embedded_resource == Some(true))?;
                let most = (MAX_REQUEST - 2) / (of.min_size + 6);
                Some(Declared {
                    max_elements: schema.max_properties.map_or(most, |properties| properties.max(0)),
                    shape: Shape::Map(Box::new(of)),
                    min_size: 2,
                    bounded: schema.max_properties.is_some(),
                })
            }
            _ => Some(declare_object(schema, is_resource)),
        },
        "string" => Some(declare_string(schema)),
        "boolean" => Some(simple(Type::Bool, 0, 4)),
        "number" => Some(simple(Type::Double, 0, 1)),
        "integer" => Some(simple(Type::Int, 0, 1)),
        _ => None,
    }
}

fn simple(of: Type, max_elements: i64, min_size: i64) -> Declared {
    Declared {
        shape: Shape::Simple(of),
        max_elements,
        min_size,
        bounded: true,
    }
}

fn declare_string(schema: &Schema) -> Declared {
    match schema.format.as_deref() {
        Some("byte") => Declared {
            bounded: schema.max_length.is_some(),
            ..simple(
                Type::Bytes,
                schema.max_length.map_or(MAX_REQUEST - 2, |length| length.max(0)),
                2,
            )
        },
        Some(format @ ("duration" | "date" | "date-time")) => Declared {
            ..match format {
                "duration" => simple(Type::Duration, 32, 3),
                "date" => simple(Type::Timestamp, 12, 12),
                _ => simple(Type::Timestamp, 32, 21),
            }
        },
        _ => {
            let longest_of_enum = || {
                let texts = schema.enum_.iter().flatten().filter_map(|value| value.as_str());
                texts.map(|text| text.len() as i64).max().unwrap_or(0)
            };
            let has_enum = schema.enum_.as_ref().is_some_and(|values| !values.is_empty());
            let max_elements = match schema.max_length {
                Some(length) => bytes_of(length),
                None if has_enum => longest_of_enum(),
                None => MAX_REQUEST - 2,
            };
            Declared {
                bounded: has_enum || schema.max_length.is_some(),
                ..simple(Type::String, max_elements, 2)
            }
        }
    }
}

fn list_kind(schema: &Schema) -> ListKind {
    match schema.list_type.as_deref() {
        Some("set") => ListKind::Set,
        Some("map") => {
            let keys = schema.list_map_keys.iter().flatten();
            ListKind::Map(
                keys.map(|key| escape(key).unwrap_or_else(|| key.clone()))
                    .collect(),
            )
        }
        _ => ListKind::Atomic,
    }
}

/// `maxLength` counts characters, each of which may take four bytes.
fn bytes_of(length: i64) -> i64 {
    length.max(0).wrapping_mul(4)
}

fn declare_object(schema: &Schema, is_resource: bool) -> Declared {
    let mut fields = BTreeMap::new();
    let mut min_size = 2;
    let completed = if is_resource {
        with_resource_fields(schema)
    } else {
        None
    };
    let properties = completed.as_ref().or(schema.properties.as_ref());
    for (name, property) in properties.into_iter().flatten() {
        let Some(declared) = declare(property, property.embedded_resource == Some(true)) else {
            continue;
        };
        let required = schema.required.iter().flatten().any(|required| required == name);
        let has_default = property
            .default
            .as_ref()
            .is_some_and(|default| !default.is_null());
        if required && !has_default {
            min_size += name.len() as i64 + declared.min_size + 4;
        }
        if let Some(escaped) = escape(name) {
            let name = name.clone();
            fields.insert(escaped, Field { name, declared });
        }
    }
    Declared {
        shape: Shape::Object(Object {
            fields,
            properties: properties.map(|properties| properties.keys().cloned().collect()),
        }),
        max_elements: 0,
        min_size,
        bounded: true,
    }
}

/// The properties of the root of a resource, if the schema does not declare those that each resource has.
fn with_resource_fields(schema: &Schema) -> Option<BTreeMap<String, Schema>> {
    let has_type = |properties: Option<&BTreeMap<String, Schema>>, name: &str, wanted: &str| {
        let property = properties.and_then(|properties| properties.get(name));
        property.is_some_and(|property| property.type_.as_deref() == Some(wanted))
    };
    let properties = schema.properties.as_ref();
    let metadata = properties.and_then(|properties| properties.get("metadata")?.properties.as_ref());
    if has_type(properties, "kind", "string")
        && has_type(properties, "apiVersion", "string")
        && has_type(properties, "metadata", "object")
        && has_type(metadata, "name", "string")
        && has_type(metadata, "generateName", "string")
    {
        return None;
    }
    let text = Schema {
        type_: Some("string".to_string()),
        ..Schema::default()
    };
    let named = ["name", "generateName"].map(|name| (name.to_string(), text.clone()));
    let metadata = Schema {
        type_: Some("object".to_string()),
        properties: Some(named.into()),
        ..Schema::default()
    };
    let mut completed = properties.cloned().unwrap_or_default();
    completed.insert("kind".to_string(), text.clone());
    completed.insert("apiVersion".to_string(), text);
    completed.insert("metadata".to_string(), metadata);
    Some(completed)
}

/// The name of a field as CEL writes it, if it can: after `apiserver/pkg/cel/escaping.go`.
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

/// The name of a field that CEL writes in this way, if it is one, after `Unescape` there.
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

impl Object {
    /// The name of a field in the schema, for the one that CEL writes; `None` if it is the name of none.
    pub(super) fn stored_name<'n>(&self, written: &'n str) -> Option<Cow<'n, str>> {
        match self.properties {
            Some(_) => unescape(written),
            None => Some(written.into()),
        }
    }

    /// The name of a field as CEL writes it.
    pub(super) fn written_name(&self, stored: &str) -> String {
        escape(stored).unwrap_or_else(|| stored.to_owned())
    }

    /// Whether the schema has a field of this name.
    pub(super) fn knows(&self, stored: &str) -> bool {
        self.properties
            .as_ref()
            .is_some_and(|names| names.contains(stored))
    }

    /// The type of a field; `None` if the schema has no such field, or gives it no type that CEL has.
    pub(super) fn declared(&self, stored: &str) -> Option<&Declared> {
        Some(&self.fields.get(&escape(stored)?)?.declared)
    }
}

impl Declared {
    /// The type as CEL knows it; the fields of objects are declared in the environment.
    pub(super) fn cel_type(&self, name: &str, environment: &mut Environment) -> Type {
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
