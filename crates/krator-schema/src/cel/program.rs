//! An expression that is ready to be evaluated by `kube-cel`, as far as that is known to agree with the API server.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube_cel::KubeCelExt;
use kube_cel::cel::common::ast::Expr;
use kube_cel::cel::extractors::This;
use kube_cel::cel::{Context, ExecutionError, IdedExpr, Value};
use serde_json::Value as Json;

use crate::Pattern;

use super::dynamic;
use super::parse::Parsed;
use super::rules::Compiled;
use super::schema_types::Declared;
use super::tree::{Literal, Node, NodeKind};
use super::trust::{self, Comparison};

/// An expression that is ready to be evaluated.
#[derive(Debug)]
pub(super) struct Program {
    source: IdedExpr,
    /// Why the API server may evaluate it otherwise.
    distrust: Option<String>,
    /// The lists, maps and objects that it compares as a whole.
    comparisons: Vec<Comparison>,
    takes_nulls: bool,
    /// The patterns that are written in it.
    patterns: Vec<String>,
    size: Size,
}

/// The name in errors that are known to be those of the API server, word by word.
pub(super) const FAILED: &str = "@failed";

/// Why there is no result.
pub(super) enum Failure {
    /// The API server fails as well, and says this.
    Error(String),
    /// The answer of the API server is not known.
    Unknown(String),
}

impl Program {
    /// Makes a program of an expression about values of a schema.
    pub(super) fn new(compiled: Compiled, declared: &Declared) -> Self {
        let Compiled { parsed, checked } = compiled;
        Program {
            distrust: trust::distrust(&parsed.root, &checked, declared),
            comparisons: trust::comparisons(&parsed.root, &checked, declared),
            takes_nulls: trust::takes_nulls(&parsed.root, &checked),
            ..Program::of(*parsed)
        }
    }

    /// Makes a program of an expression about values without a schema, or says why they may be evaluated otherwise by the API
    /// server.
    pub(super) fn dynamic(compiled: Compiled) -> Result<Self, String> {
        let Compiled { mut parsed, checked } = compiled;
        if let Some(why) = dynamic::distrust(&parsed.root, &checked) {
            return Err(why);
        }
        dynamic::rewrite(&mut parsed.source);
        Ok(Program::of(*parsed))
    }

    fn of(parsed: Parsed) -> Self {
        let mut patterns = Vec::new();
        parsed.root.visit(&mut |node| {
            if let NodeKind::Call {
                function, arguments, ..
            } = &node.kind
                && function == "matches"
            {
                patterns.extend(arguments.iter().filter_map(text));
            }
        });
        Program {
            distrust: None,
            comparisons: Vec::new(),
            takes_nulls: true,
            patterns,
            size: Size::of(&parsed.root),
            source: parsed.source,
        }
    }

    /// The depth of evaluation's recursion.
    pub(super) fn depth(&self) -> usize {
        self.size.depth
    }

    /// Whether the answer of the API server is known for these values.
    pub(super) fn is_decidable(&self, value: &Json, old: Option<&Json>) -> bool {
        self.comparisons
            .iter()
            .all(|compared| compared.is_decidable(value, old))
    }

    /// Evaluates the expression. The scope has the values, of which the largest list, map or text has this size.
    pub(super) fn run(&self, scope: &Context<'_>, largest: usize, has_nulls: bool) -> Result<Value, Failure> {
        let unknown = |why: &str| Err(Failure::Unknown(why.to_string()));
        if let Some(why) = &self.distrust {
            return unknown(why);
        }
        if has_nulls && !self.takes_nulls {
            return unknown("a list or a map has an entry that is `null`");
        }
        if self.size.steps(largest) > MOST_STEPS {
            return unknown("the rule may take too long");
        }
        Value::resolve(&self.source, scope).map_err(|error| self.failure(scope, error))
    }

    /// The outcome for an error. A loop of cel-go goes on after an error, and may end without one.
    fn failure(&self, scope: &Context<'_>, error: ExecutionError) -> Failure {
        let first = first_error(&self.source, scope);
        match first {
            Some(ExecutionError::NoSuchKey(key)) => Failure::Error(format!("no such key: {key}")),
            Some(ExecutionError::FunctionError { function, message }) if function == FAILED => {
                Failure::Error(message)
            }
            Some(ExecutionError::IndexOutOfBounds(Value::Int(index))) => {
                Failure::Error(format!("index out of bounds: {index}"))
            }
            _ => Failure::Unknown(error.to_string()),
        }
    }
}

