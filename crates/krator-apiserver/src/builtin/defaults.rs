//! The defaults of fields, after `pkg/apis/*/v1/defaults.go` and `zz_generated.defaults.go` of Kubernetes. As there,
//! the function of a type runs for each value of the type, before the functions of the types in it.

mod core;
mod others;
mod workloads;

use super::documents;
use super::json::set_default;
use super::types::{Named, Type, named};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::LazyLock;

type Default = fn(&mut Json);

/// Defaults of single fields by type, each with its path in the type.
static FIELDS: LazyLock<BTreeMap<&str, Vec<(&str, Json)>>> = LazyLock::new(|| {
    let mut fields = BTreeMap::<_, Vec<_>>::new();
    for line in include_str!("defaults/fields.txt").lines() {
        let mut words = line.splitn(3, ' ');
        let (type_name, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let value = serde_json::from_str(words.next().unwrap_or_default());
        let of_type = fields.entry(type_name).or_default();
        of_type.push((path, value.expect("the tests read all of the file")));
    }
    fields
});

/// Fills in the defaults of a value of a named type, at all depths.
pub(super) fn fill(type_name: &'static str, value: &mut Json) {
    fill_type(&Type::Named(type_name), value);
}

fn fill_type(type_: &Type, value: &mut Json) {
    match type_ {
        Type::Named(name) => {
            if value.is_null() {
                return;
            }
            for (path, default) in FIELDS.get(name).into_iter().flatten() {
                set_default(value, path, default.clone());
            }
            if let Some(default) = of(name) {
                default(value);
            }
            match named(name) {
                Named::Struct(fields) => {
                    fill_from_schema(name, value);
                    for field in &fields.fields {
                        if let Some(value) = value.get_mut(field.name) {
                            fill_type(&field.type_, value);
                        }
                    }
                }
                Named::Alias(type_) => fill_type(type_, value),
                Named::Custom => {}
            }
        }
        Type::Pointer(element) => fill_type(element, value),
        Type::List(element) => value
            .as_array_mut()
            .into_iter()
            .flatten()
            .for_each(|item| fill_type(element, item)),
        Type::Map(element) => {
            if let Some(entries) = value.as_object_mut() {
                entries.values_mut().for_each(|item| fill_type(element, item));
            }
        }
        Type::String | Type::Bool | Type::Integer(_) | Type::Float | Type::Bytes => {}
    }
}

/// Fills in the text defaults of a type's schema. The other defaults in schemas are the zero values of Go.
fn fill_from_schema(type_name: &str, value: &mut Json) {
    let Some((_, schema)) = documents::schema(&type_name.replace('/', ".")) else {
        return;
    };
    for (field, schema) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(Json::String(default)) = schema.get("default").filter(|default| **default != "") {
            set_default(value, field, default.as_str());
        }
    }
}

/// The defaulting function of a type.
fn of(type_name: &str) -> Option<Default> {
    core::of(type_name)
        .or_else(|| workloads::of(type_name))
        .or_else(|| others::of(type_name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_of_types_that_there_are() {
        for type_name in FIELDS.keys() {
            assert!(matches!(named(type_name), Named::Struct(_)), "{type_name}");
        }
    }
}
