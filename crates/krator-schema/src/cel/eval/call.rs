//! Calls of functions: each overload of `declarations.txt` is evaluated here, or by one of the modules that this asks.

use super::interpret::Patterns;
use super::value::Value;
use super::{
    Failure, Fallible, fail, format, list, named, network, operators, quantity, semver, text, time, url,
};
use crate::Pattern;

/// A call of a function.
pub(super) struct Call<'c> {
    pub(super) function: &'c str,
    /// The overload, if the types of the operands leave only one.
    pub(super) overload: Option<&'static str>,
    /// The patterns that are written in the expression.
    pub(super) patterns: &'c Patterns,
}

/// The result of a function, or `None` if it has no overload for such operands.
pub(super) type Found<'a> = Option<Fallible<Value<'a>>>;

/// The largest text that a function makes, in bytes. The API server stops far below, by the cost of making it.
pub(super) const LONGEST: usize = 64 << 20;

impl Call<'_> {
    /// Calls the function.
    pub(super) fn evaluate<'a>(&self, operands: &[Value<'a>]) -> Fallible<Value<'a>> {
        let found = match operands {
            [Value::Authorizer(authorizer), rest @ ..] => authorizer.call(self.function, rest),
            _ => None,
        };
        let found = found
            .or_else(|| operators::call(self.function, operands))
            .or_else(|| text::call(self, operands))
            .or_else(|| list::call(self, operands))
            .or_else(|| time::call(self.function, operands))
            .or_else(|| quantity::call(self.function, operands))
            .or_else(|| semver::call(self.function, operands))
            .or_else(|| network::call(self.function, operands))
            .or_else(|| url::call(self.function, operands))
            .or_else(|| named::call(self.function, operands))
            .or_else(|| optional(self.function, operands))
            .or_else(|| match (self.function, operands) {
                ("format", [Value::Text(text), Value::List(values)]) => Some(format::format(text, values)),
                _ => None,
            });
        found.unwrap_or_else(|| {
            let types: Vec<&str> = operands.iter().map(Value::type_name).collect();
            fail(format!(
                "no such overload: {}({})",
                self.function,
                types.join(", ")
            ))
        })
    }

    /// Does something with a pattern.
    pub(super) fn with_pattern<T>(
        &self,
        text: &str,
        matched: impl FnOnce(&Pattern) -> Option<T>,
    ) -> Fallible<T> {
        let large = || Failure::Unknown("the pattern is too large".to_owned());
        if let Some(pattern) = self.patterns.get(text) {
            return matched(pattern).ok_or_else(large);
        }
        match Pattern::new(text) {
            Ok(pattern) => matched(&pattern).ok_or_else(large),
            Err(why) if self.function == "matches" => fail(why.to_string()),
            Err(why) => fail(format!("Illegal regex: {why}")),
        }
    }
}

/// The functions of optional values, after `cel/library.go` of cel-go. `or` and `orValue` evaluate as few operands as they can, and
/// are therefore with the interpreter.
fn optional<'a>(function: &str, operands: &[Value<'a>]) -> Found<'a> {
    let some = |value: Value<'a>| Some(Ok(Some(value).into()));
    match (function, operands) {
        ("optional.none", []) => Some(Ok(Value::Optional(None))),
        ("optional.of", [value]) => some(value.clone()),
        ("optional.ofNonZeroValue", [value]) if value.is_zero() => Some(Ok(Value::Optional(None))),
        ("optional.ofNonZeroValue", [value]) => some(value.clone()),
        ("hasValue", [Value::Optional(value)]) => Some(Ok(value.is_some().into())),
        ("value", [Value::Optional(Some(value))]) => Some(Ok(Value::clone(value))),
        ("value", [Value::Optional(None)]) => Some(fail("optional.none() dereference".to_owned())),
        ("optional.unwrap" | "unwrapOpt", [Value::List(values)]) => {
            let mut present = Vec::new();
            for value in values.elements() {
                match value {
                    Ok(Value::Optional(value)) => present.extend(value.map(|value| Value::clone(&value))),
                    Ok(_) => return None,
                    Err(why) => return Some(Err(why)),
                }
            }
            Some(Ok(present.into()))
        }
        _ => None,
    }
}