/// The error of an expression that cel-go reports: where both operands of `||` or `&&` fail, that of the first one.
/// `kube-cel` reports that of the second one.
fn first_error(expression: &IdedExpr, scope: &Context<'_>) -> Option<ExecutionError> {
    let error = Value::resolve(expression, scope).err()?;
    let operands: Vec<&IdedExpr> = match &expression.expr {
        Expr::Call(call) if call.func_name == "_?_:_" => {
            let [condition, yes, no] = call.args.as_slice() else {
                return Some(error);
            };
            match Value::resolve(condition, scope) {
                Ok(Value::Bool(true)) => vec![yes],
                Ok(Value::Bool(false)) => vec![no],
                _ => vec![condition],
            }
        }
        Expr::Call(call) => call.target.as_deref().into_iter().chain(&call.args).collect(),
        Expr::Select(select) => vec![&select.operand],
        Expr::List(list) => list.elements.iter().collect(),
        // Errors of its steps may not be errors of the loop.
        Expr::Comprehension(fold) => {
            let of_range = first_error(&fold.iter_range, scope);
            return Some(of_range.unwrap_or(ExecutionError::NoSuchOverload));
        }
        _ => Vec::new(),
    };
    let of_operand = operands
        .into_iter()
        .find_map(|operand| first_error(operand, scope));
    Some(of_operand.unwrap_or(error))
}

/// The largest number of steps of a rule, as far as [`Size::steps`] can tell: nothing else ends a rule that loops within loops.
const MOST_STEPS: u64 = 1_000_000;

/// The bound of the steps of an expression.
#[derive(Debug)]
struct Size {
    nodes: u64,
    depth: usize,
    /// The loops, and the functions whose result may be larger than their operands.
    factors: u32,
    /// The size of the largest list or text that is written in it.
    largest: usize,
}

impl Size {
    fn of(root: &Node) -> Self {
        let mut size = Size {
            nodes: 0,
            depth: depth(root),
            factors: 0,
            largest: 2,
        };
        root.visit(&mut |node| {
            size.nodes += 1;
            match &node.kind {
                NodeKind::Loop(_) => size.factors += 1,
                NodeKind::Call { function, .. }
                    if matches!(function.as_str(), "replace" | "split" | "join") =>
                {
                    size.factors += 1;
                }
                NodeKind::List(elements) => size.largest = size.largest.max(elements.len()),
                NodeKind::Literal(Literal::String(text)) => size.largest = size.largest.max(text.len()),
                _ => {}
            }
        });
        size
    }

    /// At most how many steps the expression takes. Each factor is taken for one that is within all others and goes through
    /// the largest value that there is.
    fn steps(&self, largest: usize) -> u64 {
        let largest = largest.max(self.largest) as u64;
        self.nodes.saturating_mul(largest.saturating_pow(self.factors))
    }
}

/// The text that a node is.
fn text(node: &Node) -> Option<String> {
    match &node.kind {
        NodeKind::Literal(Literal::String(text)) => Some(text.clone()),
        _ => None,
    }
}

fn depth(node: &Node) -> usize {
    1 + node.children().into_iter().map(depth).max().unwrap_or(0)
}

/// The size of the largest list, map or text in a value.
pub(super) fn largest(value: &Json) -> usize {
    match value {
        Json::String(text) => text.len(),
        Json::Array(items) => items.iter().map(largest).max().unwrap_or(0).max(items.len()),
        Json::Object(fields) => fields.values().map(largest).max().unwrap_or(0).max(fields.len()),
        Json::Null | Json::Bool(_) | Json::Number(_) => 0,
    }
}

/// The number of items of the largest list or map in a value.
pub(super) fn most_items(value: &Json) -> usize {
    match value {
        Json::Array(items) => items.iter().map(most_items).max().unwrap_or(0).max(items.len()),
        Json::Object(fields) => fields
            .values()
            .map(most_items)
            .max()
            .unwrap_or(0)
            .max(fields.len()),
        _ => 0,
    }
}

/// The functions of rules. The patterns that they name are read once.
pub(super) fn context<'p>(programs: impl Iterator<Item = &'p Program>) -> Context<'static> {
    let written = programs.flat_map(|program| &program.patterns);
    let patterns: BTreeMap<String, Option<Pattern>> = written
        .map(|pattern| (pattern.clone(), Pattern::new(pattern).ok()))
        .collect();
    let mut context = Context::default().with_all();
    context.add_function("size", size);
    // `kube-cel` matches by the grammar of Rust's expressions.
    context.add_function(
        "matches",
        move |This(this): This<Arc<String>>, pattern: Arc<String>| match patterns.get(pattern.as_str()) {
            Some(known) => matches(known, &this),
            None => matches(&Pattern::new(&pattern).ok(), &this),
        },
    );
    context
}

fn matches(pattern: &Option<Pattern>, text: &str) -> Result<bool, ExecutionError> {
    let matched = pattern.as_ref().and_then(|pattern| pattern.is_match(text));
    matched.ok_or(ExecutionError::NoSuchOverload)
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
