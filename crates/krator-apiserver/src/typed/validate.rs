//! Whether a value has a type, after `typed/validate.go`.

use crate::field_set::{PathElement, list_item};
use crate::types::{Arena, List, ListKind, Map, Scalar, Shape, Type, TypeId};
use crate::values;
use serde_json::{Map as JsonMap, Value as Json};
use std::collections::BTreeSet;

/// Whether an item of a set or of a map may occur more than once. Objects may, which were stored before the schema said
/// that they may not; configurations that are applied may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Duplicates {
    Allowed,
    Refused,
}

struct Mistake {
    path: String,
    message: String,
}

impl Mistake {
    fn here(message: impl Into<String>) -> Vec<Self> {
        vec![Self {
            path: String::new(),
            message: message.into(),
        }]
    }
}

fn below(element: impl Fn() -> PathElement, mut mistakes: Vec<Mistake>) -> Vec<Mistake> {
    for mistake in &mut mistakes {
        mistake.path.insert_str(0, &element().to_string());
    }
    mistakes
}

/// Checks that an object has its type.
///
/// # Errors
/// All that is wrong, in the words of the API server.
pub(crate) fn validate(type_: &Type, object: &Json, duplicates: Duplicates) -> Result<(), String> {
    let validator = Validator {
        arena: type_.arena(),
        duplicates,
    };
    let mistakes = validator.value(type_.root(), object);
    let text = |mistake: &Mistake| match mistake.path.as_str() {
        "" => mistake.message.clone(),
        path => format!("{path}: {}", mistake.message),
    };
    match mistakes.as_slice() {
        [] => Ok(()),
        [one] => Err(text(one)),
        several => {
            let lines = several.iter().map(|mistake| format!("\n  {}", text(mistake)));
            Err(format!("errors:{}", lines.collect::<String>()))
        }
    }
}

struct Validator<'a> {
    arena: &'a Arena,
    duplicates: Duplicates,
}

impl Validator<'_> {
    fn value(&self, id: TypeId, value: &Json) -> Vec<Mistake> {
        match self.arena.atom(id).deduce(Some(value)).shape() {
            Shape::Nothing => Mistake::here("schema error: invalid atom: inlined"),
            Shape::Scalar(scalar) => self::scalar(scalar, value),
            Shape::List(list) => match value {
                Json::Null => Vec::new(),
                Json::Array(items) => self.list(list, items),
                other => Mistake::here(format!("expected list, got &{{{}}}", values::plain(other))),
            },
            Shape::Map(map) => match value {
                Json::Null => Vec::new(),
                Json::Object(entries) => self.map(map, entries),
                other => Mistake::here(format!("expected map, got &{{{}}}", values::plain(other))),
            },
        }
    }

    fn map(&self, map: &Map, entries: &JsonMap<String, Json>) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        for (key, value) in entries {
            let element = || PathElement::field(key);
            let type_ = map.type_of(key);
            if type_ == Arena::NOTHING {
                mistakes.extend(below(element, Mistake::here("field not declared in schema")));
                break;
            }
            mistakes.extend(below(element, self.value(type_, value)));
        }
        mistakes
    }

    fn list(&self, list: &List, items: &[Json]) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        let mut seen = BTreeSet::new();
        for (index, item) in (0..).zip(items) {
            let element = if list.kind == ListKind::Atomic {
                PathElement::Index(index)
            } else {
                match list_item(self.arena, list, item) {
                    Ok(element) => element,
                    Err(why) => {
                        mistakes.extend(Mistake::here(format!("element {index}: {why}")));
                        return mistakes;
                    }
                }
            };
            let wrong = below(|| element.clone(), self.value(list.element, item));
            if self.duplicates == Duplicates::Refused {
                if seen.contains(&element) {
                    mistakes.extend(Mistake::here(format!("duplicate entries for key {element}")));
                }
                seen.insert(element);
            }
            mistakes.extend(wrong);
        }
        mistakes
    }
}

fn scalar(scalar: Scalar, value: &Json) -> Vec<Mistake> {
    let plain = || format!("&{{{}}}", values::plain(value));
    match (scalar, value) {
        (_, Json::Null)
        | (Scalar::Numeric, Json::Number(_))
        | (Scalar::String, Json::String(_))
        | (Scalar::Boolean, Json::Bool(_))
        | (Scalar::Untyped, Json::Number(_) | Json::String(_) | Json::Bool(_)) => Vec::new(),
        (Scalar::Numeric, other) => Mistake::here(format!(
            "expected numeric (int or float), got {}",
            values::go_type(other)
        )),
        (Scalar::String, other) => {
            let value = values::go_syntax(other);
            Mistake::here(format!(
                "expected string, got &value.valueUnstructured{{Value:{value}}}"
            ))
        }
        (Scalar::Boolean, _) => Mistake::here(format!("expected boolean, got {}", plain())),
        (Scalar::Untyped, _) => Mistake::here(format!("expected any scalar, got {}", plain())),
    }
}
