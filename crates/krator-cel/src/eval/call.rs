//! Function calls. Each overload of `declarations.txt` is evaluated here, or by one of the called modules.

use super::function::{Call, CallResult};
use super::value::Value;
use super::{Fallible, fail, format, library, list, named, network, operators, text};

impl Call<'_> {
    /// Calls the function.
    pub(super) fn evaluate<'a>(&self, operands: &[Value<'a>]) -> Fallible<Value<'a>> {
        let found = library::call(self.function, operands)
            .or_else(|| operators::call(self.function, operands))
            .or_else(|| text::call(self, operands))
            .or_else(|| list::call(self, operands))
            .or_else(|| network::call(self.function, operands))
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
}

/// The functions of optional values, after `cel/library.go` of cel-go. `or` and `orValue` do not evaluate all of their
/// operands, and are therefore in the interpreter.
fn optional<'a>(function: &str, operands: &[Value<'a>]) -> CallResult<'a> {
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
