//! Expressions about values without a schema, as admission has them: the objects of policies are `dyn`.
//!
//! `kube-cel` selects fields from what has none, and fails on optional fields that are absent. Selections are therefore
//! rewritten to calls of functions that do what cel-go does.

use std::sync::Arc;

use kube_cel::cel::common::ast::{CallExpr, EntryExpr, Expr, LiteralValue};
use kube_cel::cel::extractors::This;
use kube_cel::cel::{Context, ExecutionError, IdedExpr, Value};

use super::authorizer;
use super::check::Checked;
use super::declarations::Declarations;
use super::optional;
use super::tree::{Literal, Node, NodeKind};
use super::trust;
use super::types::Type;

/// The overloads of comparisons that `kube-cel` has for numbers and truth values of any type.
const COMPARISONS: [&str; 4] = ["less_", "less_equals_", "greater_", "greater_equals_"];

/// The parts of an expression that the API server may evaluate otherwise.
///
/// Values are those of JSON, unless the expression makes others itself. Overloads that take others are never meant.
pub(super) fn distrust(root: &Node, checked: &Checked) -> Option<String> {
    let mut why = None;
    root.visit(&mut |node| {
        let of = checked.type_of(node);
        let reason = match &node.kind {
            // It is the first part of a name such as `authorizer.requestResource`.
            NodeKind::Ident(_) if *of == Type::Error => None,
            _ if !is_known(of) => Some(format!("values of the type {of}")),
            NodeKind::Call {
                function, arguments, ..
            } => {
                let overloads = checked.overloads.get(&node.id).map(Vec::as_slice);
                let overloads = overloads.unwrap_or_default();
                let mut meant = overloads.iter().filter(|overload| is_meant(function, overload));
                let is_double = |node: &Node| *checked.type_of(node) == Type::Double;
                let compares_numbers =
                    matches!(function.as_str(), "_==_" | "_!=_" | "@in") && arguments.iter().any(is_double);
                let trusted = !overloads.is_empty() && meant.all(|overload| is_trusted(overload));
                (!trusted || compares_numbers).then(|| format!("`{function}`"))
            }
            NodeKind::Loop(fold) if fold.second_variable.is_some() || fold.is_binding() => {
                Some("a loop of this kind".to_string())
            }
            NodeKind::Message(..) => Some("a message literal".to_string()),
            NodeKind::Map(entries) if !has_plain_keys(entries) => {
                Some("a map literal whose keys are not written out, each once,".to_string())
            }
            NodeKind::List(elements) if elements.iter().any(|(_, optional)| *optional) => {
                Some("optional elements".to_string())
            }
            _ => None,
        };
        if let Some(reason) = reason {
            why.get_or_insert(format!("{reason} may be evaluated otherwise by the API server"));
        }
    });
    why
}

fn has_plain_keys(entries: &[(Node, Node, bool)]) -> bool {
    let mut seen = Vec::new();
    entries.iter().all(|(key, _, optional)| match &key.kind {
        NodeKind::Literal(Literal::String(key)) if !optional && !seen.contains(&key) => {
            seen.push(key);
            true
        }
        _ => false,
    })
}

fn is_known(of: &Type) -> bool {
    match of {
        Type::Bool | Type::Int | Type::Double | Type::String | Type::Null | Type::Dyn | Type::Struct(_) => {
            true
        }
        Type::List(of) => is_known(of),
        Type::Map(key, value) => is_known(key) && is_known(value),
        Type::Opaque(name, _) if name.starts_with(authorizer::TYPES) => true,
        _ => of.unwrap_optional().is_some_and(is_known),
    }
}

/// The conversions to texts that are made here. A number with a fraction has no known one.
const TEXTS: [&str; 4] = [
    "string_to_string",
    "int64_to_string",
    "bool_to_string",
    "double_to_string",
];

fn string(This(this): This<Value>) -> Result<Arc<String>, ExecutionError> {
    match this {
        Value::String(text) => Ok(text),
        Value::Int(number) => Ok(Arc::new(number.to_string())),
        Value::Bool(value) => Ok(Arc::new(value.to_string())),
        _ => Err(ExecutionError::NoSuchOverload),
    }
}

/// Whether values of JSON can be operands of an overload.
fn is_meant(function: &str, overload: &str) -> bool {
    let all = Declarations::get().function(function).unwrap_or_default();
    let found = all.iter().find(|known| known.id == overload);
    found.is_none_or(|found| {
        let of_parameter = |of: &Type| matches!(of, Type::Param(_)) || is_known_or_generic(of);
        found.operands.iter().all(of_parameter)
    })
}

fn is_known_or_generic(of: &Type) -> bool {
    match of {
        Type::Param(_) => true,
        Type::List(of) => is_known_or_generic(of),
        Type::Map(key, value) => is_known_or_generic(key) && is_known_or_generic(value),
        _ => of
            .unwrap_optional()
            .map_or_else(|| is_known(of), is_known_or_generic),
    }
}

fn is_trusted(overload: &str) -> bool {
    trust::is_trusted(overload)
        || optional::OVERLOADS.contains(&overload)
        || TEXTS.contains(&overload)
        || authorizer::OVERLOADS.contains(&overload)
        || COMPARISONS.iter().any(|prefix| overload.starts_with(prefix))
}

/// Makes calls of the selections in an expression.
pub(super) fn rewrite(expression: &mut IdedExpr) {
    match &mut expression.expr {
        Expr::Call(call) => {
            call.target.iter_mut().for_each(|target| rewrite(target));
            call.args.iter_mut().for_each(rewrite);
            if call.func_name == "_?._" {
                call.func_name = optional::SELECT_OPTIONAL.to_string();
            }
        }
        Expr::Comprehension(fold) => {
            for part in [
                &mut fold.iter_range,
                &mut fold.accu_init,
                &mut fold.loop_cond,
                &mut fold.loop_step,
                &mut fold.result,
            ] {
                rewrite(part);
            }
        }
        Expr::List(list) => list.elements.iter_mut().for_each(rewrite),
        Expr::Map(map) => {
            for entry in &mut map.entries {
                if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                    rewrite(&mut entry.key);
                    rewrite(&mut entry.value);
                }
            }
        }
        Expr::Select(select) => {
            rewrite(&mut select.operand);
            let function = if select.test {
                optional::HAS
            } else {
                optional::SELECT
            };
            let field = IdedExpr {
                id: 0,
                expr: Expr::Literal(LiteralValue::String(select.field.as_str().into())),
            };
            let operand = std::mem::take(&mut *select.operand);
            expression.expr = Expr::Call(CallExpr {
                func_name: function.to_string(),
                target: None,
                args: vec![operand, field],
            });
        }
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) | Expr::Struct(_) => {}
    }
}

/// The functions that are evaluated here.
pub(super) fn add_to(context: &mut Context<'static>) {
    context.add_function("string", string);
    optional::add_to(context);
    authorizer::add_to(context);
}
