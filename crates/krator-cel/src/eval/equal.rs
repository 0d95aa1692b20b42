//! Equality, order and addition, after the methods `Equal`, `Compare` and `Add` of the values of cel-go and of the API
//! server.

use std::cmp::Ordering;
use std::sync::Arc;

use serde_json::Value as Json;

use super::value::{Element, List, Map, Value};
use super::{Fallible, fail};
use crate::decl_type::ListType;

fn no_such_overload<T>() -> Fallible<T> {
    fail("no such overload".to_owned())
}

/// The order of a float and a number whose type has the range from `least` to `most`.
fn compare_double(a: f64, b: f64, least: f64, most: f64) -> Ordering {
    if a < least {
        Ordering::Less
    } else if a > most {
        Ordering::Greater
    } else {
        a.partial_cmp(&b).unwrap_or(Ordering::Equal)
    }
}

impl<'a> Value<'a> {
    /// Whether two values are equal by `==`: `null` equals only itself.
    pub(super) fn equals(&self, other: &Value<'a>) -> Fallible<bool> {
        match (self, other) {
            (Value::Null, Value::Null) => Ok(true),
            (Value::Null, _) | (_, Value::Null) => Ok(false),
            _ => self.same(other),
        }
    }

    /// Whether two values are equal inside other values.
    fn same(&self, other: &Value<'a>) -> Fallible<bool> {
        Ok(match (self, other) {
            (Value::Null, _) => matches!(other, Value::Null),
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(_) | Value::Uint(_) | Value::Double(_), _) => {
                matches!(self.compare(other), Some(Ok(Ordering::Equal)))
            }
            (Value::Text(a), Value::Text(b)) | (Value::Type(a), Value::Type(b)) => a == b,
            (Value::Bytes(a), Value::Bytes(b)) => a == b,
            (Value::Timestamp(a), Value::Timestamp(b)) => a.is_same(b),
            (Value::Duration(a), Value::Duration(b)) => a == b,
            (Value::List(a), Value::List(b)) => return a.same(b),
            (Value::Map(a), Value::Map(b)) => return a.same(b),
            (Value::List(List::Typed { .. }) | Value::Map(Map::Typed(..) | Map::Object(..)), _) => {
                return no_such_overload();
            }
            (Value::Optional(a), Value::Optional(b)) => match (a, b) {
                (Some(a), Some(b)) => return a.same(b),
                (a, b) => a.is_none() && b.is_none(),
            },
            (Value::Ip(a), Value::Ip(b)) => a == b,
            (Value::Cidr(a, bits), Value::Cidr(b, other_bits)) => (a, bits) == (b, other_bits),
            (Value::Url(a), Value::Url(b)) => a == b,
            (Value::Quantity(a), Value::Quantity(b)) => a.compare(b)? == Ordering::Equal,
            (Value::Semver(a), Value::Semver(b)) => a.compare(b) == Ordering::Equal,
            (Value::Format(a), Value::Format(b)) => a == b,
            (Value::Unknown(a), Value::Unknown(b)) => a == b,
            (
                Value::Ip(_)
                | Value::Cidr(..)
                | Value::Url(_)
                | Value::Quantity(_)
                | Value::Semver(_)
                | Value::Format(_),
                _,
            ) => return no_such_overload(),
            _ => false,
        })
    }

    /// The order of two values, or an error if they have none; `None` if their types have no order.
    pub(super) fn compare(&self, other: &Value<'a>) -> Option<Fallible<Ordering>> {
        const INT: (f64, f64) = (i64::MIN as f64, i64::MAX as f64);
        const UINT: (f64, f64) = (0.0, u64::MAX as f64);
        let is_nan = |value: &Value<'_>| matches!(value, Value::Double(value) if value.is_nan());
        let order = match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::Int(a), Value::Int(b)) | (Value::Duration(a), Value::Duration(b)) => a.cmp(b),
            (Value::Uint(a), Value::Uint(b)) => a.cmp(b),
            (Value::Int(a), Value::Uint(b)) => i128::from(*a).cmp(&i128::from(*b)),
            (Value::Uint(a), Value::Int(b)) => i128::from(*a).cmp(&i128::from(*b)),
            (Value::Double(_), Value::Double(_) | Value::Int(_) | Value::Uint(_))
            | (Value::Int(_) | Value::Uint(_), Value::Double(_))
                if is_nan(self) || is_nan(other) =>
            {
                return Some(fail("NaN values cannot be ordered".to_owned()));
            }
            (Value::Double(a), Value::Double(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
            (Value::Double(a), Value::Int(b)) => compare_double(*a, *b as f64, INT.0, INT.1),
            (Value::Double(a), Value::Uint(b)) => compare_double(*a, *b as f64, UINT.0, UINT.1),
            (Value::Int(a), Value::Double(b)) => compare_double(*b, *a as f64, INT.0, INT.1).reverse(),
            (Value::Uint(a), Value::Double(b)) => compare_double(*b, *a as f64, UINT.0, UINT.1).reverse(),
            (Value::Text(a), Value::Text(b)) => a.cmp(b),
            (Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
            (Value::Timestamp(a), Value::Timestamp(b)) => a.compare(b),
            _ => return None,
        };
        Some(Ok(order))
    }
}

/// Whether a stored value equals a value of Go in a set or as a key of a list, where numbers of different types differ.
fn is_same_native(stored: &Json, value: &Value<'_>) -> bool {
    match (stored, value) {
        (Json::Bool(a), Value::Bool(b)) => a == b,
        (Json::String(a), Value::Text(b)) => **a == **b,
        (Json::Number(a), Value::Int(b)) => a.as_i64() == Some(*b),
        (Json::Number(a), Value::Double(b)) => a.as_i64().is_none() && a.as_f64() == Some(*b),
        _ => false,
    }
}

