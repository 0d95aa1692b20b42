//! The messages of the kinds, which `tools/openapi/types` extracts from the sources of Kubernetes.

use super::special::Special;
use serde_json::Value as Json;
use std::{collections::BTreeMap, sync::LazyLock};

const MESSAGES: &str = include_str!("../../data/protobuf.txt");

/// The fields of a message by their numbers.
pub(super) type Message = BTreeMap<u64, Field>;

/// A field of a message.
#[derive(Debug)]
pub(super) struct Field {
    /// The name in JSON. An embedded struct has none, because its fields belong to the outer struct.
    pub name: Option<&'static str>,
    pub type_: Type,
}

/// The type of a field.
#[derive(Debug)]
pub(super) enum Type {
    String,
    Bool,
    Int32,
    Int64,
    Double,
    /// Base64 in JSON.
    Bytes,
    /// A message that JSON represents as an object.
    Message(&'static str),
    /// A message that JSON represents in another form.
    Special(Special),
    List(Box<Type>),
    /// A map from strings.
    Map(Box<Type>),
    /// A message whose only field is a list, and which is that list in JSON.
    Items(Box<Type>),
}

impl Type {
    fn read(text: &'static str) -> Self {
        let boxed = |text| Box::new(Self::read(text));
        if let Some(element) = text.strip_prefix("[]") {
            return Self::List(boxed(element));
        }
        if let Some(element) = text.strip_prefix("{}") {
            return Self::Map(boxed(element));
        }
        if let Some(list) = text.strip_prefix("items") {
            return Self::Items(boxed(list));
        }
        match text {
            "string" => Self::String,
            "bool" => Self::Bool,
            "int32" => Self::Int32,
            "int64" => Self::Int64,
            "float64" => Self::Double,
            "bytes" => Self::Bytes,
            name => Special::named(name).map_or(Self::Message(name), Self::Special),
        }
    }

    /// The value of a map entry that has only a key.
    pub fn zero(&self) -> Json {
        match self {
            Self::String | Self::Bytes => "".into(),
            Self::Bool => false.into(),
            Self::Int32 | Self::Int64 | Self::Double => 0.into(),
            Self::Special(Special::Quantity) => "0".into(),
            Self::Message(_) => Json::Object(serde_json::Map::new()),
            Self::Special(_) | Self::List(_) | Self::Map(_) | Self::Items(_) => Json::Null,
        }
    }
}

/// A message by its name, such as `core/v1.Pod`.
pub(super) fn message(name: &str) -> Option<&'static Message> {
    static ALL: LazyLock<BTreeMap<&'static str, Message>> = LazyLock::new(|| {
        let lines = MESSAGES.lines().filter(|line| !line.starts_with('#'));
        lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, fields)| (name, read(fields)))
            .collect()
    });
    ALL.get(name)
}

fn read(fields: &'static str) -> Message {
    fields.split("; ").filter_map(field).collect()
}

fn field(text: &'static str) -> Option<(u64, Field)> {
    let mut words = text.splitn(3, ' ');
    let number = words.next()?.parse().ok()?;
    let name = words.next().filter(|name| *name != ">");
    let type_ = Type::read(words.next()?);
    Some((number, Field { name, type_ }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, type_: &Type) {
        match type_ {
            Type::Message(name) => assert!(message(name).is_some(), "{name} is missing: {line}"),
            Type::List(element) | Type::Map(element) | Type::Items(element) => check(line, element),
            _ => {}
        }
    }

    #[test]
    fn the_table_has_all_messages_that_it_names() {
        for line in MESSAGES.lines().filter(|line| !line.starts_with('#')) {
            let (name, fields) = line
                .split_once(": ")
                .unwrap_or_else(|| panic!("not understood: {line}"));
            let known = message(name).unwrap_or_else(|| panic!("not found: {line}"));
            let written = fields.split("; ").filter(|field| !field.is_empty()).count();
            assert_eq!(known.len(), written, "{line}");
            known.values().for_each(|field| check(line, &field.type_));
        }
    }
}
