//! Evaluation of rules by `kube-cel`, as far as it is known to agree with the API server.

use kube_cel::KubeCelExt;
use kube_cel::cel::extractors::This;
use kube_cel::cel::{Context, ExecutionError, Value};
use serde_json::Value as Json;
use std::sync::Arc;

use crate::{Path, Pattern, Rule, Schema};

use super::check::Checked;
use super::place::Place;
use super::rules::{self, Compilation, Compiled};
use super::schema_types::Declared;
use super::tree::{Kind, Literal, Node};
use super::types::Type;
use super::values;
use super::{Outcome, RuleOutcome};

/// The functions that `kube-cel` evaluates as the API server does, by the names of their overloads. Others, such as
/// those of quantities, IP addresses, times and optional values, differ in some cases.
const TRUSTED: [&str; 65] = [
    "add_int64",
    "add_double",
    "add_string",
    "add_list",
    "subtract_int64",
    "subtract_double",
    "multiply_int64",
    "multiply_double",
    "divide_int64",
    "divide_double",
    "modulo_int64",
    "negate_int64",
    "negate_double",
    "logical_and",
    "logical_or",
    "logical_not",
    "conditional",
    "not_strictly_false",
    "equals",
    "not_equals",
    "less_int64",
    "less_double",
    "less_string",
    "less_equals_int64",
    "less_equals_double",
    "less_equals_string",
    "greater_int64",
    "greater_double",
    "greater_string",
    "greater_equals_int64",
    "greater_equals_double",
    "greater_equals_string",
    "in_list",
    "in_map",
    "index_list",
    "index_map",
    "size_list",
    "size_map",
    "size_string",
    "list_size",
    "map_size",
    "string_size",
    "contains_string",
    "starts_with_string",
    "ends_with_string",
    "matches_string",
    "matches",
    "string_lower_ascii",
    "string_upper_ascii",
    "list_join",
    "list_join_string",
    "string_split_string",
    "string_replace_string_string",
    "string_char_at_int",
    "string_index_of_string",
    "list_int_is_sorted_bool",
    "list_string_is_sorted_bool",
    "list_int_sum_int",
    "list_int_max_int",
    "list_int_min_int",
    "list_sets_contains_list",
    "list_sets_intersects_list",
    "string_to_string",
    "int64_to_string",
    "int64_to_int64",
];

/// Evaluates all rules of a schema.
pub(super) fn evaluate(
    root: &Schema,
    root_path: &Path,
    value: &Json,
    old: Option<&Json>,
) -> Vec<RuleOutcome> {
    let mut outcomes = Vec::new();
    walk(
        &Place::root(root, root_path),
        value,
        old,
        &Path::root(),
        &mut outcomes,
    );
    outcomes
}

fn walk(place: &Place<'_>, value: &Json, old: Option<&Json>, at: &Path, outcomes: &mut Vec<RuleOutcome>) {
    if value.is_null() {
        return;
    }
    for (index, rule) in place.rules().iter().enumerate() {
        if let Some(outcome) = judge(place, rule, value, old) {
            outcomes.push(RuleOutcome {
                rule: place.rule_path(index).field("rule"),
                value: at.clone(),
                outcome,
            });
        }
    }
    for (child, below) in place.parts() {
        for (at, value, old) in below.values(place.schema, at, value, old) {
            walk(&child, value, old, &at, outcomes);
        }
    }
}

/// What a rule says of a value; `None` if it does not apply.
fn judge(place: &Place<'_>, rule: &Rule, value: &Json, old: Option<&Json>) -> Option<Outcome> {
    if rule.rule.trim().is_empty() {
        return None;
    }
    let declared = place.declared()?;
    let optional = rule.optional_old_self == Some(true);
    let environment = rules::environment(&declared, optional);
    let unknown = |why: &str| Some(Outcome::Unknown(why.to_string()));
    let compiled = match rules::compile(&rule.rule, &environment, &Type::Bool) {
        Compilation::Good(compiled) => compiled,
        Compilation::Refused(_) => return unknown("the rule itself is wrong"),
        Compilation::Unknown => return unknown("the rule cannot be read here"),
    };
    if compiled.uses_old_self() {
        if optional {
            return unknown("the rule uses an optional `oldSelf`");
        }
        old?;
    }
    Some(match run(&compiled, &declared, value, old) {
        Ok(Value::Bool(true)) => Outcome::Holds,
        Ok(Value::Bool(false)) => {
            let message = rule.message_expression.as_deref();
            let found = message.and_then(|text| match rules::compile(text, &environment, &Type::String) {
                Compilation::Good(compiled) => run(&compiled, &declared, value, old).ok(),
                _ => None,
            });
            let otherwise = || match rule.message.as_deref().map(str::trim) {
                Some(message) if !message.is_empty() => message.to_string(),
                _ => format!("failed rule: {}", rule.rule.trim()),
            };
            Outcome::Violated(match found {
                Some(Value::String(message)) if !message.trim().is_empty() => message.trim().to_string(),
                _ => otherwise(),
            })
        }
        Ok(_) => Outcome::Unknown("the rule did not evaluate to a bool".to_string()),
        Err(why) => Outcome::Unknown(why),
    })
}