impl Element<'_> {
    fn is_native(&self, value: &Value<'_>) -> bool {
        match self {
            Element::Stored(json) => is_same_native(json, value),
            Element::Added(own) => own.type_name() == value.type_name() && own.is_same_key(value),
        }
    }

    /// The values of an object's list keys. Like the API server, this looks up the keys by their names in CEL.
    fn keys<'j>(&'j self, names: &[String]) -> Vec<Option<&'j Json>> {
        let object = match self {
            Element::Stored(json) => json.as_object(),
            Element::Added(Value::Map(map)) => map.stored(),
            Element::Added(_) => None,
        };
        names.iter().map(|name| object?.get(name)).collect()
    }
}

fn element(value: Value<'_>) -> Element<'_> {
    Element::Added(value)
}

impl<'a> List<'a> {
    /// The elements as Go adds them to a list with a schema: in their stored form.
    fn natives(&self) -> Fallible<Vec<Element<'a>>> {
        match self {
            List::Typed { elements, of, .. } => {
                // A text that Go has parsed is a Go value afterwards, and has no stored form.
                let native = |stored: &Element<'a>| match stored.read(of) {
                    Ok(value @ (Value::Timestamp(_) | Value::Duration(_) | Value::Bytes(_))) => {
                        element(value)
                    }
                    _ => stored.clone(),
                };
                Ok(elements.iter().map(native).collect())
            }
            List::Dynamic(elements) => Ok(elements.iter().map(Element::Stored).collect()),
            List::Made(elements) => Ok(elements.iter().cloned().map(element).collect()),
        }
    }

    fn same(&self, other: &List<'a>) -> Fallible<bool> {
        if self.len() != other.len() {
            return Ok(false);
        }
        let List::Typed { elements, of, kind } = self else {
            for (own, other) in self.elements().zip(other.elements()) {
                // Two elements that cannot be compared count as equal.
                if let (Ok(own), Ok(other)) = (own, other)
                    && own.equals(&other) == Ok(false)
                {
                    return Ok(false);
                }
            }
            return Ok(true);
        };
        match kind {
            ListType::Atomic => {
                for (own, other) in self.elements().zip(other.elements()) {
                    if !own?.same(&other?)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            ListType::Set => {
                for value in other.elements() {
                    let value = value?;
                    if !elements.iter().any(|own| own.is_native(&value)) {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            ListType::Map(names) => {
                for (stored, value) in other.natives()?.iter().zip(other.elements()) {
                    let keys = stored.keys(names);
                    // Of several elements with the same keys, the last one is used.
                    let Some(own) = elements.iter().rev().find(|own| own.keys(names) == keys) else {
                        return Ok(false);
                    };
                    if !own.read(of)?.same(&value?)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }

    /// Whether the list contains an element that equals a value.
    pub(super) fn contains(&self, value: &Value<'a>) -> Fallible<bool> {
        let mut failed = None;
        for own in self.elements() {
            let found = match self {
                List::Typed { .. } => own.and_then(|own| own.same(value)),
                _ => own.and_then(|own| value.same(&own)),
            };
            match found {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(why) => {
                    failed.get_or_insert(why);
                }
            }
        }
        match (failed, self) {
            (Some(why), List::Typed { .. }) => Err(why),
            _ => Ok(false),
        }
    }

    /// The sum of two lists. In lists with a schema, the sum of sets or maps has each element once.
    pub(super) fn add(&self, other: &List<'a>) -> Fallible<List<'a>> {
        let List::Typed { elements, of, kind } = self else {
            if self.len() == 0 {
                return Ok(other.clone());
            }
            let mut all = self.values()?;
            all.extend(other.values()?);
            return Ok(List::Made(Arc::new(all)));
        };
        let mut all = elements.to_vec();
        match kind {
            ListType::Atomic => all.extend(other.natives()?),
            ListType::Set => {
                for (native, value) in other.natives()?.into_iter().zip(other.elements()) {
                    let value = value?;
                    if !all.iter().any(|own| own.is_native(&value)) {
                        all.push(native);
                    }
                }
            }
            ListType::Map(names) => {
                for native in other.natives()? {
                    let keys = native.keys(names);
                    match elements.iter().rposition(|own| own.keys(names) == keys) {
                        Some(at) => all[at] = native,
                        None => all.push(native),
                    }
                }
            }
        }
        Ok(List::Typed {
            elements: Arc::new(all),
            of,
            kind,
        })
    }
}

impl<'a> Map<'a> {
    fn same(&self, other: &Map<'a>) -> Fallible<bool> {
        if self.len() != other.len() {
            return Ok(false);
        }
        let (map, is_known): (_, &dyn Fn(&str) -> bool) = match self {
            Map::Made(_) | Map::Dynamic(_) => {
                for key in self.keys() {
                    let Some(found) = other.find(&key)? else {
                        return Ok(false);
                    };
                    if let Some(own) = self.find(&key)?
                        && own.equals(&found) == Ok(false)
                    {
                        return Ok(false);
                    }
                }
                return Ok(true);
            }
            Map::Typed(map, _) => (map, &|_| true),
            Map::Object(map, object) => (map, &|name| object.knows(name)),
        };
        for (name, stored) in *map {
            if !is_known(name) {
                let theirs = other.stored().and_then(|other| other.get(name));
                if theirs.is_some_and(|theirs| theirs != stored) {
                    return Ok(false);
                }
                continue;
            }
            let key = name.as_str().into();
            match (self.find(&key)?, other.find(&key)?) {
                (None, None) => {}
                (Some(own), Some(theirs)) => {
                    if !own.same(&theirs)? {
                        return Ok(false);
                    }
                }
                _ => return Ok(false),
            }
        }
        Ok(true)
    }
}
