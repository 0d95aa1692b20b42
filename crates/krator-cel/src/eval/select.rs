//! Identifiers and chains of selections from an operand, after `interpreter/attributes.go` of cel-go.

use std::sync::Arc;

use super::interpret::{Run, Scope};
use super::value::Value;
use super::{Fallible, fail};
use crate::check::declarations::Declarations;
use crate::syntax::tree::{Node, NodeKind};
use crate::types::Type;

/// A selection from an operand.
enum Step<'a> {
    Field(Value<'a>),
    Index(Value<'a>),
}

impl<'a> Step<'a> {
    fn key(&self) -> &Value<'a> {
        match self {
            Step::Field(key) | Step::Index(key) => key,
        }
    }
}

impl<'a> Run<'_, 'a> {
    /// Evaluates an identifier or a chain of selections.
    pub(super) fn selected(&self, node: &Node, scope: &Scope<'_, 'a>) -> Fallible<Value<'a>> {
        let (value, optional) = self.chain(node, scope)?;
        Ok(match (value, optional) {
            (Some(value), false) => value,
            (value, _) => value.into(),
        })
    }

    /// The value of a chain of selections, and whether the chain is optional, so that the value may be missing.
    fn chain(&self, node: &Node, scope: &Scope<'_, 'a>) -> Fallible<(Option<Value<'a>>, bool)> {
        let name = self.program.checked.references.get(&node.id);
        let (operand, step, optional) = match &node.kind {
            NodeKind::Ident(_) => return self.variable(node, name.map(String::as_str), scope),
            NodeKind::Select { .. } if name.is_some() => {
                return self.variable(node, name.map(String::as_str), scope);
            }
            NodeKind::Select { operand, field, .. } => {
                (operand.as_ref(), Step::Field(field.as_str().into()), false)
            }
            NodeKind::Call {
                function, arguments, ..
            } => match (function.as_str(), arguments.as_slice()) {
                ("_[_]" | "_[?_]", [operand, index]) => {
                    let optional = function == "_[?_]";
                    // The operand is evaluated first, and so is its error.
                    let (value, was_optional) = self.chain(operand, scope)?;
                    if value.is_none() {
                        return Ok((None, true));
                    }
                    let step = Step::Index(self.eval(index, scope)?);
                    return self.step(value, was_optional, &step, optional);
                }
                ("_?._", [operand, field]) => (operand, Step::Field(self.eval(field, scope)?), true),
                _ => return Ok(self.eval(node, scope)?.opened()),
            },
            _ => return Ok(self.eval(node, scope)?.opened()),
        };
        let (value, was_optional) = self.chain(operand, scope)?;
        self.step(value, was_optional, &step, optional)
    }

    fn step(
        &self,
        value: Option<Value<'a>>,
        was_optional: bool,
        step: &Step<'a>,
        optional: bool,
    ) -> Fallible<(Option<Value<'a>>, bool)> {
        self.spend(1)?;
        let Some(value) = value else {
            return Ok((None, true));
        };
        if let Value::Authorizer(authorizer) = &value {
            let resource = Value::Authorizer(Arc::new(authorizer.request_resource()));
            return Ok((Some(resource), false));
        }
        let (key, optional) = (step.key(), optional || was_optional);
        if !key.can_be_key() {
            return fail(format!("invalid qualifier type: {}", key.type_name()));
        }
        match value.find(key)? {
            Some(found) => Ok((Some(found), optional)),
            None if optional => Ok((None, true)),
            None if matches!((&value, step), (Value::List(_), _)) => {
                fail(format!("index out of bounds: {key}"))
            }
            None => fail(format!("no such key: {key}")),
        }
    }

    fn variable(
        &self,
        node: &Node,
        name: Option<&str>,
        scope: &Scope<'_, 'a>,
    ) -> Fallible<(Option<Value<'a>>, bool)> {
        self.spend(1)?;
        let own = match &node.kind {
            NodeKind::Ident(own) => own.as_str(),
            _ => "",
        };
        let name = name.unwrap_or(own).trim_start_matches('.');
        if let Some(value) = scope.find(name) {
            return Ok(value.clone()?.opened());
        }
        if let Some(value) = self.variables.get(name) {
            return Ok(value.clone().opened());
        }
        match Declarations::get().constant(name) {
            Some(Type::Meta(Some(of))) => Ok((Some(Value::Type(runtime_name(of).into())), false)),
            Some(_) => Ok((Some(Value::Type("type".into())), false)),
            None => fail(format!("no such attribute(s): {name}")),
        }
    }
}

/// The name of a type in values.
fn runtime_name(of: &Type) -> &str {
    match of {
        Type::Null => "null_type",
        Type::Timestamp => "google.protobuf.Timestamp",
        Type::Duration => "google.protobuf.Duration",
        Type::List(_) => "list",
        Type::Map(..) => "map",
        Type::Meta(_) => "type",
        Type::Bool => "bool",
        Type::Int => "int",
        Type::Uint => "uint",
        Type::Double => "double",
        Type::String => "string",
        Type::Bytes => "bytes",
        Type::Opaque(name, _) | Type::Struct(name) | Type::Param(name) => name,
        Type::Dyn | Type::Error => "dyn",
    }
}
