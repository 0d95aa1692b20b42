//! The types that a schema declares in CEL, after `apiserver/pkg/cel/common/schemas.go`.

use std::collections::BTreeMap;

use krator_cel::{DeclField, DeclType, ListType, ObjectType, Shape, Type, escape};

use crate::{Items, Properties, Schema};

/// The largest request that the API server accepts, in bytes. It bounds values without a bound of their own.
pub(super) const MAX_REQUEST: i64 = 3 * 1024 * 1024;

/// Whether a schema is the root of a resource, embedded or not, for which `apiVersion`, `kind` and some metadata are
/// always declared.
pub(super) fn root_of_resource(schema: &Schema, is_root: bool) -> bool {
    is_root || schema.embedded_resource == Some(true)
}

/// The type of a schema, if the API server can express it.
pub(super) fn declare(schema: &Schema, is_resource: bool) -> Option<DeclType> {
    if schema.int_or_string == Some(true) {
        return Some(DeclType {
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
            Some(DeclType {
                max_elements: schema.max_items.map_or(most, |items| items.max(0)),
                shape: Shape::List(Box::new(of), list_type(schema)),
                min_size: 2,
                bounded: schema.max_items.is_some(),
            })
        }
        "object" => match &schema.additional_properties {
            Some(Properties::Schema(values)) => {
                let of = declare(values, values.embedded_resource == Some(true))?;
                let most = (MAX_REQUEST - 2) / (of.min_size + 6);
                Some(DeclType {
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

fn simple(of: Type, max_elements: i64, min_size: i64) -> DeclType {
    DeclType {
        shape: Shape::Simple(of),
        max_elements,
        min_size,
        bounded: true,
    }
}

fn declare_string(schema: &Schema) -> DeclType {
    match schema.format.as_deref() {
        Some("byte") => DeclType {
            bounded: schema.max_length.is_some(),
            ..simple(
                Type::Bytes,
                schema.max_length.map_or(MAX_REQUEST - 2, |length| length.max(0)),
                2,
            )
        },
        Some(format @ ("duration" | "date" | "date-time")) => DeclType {
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
            DeclType {
                bounded: has_enum || schema.max_length.is_some(),
                ..simple(Type::String, max_elements, 2)
            }
        }
    }
}

fn list_type(schema: &Schema) -> ListType {
    match schema.list_type.as_deref() {
        Some("set") => ListType::Set,
        Some("map") => {
            let keys = schema.list_map_keys.iter().flatten();
            ListType::Map(
                keys.map(|key| escape(key).unwrap_or_else(|| key.clone()))
                    .collect(),
            )
        }
        _ => ListType::Atomic,
    }
}

/// The largest number of bytes for a `maxLength`, which counts characters of up to four bytes.
fn bytes_of(length: i64) -> i64 {
    length.max(0).wrapping_mul(4)
}

fn declare_object(schema: &Schema, is_resource: bool) -> DeclType {
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
            fields.insert(escaped, DeclField { name, declared });
        }
    }
    DeclType {
        shape: Shape::Object(ObjectType {
            fields,
            properties: properties.map(|properties| properties.keys().cloned().collect()),
        }),
        max_elements: 0,
        min_size,
        bounded: true,
    }
}

/// The properties of a resource's root, with the fields of every resource; none if the schema declares these itself.
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
