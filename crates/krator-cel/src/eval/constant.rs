//! Constants: literals, and expressions that cel-go evaluates during compilation, after its
//! `interpreter/decorators.go`.

use std::sync::Arc;

use super::Fallible;
use super::function::{Call, Patterns};
use super::value::{Map, Value};
use crate::syntax::tree::{Literal, Node, NodeKind};

pub(super) fn literal_value<'a>(literal: &Literal) -> Value<'a> {
    match literal {
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(value) => Value::Int(*value),
        Literal::Uint(value) => Value::Uint(*value),
        Literal::Double(value) => Value::Double(*value),
        Literal::String(text) => text.as_str().into(),
        Literal::Bytes(bytes) => Value::Bytes(bytes.as_slice().into()),
        Literal::Null => Value::Null,
    }
}

/// The value of a constant, of a list or map of constants, or of their conversion, all of which cel-go evaluates during
/// compilation; `None` for other expressions.
pub(crate) fn constant<'a>(node: &Node) -> Option<Fallible<Value<'a>>> {
    const CONVERSIONS: [&str; 10] = [
        "bool",
        "bytes",
        "double",
        "duration",
        "dyn",
        "int",
        "string",
        "timestamp",
        "type",
        "uint",
    ];
    match &node.kind {
        NodeKind::Literal(literal) => Some(Ok(literal_value(literal))),
        NodeKind::List(elements) => {
            let values = elements.iter().map(|(element, optional)| match optional {
                true => None,
                false => constant(element),
            });
            let values: Vec<Fallible<Value<'a>>> = values.collect::<Option<_>>()?;
            Some(values.into_iter().collect::<Fallible<Vec<_>>>().map(Value::from))
        }
        NodeKind::Map(entries) => {
            let mut made = Vec::new();
            for (key, value, optional) in entries {
                if *optional {
                    return None;
                }
                match (constant(key)?, constant(value)?) {
                    (Ok(key), Ok(value)) => made.push((key, value)),
                    (Err(why), _) | (_, Err(why)) => return Some(Err(why)),
                }
            }
            Some(Ok(Value::Map(Map::Made(Arc::new(made)))))
        }
        NodeKind::Call {
            function,
            target: None,
            arguments,
        } if CONVERSIONS.contains(&function.as_str()) => {
            let [operand] = arguments.as_slice() else {
                return None;
            };
            let patterns = Patterns::new();
            let call = Call {
                function,
                overload: None,
                patterns: &patterns,
            };
            Some(constant(operand)?.and_then(|operand| call.evaluate(&[operand])))
        }
        _ => None,
    }
}