fn run(compiled: &Compiled, declared: &Declared, value: &Json, old: Option<&Json>) -> Result<Value, String> {
    if let Some(why) = distrust(&compiled.parsed.root, &compiled.checked) {
        return Err(why);
    }
    if steps(&compiled.parsed.root, [Some(value), old]) > MOST_STEPS {
        return Err("the rule may take too long".to_string());
    }
    let mut context = Context::default().with_all();
    context.add_function("size", size);
    context.add_function("matches", matches);
    context.add_variable_from_value("self", values::convert(value, declared)?);
    if let Some(old) = old {
        context.add_variable_from_value("oldSelf", values::convert(old, declared)?);
    }
    Value::resolve(&compiled.parsed.source, &context).map_err(|error| error.to_string())
}

/// How many steps a rule may take, as far as [`steps`] can tell: nothing else ends a rule that loops within loops.
const MOST_STEPS: u64 = 1_000_000;

/// At most how many steps an expression takes. Each loop, and each function whose result may be larger than its operands,
/// is taken for one that is within all others and goes through the largest value that there is.
fn steps(root: &Node, values: [Option<&Json>; 2]) -> u64 {
    let (mut nodes, mut factors) = (0_u64, 0_u32);
    let mut largest = values
        .into_iter()
        .flatten()
        .map(largest)
        .max()
        .unwrap_or(0)
        .max(2);
    root.visit(&mut |node| {
        nodes += 1;
        match &node.kind {
            Kind::Loop(_) => factors += 1,
            Kind::Call { function, .. } if matches!(function.as_str(), "replace" | "split" | "join") => {
                factors += 1
            }
            Kind::List(elements) => largest = largest.max(elements.len()),
            Kind::Literal(Literal::String(text)) => largest = largest.max(text.len()),
            _ => {}
        }
    });
    nodes.saturating_mul((largest as u64).saturating_pow(factors))
}

/// The size of the largest list, map or text in a value.
fn largest(value: &Json) -> usize {
    match value {
        Json::String(text) => text.len(),
        Json::Array(items) => items.iter().map(largest).max().unwrap_or(0).max(items.len()),
        Json::Object(fields) => fields.values().map(largest).max().unwrap_or(0).max(fields.len()),
        Json::Null | Json::Bool(_) | Json::Number(_) => 0,
    }
}

/// `kube-cel` counts the bytes of a text.
fn size(This(this): This<Value>) -> Result<i64, ExecutionError> {
    let size = match &this {
        Value::List(list) => list.len(),
        Value::Map(map) => map.map.len(),
        Value::String(text) => text.chars().count(),
        _ => return Err(ExecutionError::NoSuchOverload),
    };
    Ok(size as i64)
}

/// `kube-cel` matches by the grammar of Rust's expressions.
fn matches(This(this): This<Arc<String>>, pattern: Arc<String>) -> Result<bool, ExecutionError> {
    let matched = Pattern::new(&pattern)
        .ok()
        .and_then(|pattern| pattern.is_match(&this));
    matched.ok_or(ExecutionError::NoSuchOverload)
}

/// What an expression uses that may be evaluated otherwise by the API server.
fn distrust(root: &Node, checked: &Checked) -> Option<String> {
    let mut why = None;
    root.visit(&mut |node| {
        let of = checked.type_of(node);
        let reason = match &node.kind {
            _ if is_strange(of) => Some(format!("values of the type {of}")),
            Kind::Call {
                function, arguments, ..
            } => {
                let overloads = checked
                    .overloads
                    .get(&node.id)
                    .map(Vec::as_slice)
                    .unwrap_or_default();
                let trusted = overloads.iter().all(|overload| TRUSTED.contains(overload));
                // Lists of a schema may be sets or maps, whose equality and sum are their own.
                let of_containers = matches!(function.as_str(), "_==_" | "_!=_" | "_+_" | "@in")
                    && arguments
                        .iter()
                        .take(1)
                        .any(|operand| is_container(checked.type_of(operand)))
                    && !adds_to_result(arguments);
                (!trusted || overloads.is_empty() || of_containers).then(|| format!("`{function}`"))
            }
            Kind::Select { operand, .. } if matches!(checked.type_of(operand), Type::Dyn) => {
                Some("fields of values without a type".to_string())
            }
            Kind::Loop(fold) => {
                let over_map = matches!(checked.type_of(&fold.range), Type::Map(..));
                let ordered = matches!(of, Type::List(_));
                let strange = fold.second_variable.is_some() || fold.is_binding() || over_map && ordered;
                strange.then(|| "a loop of this kind".to_string())
            }
            Kind::Map(_) | Kind::Message(..) => Some("a map or message literal".to_string()),
            Kind::List(elements) if elements.iter().any(|(_, optional)| *optional) => {
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

/// Whether a sum is that of `map` or `filter`, whose list is no list of the schema.
fn adds_to_result(operands: &[Node]) -> bool {
    matches!(operands.first().map(|first| &first.kind), Some(Kind::Ident(name)) if name == "@result")
}

fn is_container(of: &Type) -> bool {
    matches!(of, Type::List(_) | Type::Map(..) | Type::Struct(_))
}

fn is_strange(of: &Type) -> bool {
    match of {
        Type::Bool | Type::Int | Type::Double | Type::String | Type::Struct(_) | Type::Dyn => false,
        Type::List(of) => is_strange(of),
        Type::Map(key, value) => is_strange(key) || is_strange(value),
        _ => true,
    }
}
