//! The Go types of the kinds, as `encoding/json` sees them. OpenAPI does not contain which empty fields are written and
//! how errors name types, so `tools/openapi/types` extracts a table of that from the Go sources.

use std::collections::BTreeMap;
use std::sync::LazyLock;

const TYPES: &str = include_str!("../../data/types.txt");

/// A type of Go.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Type {
    /// A named type; see [`named`].
    Named(&'static str),
    String,
    Bool,
    /// An integer that has this many bits.
    Integer(u32),
    Float,
    /// `[]byte`, which is base64 in JSON.
    Bytes,
    Pointer(Box<Type>),
    List(Box<Type>),
    /// A map from strings.
    Map(Box<Type>),
}

/// The definition of a named type.
#[derive(Debug)]
pub(super) enum Named {
    Struct(Struct),
    /// A type with its own unmarshaler.
    Custom,
    /// A type with the underlying type.
    Alias(Type),
}

/// The fields of a struct.
#[derive(Debug)]
pub(super) struct Struct {
    /// The fields in the order in which they are written.
    pub fields: Vec<Field>,
    by_name: BTreeMap<&'static str, usize>,
}

impl Struct {
    pub fn field(&self, name: &str) -> Option<(usize, &Field)> {
        let at = *self.by_name.get(name)?;
        Some((at, &self.fields[at]))
    }
}

/// A field of a struct.
#[derive(Debug)]
pub(super) struct Field {
    /// The name in JSON.
    pub name: &'static str,
    /// Whether an empty value is omitted (`omitempty`).
    pub omit_empty: bool,
    /// Whether a zero value is omitted (`omitzero`).
    pub omit_zero: bool,
    pub type_: Type,
}

/// The definition of a named type.
///
/// # Panics
///
/// If the table lacks the name; the tests check that all names in it are defined.
pub(super) fn named(name: &str) -> &'static Named {
    static NAMES: LazyLock<BTreeMap<&'static str, Named>> = LazyLock::new(|| {
        TYPES
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(entry)
            .collect()
    });
    NAMES
        .get(name)
        .unwrap_or_else(|| panic!("data/types.txt lacks {name}"))
}

/// The name of the type of a kind.
///
/// # Panics
///
/// If the table lacks the kind, as the tests of `builtin` check.
pub(super) fn of_kind(group: &str, version: &str, kind: &str) -> &'static str {
    let package = match group.split('.').next().unwrap_or_default() {
        "" => "core",
        package => package,
    };
    let name = format!("{package}/{version}.{kind}");
    let found = TYPES
        .lines()
        .filter_map(|line| line.split_once(": "))
        .find(|(found, _)| *found == name);
    found.unwrap_or_else(|| panic!("data/types.txt lacks {name}")).0
}

impl Type {
    /// The name of the type in errors.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Named(_) | Self::Map(_) | Self::Pointer(_) => "object",
            Self::String | Self::Bytes => "string",
            Self::Bool => "bool",
            Self::Integer(64) => "int64",
            Self::Integer(_) => "int32",
            Self::Float => "float64",
            Self::List(_) => "array",
        }
    }
}

fn entry(line: &'static str) -> Option<(&'static str, Named)> {
    if let Some((name, meaning)) = line.split_once(" = ") {
        let meaning = match meaning {
            "custom" => Named::Custom,
            other => Named::Alias(read(other)),
        };
        return Some((name, meaning));
    }
    let (name, fields) = line
        .split_once(": ")
        .or_else(|| Some((line.strip_suffix(':')?, "")))?;
    let fields: Vec<Field> = fields.split("; ").filter_map(field).collect();
    let by_name = fields
        .iter()
        .enumerate()
        .map(|(at, field)| (field.name, at))
        .collect();
    Some((name, Named::Struct(Struct { fields, by_name })))
}

fn field(text: &'static str) -> Option<Field> {
    let (name, type_) = text.split_once(' ')?;
    // The fields of an embedded struct belong to the outer struct.
    let name = name.rsplit('>').next().unwrap_or(name);
    Some(Field {
        name: name.trim_end_matches(['?', '~']),
        omit_empty: name.contains('?'),
        omit_zero: name.contains('~'),
        type_: read(type_),
    })
}

fn read(text: &'static str) -> Type {
    if let Some(element) = text.strip_prefix('*') {
        return Type::Pointer(Box::new(read(element)));
    }
    if let Some(element) = text.strip_prefix("[]") {
        return if element == "uint8" {
            Type::Bytes
        } else {
            Type::List(Box::new(read(element)))
        };
    }
    if let Some(map) = text.strip_prefix("map[") {
        // All keys are strings or named strings.
        let element = map.split_once(']').map_or("string", |(_, element)| element);
        return Type::Map(Box::new(read(element)));
    }
    match text {
        "string" => Type::String,
        "bool" => Type::Bool,
        "int64" | "int" => Type::Integer(64),
        "int32" => Type::Integer(32),
        "float64" => Type::Float,
        "[]uint8" => Type::Bytes,
        name => Type::Named(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(type_: &Type) {
        match type_ {
            Type::Named(name) => {
                named(name);
            }
            Type::Pointer(element) | Type::List(element) | Type::Map(element) => check(element),
            Type::String | Type::Bool | Type::Integer(_) | Type::Float | Type::Bytes => {}
        }
    }

    #[test]
    fn the_table_has_all_types_that_it_names() {
        for line in TYPES.lines().filter(|line| !line.starts_with('#')) {
            let (_, meaning) = entry(line).unwrap_or_else(|| panic!("not understood: {line}"));
            match meaning {
                Named::Struct(fields) => fields.fields.iter().for_each(|field| check(&field.type_)),
                Named::Alias(type_) => check(&type_),
                Named::Custom => {}
            }
        }
    }
}
