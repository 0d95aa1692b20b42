//! Whether a change breaks a certain object: what the API server would say, as far as that can be told here.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::SchemaPath;

/// Whether an object breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Breaks {
    /// It does not.
    No,
    /// The value is there, but whether it fits is known to the API server only: a rule, a pattern.
    Maybe,
    /// It does.
    Yes,
}

/// What breaks. The values are those at the path of the change.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ValueTest {
    /// Every object.
    Every,
    /// One that has a value.
    Present,
    /// One that lacks the field of that name in the value that holds it.
    Lacks(String),
    /// One with a value of another sort.
    OfType(BTreeSet<ValueType>),
    /// One with a number below.
    Below(f64, bool),
    /// One with a number above.
    Above(f64, bool),
    /// One with a number that is no multiple.
    NotMultiple(f64),
    /// One with a number of more than 32 bits.
    Wide,
    /// One whose text, list or map is shorter.
    Shorter(u64),
    /// One whose text, list or map is longer.
    Longer(u64),
    /// One with a value that is none of these.
    NoneOf(Vec<Json>),
    /// One with a list that has an item twice, told by these fields; without fields, by the item itself.
    Twice(Vec<String>),
    /// One with fields beside these.
    Beside(BTreeSet<String>),
    /// One with a value that is null.
    Null,
    /// One with a value that is no object.
    NoObject,
    /// One with a value that is no object of the API.
    NoResource,
    /// One that is in the state.
    InState(String),
    /// Nobody here can tell.
    Unknown,
}

/// A sort of JSON values, as schemas tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ValueType {
    Text,
    Whole,
    Fraction,
    Truth,
    List,
    Object,
}

impl ValueType {
    pub(crate) const ALL: [ValueType; 6] = [
        ValueType::Text,
        ValueType::Whole,
        ValueType::Fraction,
        ValueType::Truth,
        ValueType::List,
        ValueType::Object,
    ];

    fn of(value: &Json) -> Option<ValueType> {
        Some(match value {
            Json::Null => return None,
            Json::Bool(_) => ValueType::Truth,
            Json::String(_) => ValueType::Text,
            Json::Array(_) => ValueType::List,
            Json::Object(_) => ValueType::Object,
            // 3.0 is a whole number to the API server.
            Json::Number(number) => match number.as_f64() {
                Some(number) if number.fract() != 0.0 => ValueType::Fraction,
                _ => ValueType::Whole,
            },
        })
    }
}

impl ValueTest {
    /// What becomes of an object.
    pub fn of(&self, object: &Json, path: Option<&SchemaPath>) -> Breaks {
        let told = |breaks: bool| if breaks { Breaks::Yes } else { Breaks::No };
        match self {
            ValueTest::Every => return Breaks::Yes,
            ValueTest::InState(state) => return told(object["status"]["state"] == **state),
            _ => {}
        }
        let Some(path) = path else { return Breaks::Maybe };
        let values = match self {
            ValueTest::Lacks(_) => path.parent().values(object),
            _ => path.values(object),
        };
        match self {
            ValueTest::Unknown if values.is_empty() => Breaks::No,
            ValueTest::Unknown => Breaks::Maybe,
            _ => told(values.into_iter().any(|value| self.finds(value))),
        }
    }

    fn finds(&self, value: &Json) -> bool {
        let number = value.as_f64();
        let length = match value {
            Json::String(text) => Some(text.chars().count() as u64),
            Json::Array(items) => Some(items.len() as u64),
            Json::Object(fields) => Some(fields.len() as u64),
            _ => None,
        };
        match self {
            ValueTest::Every => true,
            // Null is nothing at all.
            ValueTest::Present => !value.is_null(),
            ValueTest::Lacks(field) => value.get(field).is_none_or(Json::is_null),
            ValueTest::OfType(sorts) => ValueType::of(value).is_some_and(|sort| !sorts.contains(&sort)),
            ValueTest::Below(least, exclusive) => {
                number.is_some_and(|number| number < *least || *exclusive && number == *least)
            }
            ValueTest::Above(most, exclusive) => {
                number.is_some_and(|number| number > *most || *exclusive && number == *most)
            }
            ValueTest::NotMultiple(step) => number.is_some_and(|number| (number / step).fract() != 0.0),
            ValueTest::Wide => value
                .as_i64()
                .is_some_and(|number| i32::try_from(number).is_err()),
            ValueTest::Shorter(least) => length.is_some_and(|length| length < *least),
            ValueTest::Longer(most) => length.is_some_and(|length| length > *most),
            ValueTest::NoneOf(values) => !value.is_null() && !values.contains(value),
            ValueTest::Twice(keys) => {
                let told_by = |item: &Json| match keys.as_slice() {
                    [] => item.to_string(),
                    keys => keys.iter().map(|key| format!("{},", item[key])).collect(),
                };
                let mut seen = BTreeSet::new();
                value
                    .as_array()
                    .into_iter()
                    .flatten()
                    .any(|item| !seen.insert(told_by(item)))
            }
            ValueTest::Beside(known) => value.as_object().is_some_and(|fields| {
                let mut there = fields.iter().filter(|(_, value)| !value.is_null());
                there.any(|(name, _)| !known.contains(name))
            }),
            ValueTest::Null => value.is_null(),
            ValueTest::NoObject => !value.is_object(),
            ValueTest::NoResource => {
                let has = |field: &str| value[field].as_str().is_some_and(|text| !text.is_empty());
                !has("apiVersion") || !has("kind")
            }
            ValueTest::InState(_) | ValueTest::Unknown => false,
        }
    }
}
