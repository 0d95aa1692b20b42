//! Validates values against types, after `typed/validate.go`.

use crate::field_set::{PathElement, list_item};
use crate::types::{Arena, List, ListKind, Map, Scalar, Shape, Type, TypeId};
use crate::values;
use serde_json::{Map as JsonMap, Value as Json};
use std::collections::BTreeSet;

/// Whether duplicates are allowed in sets and associative lists. They are allowed in objects, which may have been
/// stored before a change of the schema, but not in applied configurations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Duplicates {
    Allowed,
    Refused,
}

/// Checks that an object has its type.
///
/// # Errors
/// All errors, with the messages of the API server.
pub(crate) fn validate(type_: &Type, object: &Json, duplicates: Duplicates) -> Result<(), String> {
    let mut validator = Validator {
        arena: type_.arena(),
        duplicates,
        path: String::new(),
        mistakes: Vec::new(),
    };
    validator.value(type_.root(), object);
    match validator.mistakes.as_slice() {
        [] => Ok(()),
        [one] => Err(one.clone()),
        several => {
            let lines = several.iter().map(|mistake| format!("\n  {mistake}"));
            Err(format!("errors:{}", lines.collect::<String>()))
        }
    }
}

struct Validator<'a> {
    arena: &'a Arena,
    duplicates: Duplicates,
    path: String,
    mistakes: Vec<String>,
}

impl Validator<'_> {
    fn mistake(&mut self, message: impl Into<String>) {
        let message = message.into();
        self.mistakes.push(match self.path.as_str() {
            "" => message,
            path => format!("{path}: {message}"),
        });
    }

    fn expected(&mut self, what: &str, value: &Json) {
        self.mistake(format!("expected {what}, got &{{{}}}", values::plain(value)));
    }

    /// Validates a part of a value.
    fn part(&mut self, element: &PathElement, id: TypeId, value: &Json) {
        let outside = self.path.len();
        self.path.push_str(&element.to_string());
        if id == Arena::NOTHING {
            self.mistake("field not declared in schema");
        } else {
            self.value(id, value);
        }
        self.path.truncate(outside);
    }

    fn value(&mut self, id: TypeId, value: &Json) {
        match (self.arena.atom(id).deduce(Some(value)).shape(), value) {
            (Shape::Nothing, _) => self.mistake("schema error: invalid atom: inlined"),
            (Shape::Scalar(scalar), _) => self.scalar(scalar, value),
            (_, Json::Null) => {}
            (Shape::List(list), Json::Array(items)) => self.list(list, items),
            (Shape::List(_), other) => self.expected("list", other),
            (Shape::Map(map), Json::Object(entries)) => self.map(map, entries),
            (Shape::Map(_), other) => self.expected("map", other),
        }
    }

    fn map(&mut self, map: &Map, entries: &JsonMap<String, Json>) {
        for (key, value) in entries {
            let type_ = map.type_of(key);
            self.part(&PathElement::field(key), type_, value);
            if type_ == Arena::NOTHING {
                return;
            }
        }
    }

    fn list(&mut self, list: &List, items: &[Json]) {
        let mut seen = BTreeSet::new();
        for (index, item) in (0..).zip(items) {
            let element = match list_item(self.arena, list, item) {
                _ if list.kind == ListKind::Atomic => PathElement::Index(index),
                Ok(element) => element,
                Err(why) => return self.mistake(format!("element {index}: {why}")),
            };
            if self.duplicates == Duplicates::Refused && seen.contains(&element) {
                self.mistake(format!("duplicate entries for key {element}"));
            }
            self.part(&element, list.element, item);
            seen.insert(element);
        }
    }

    fn scalar(&mut self, scalar: Scalar, value: &Json) {
        match (scalar, value) {
            (_, Json::Null)
            | (Scalar::Numeric, Json::Number(_))
            | (Scalar::String, Json::String(_))
            | (Scalar::Boolean, Json::Bool(_))
            | (Scalar::Untyped, Json::Number(_) | Json::String(_) | Json::Bool(_)) => {}
            (Scalar::Numeric, _) => {
                let found = values::go_type(value);
                self.mistake(format!("expected numeric (int or float), got {found}"));
            }
            (Scalar::String, _) => {
                let found = values::plain(value);
                self.mistake(format!(
                    "expected string, got &value.valueUnstructured{{Value:{found}}}"
                ));
            }
            (Scalar::Boolean, _) => self.expected("boolean", value),
            (Scalar::Untyped, _) => self.expected("any scalar", value),
        }
    }
}
