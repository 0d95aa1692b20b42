//! Fields of values without a schema, optional ones too, after `interpreter/attributes.go` and `common/types/optional.go` of
//! cel-go. Optional values of `kube-cel` lose that they are optional when they are copied.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube_cel::cel::extractors::This;
use kube_cel::cel::objects::{Key, Opaque};
use kube_cel::cel::{Context, ExecutionError, Value};

use super::authorizer::Authorizer;

pub(super) const SELECT: &str = "@select";
pub(super) const SELECT_OPTIONAL: &str = "@select_optional";
pub(super) const HAS: &str = "@has";

/// The overloads that are evaluated here.
pub(super) const OVERLOADS: [&str; 5] = [
    "select_optional_field",
    "optional_hasValue",
    "optional_or_optional",
    "optional_orValue_value",
    "optional_value",
];

/// A value that may be absent.
#[derive(Debug, PartialEq)]
struct Optional(Option<Value>);

// A number that is none equals nothing, and JSON has no such numbers.
impl Eq for Optional {}

impl Opaque for Optional {
    fn runtime_type_name(&self) -> &str {
        "optional_type"
    }
}

/// The variables of a policy, each with its value or why it has none.
#[derive(Debug, PartialEq, Clone, Default)]
pub(super) struct Variables(pub(super) BTreeMap<String, Result<Value, ExecutionError>>);

impl Eq for Variables {}

impl Opaque for Variables {
    fn runtime_type_name(&self) -> &str {
        "kubernetes.variables"
    }
}

fn opaque<T: 'static>(value: &Value) -> Option<&T> {
    match value {
        Value::Opaque(opaque) => opaque.downcast_ref::<T>(),
        _ => None,
    }
}

fn optional(value: Option<Value>) -> Value {
    Value::Opaque(Arc::new(Optional(value)))
}

/// The field of a value; none if it has no such field.
fn field(of: &Value, name: &Arc<String>) -> Result<Option<Value>, ExecutionError> {
    match of {
        Value::Map(map) => Ok(map.map.get(&Key::String(Arc::clone(name))).cloned()),
        Value::List(_) => Err(ExecutionError::NoSuchOverload),
        _ => Ok(None),
    }
}

/// The field of a value that may be absent itself.
fn field_or_none(of: &Value, name: &Arc<String>) -> Result<Option<Value>, ExecutionError> {
    match opaque(of) {
        Some(Optional(Some(value))) => field(value, name),
        Some(Optional(None)) => Ok(None),
        None => field(of, name),
    }
}

fn select(of: Value, name: Arc<String>) -> Result<Value, ExecutionError> {
    if let Some(Variables(all)) = opaque(&of) {
        let missing = || Err(ExecutionError::NoSuchKey(Arc::clone(&name)));
        return all.get(name.as_str()).cloned().unwrap_or_else(missing);
    }
    if opaque::<Optional>(&of).is_some() {
        return select_optional(of, name);
    }
    if let Some(authorizer) = opaque::<Authorizer>(&of) {
        return Ok(authorizer.request_resource());
    }
    field(&of, &name)?.ok_or(ExecutionError::NoSuchKey(name))
}

fn select_optional(of: Value, name: Arc<String>) -> Result<Value, ExecutionError> {
    Ok(optional(field_or_none(&of, &name)?))
}

fn has(of: Value, name: Arc<String>) -> Result<bool, ExecutionError> {
    Ok(field_or_none(&of, &name)?.is_some())
}

/// An optional value that a function is called with.
fn given(value: &Value) -> Result<&Option<Value>, ExecutionError> {
    let Optional(value) = opaque(value).ok_or(ExecutionError::NoSuchOverload)?;
    Ok(value)
}

pub(super) fn add_to(context: &mut Context<'static>) {
    context.add_function(SELECT, select);
    context.add_function(SELECT_OPTIONAL, select_optional);
    context.add_function(HAS, has);
    context.add_function(
        "hasValue",
        |This(this): This<Value>| -> Result<bool, ExecutionError> { Ok(given(&this)?.is_some()) },
    );
    context.add_function(
        "value",
        |This(this): This<Value>| -> Result<Value, ExecutionError> {
            let missing = || ExecutionError::function_error("value", "optional.none() dereference");
            given(&this)?.clone().ok_or_else(missing)
        },
    );
    context.add_function(
        "orValue",
        |This(this): This<Value>, other: Value| -> Result<Value, ExecutionError> {
            Ok(given(&this)?.clone().unwrap_or(other))
        },
    );
    context.add_function(
        "or",
        |This(this): This<Value>, other: Value| -> Result<Value, ExecutionError> {
            Ok(if given(&this)?.is_some() { this } else { other })
        },
    );
}
