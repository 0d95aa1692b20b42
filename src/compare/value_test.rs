//! Predicts whether a change breaks a certain object, as far as that is possible without the API server.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::SchemaPath;

/// Whether an object breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Breaks {
    /// The object does not break.
    No,
    /// The value exists, but only the API server can evaluate the rule or pattern that it may break.
    Maybe,
    /// The object breaks.
    Yes,
}

/// Which objects break. The values are those at the path of the change.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ValueTest {
    /// All objects.
    Every,
    /// Objects that have the value.
    Present,
    /// Objects without the field of this name in the value that contains it.
    Lacks(String),
    /// Objects with a value of none of these types.
    OfType(BTreeSet<ValueType>),
    /// Objects with a number below the bound, or equal to it if the bound is exclusive.
    Below(f64, bool),
    /// Objects with a number above the bound, or equal to it if the bound is exclusive.
    Above(f64, bool),
    /// Objects with a number that is not a multiple of this one.
    NotMultiple(f64),
    /// Objects with an integer that does not fit into 32 bits.
    Wide,
    /// Objects with a number that is too large for a float of 32 bits.
    Unfloatable,
    /// Objects with a shorter string, list or map.
    Shorter(u64),
    /// Objects with a longer string, list or map.
    Longer(u64),
    /// Objects with a value that is none of these.
    NoneOf(Vec<Json>),
    /// Objects with a list in which two items have the same values in these fields, or are equal if no fields are given.
    Twice(Vec<String>),
    /// Objects with fields other than these.
    OtherFields(BTreeSet<String>),
    /// Objects in which the value is null.
    Null,
    /// Objects in which the value is not a JSON object.
    NoObject,
    /// Objects in which the value is not a Kubernetes object, with `apiVersion` and `kind`.
    NoResource,
    /// Objects in this state.
    InState(String),
    /// Only the API server can tell.
    Unknown,
}

/// The types of JSON values that schemas distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ValueType {
    String,
    Integer,
    Fraction,
    Boolean,
    List,
    Object,
}

impl ValueType {
    pub(crate) const ALL: [ValueType; 6] = [
        ValueType::String,
        ValueType::Integer,
        ValueType::Fraction,
        ValueType::Boolean,
        ValueType::List,
        ValueType::Object,
    ];

    fn of(value: &Json) -> Option<ValueType> {
        Some(match value {
            Json::Null => return None,
            Json::Bool(_) => ValueType::Boolean,
            Json::String(_) => ValueType::String,
            Json::Array(_) => ValueType::List,
            Json::Object(_) => ValueType::Object,
            // To the API server 3.0 is an integer.
            Json::Number(number) => match number.as_f64() {
                Some(number) if number.fract() != 0.0 => ValueType::Fraction,
                _ => ValueType::Integer,
            },
        })
    }
}

impl ValueTest {
    /// Whether the object breaks.
    pub fn of(&self, object: &Json, path: Option<&SchemaPath>) -> Breaks {
        let certain = |breaks: bool| if breaks { Breaks::Yes } else { Breaks::No };
        match self {
            ValueTest::Every => return Breaks::Yes,
            ValueTest::InState(state) => return certain(object["status"]["state"] == **state),
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
            _ => certain(values.into_iter().any(|value| self.finds(value))),
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
            // The API server treats null like an absent field.
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
            // The API server does not refuse small numbers that such a float rounds to 0.
            ValueTest::Unfloatable => number.is_some_and(|number| (number as f32).is_infinite()),
            ValueTest::Shorter(least) => length.is_some_and(|length| length < *least),
            ValueTest::Longer(most) => length.is_some_and(|length| length > *most),
            ValueTest::NoneOf(values) => !value.is_null() && !values.contains(value),
            ValueTest::Twice(keys) => {
                let identity = |item: &Json| match keys.as_slice() {
                    [] => item.to_string(),
                    keys => keys.iter().map(|key| format!("{},", item[key])).collect(),
                };
                let mut seen = BTreeSet::new();
                value
                    .as_array()
                    .into_iter()
                    .flatten()
                    .any(|item| !seen.insert(identity(item)))
            }
            ValueTest::OtherFields(known) => value.as_object().is_some_and(|fields| {
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
