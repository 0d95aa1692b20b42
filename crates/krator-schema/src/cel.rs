//! CEL rules of a schema, `x-kubernetes-validations`: whether the API server accepts them.
//!
//! The crate `krator-cel` compiles and evaluates expressions; here are the types that a schema gives to them, and what the API server
//! makes of all rules of a schema. Where its answer is not known, nothing is reported.

mod costs;
mod evaluate;
mod field_path;
mod place;
mod rules;
mod schema_types;

pub use evaluate::Rules;
pub use krator_cel::{AccessCheck, Decide, admission, escape};

use krator_cel::on_large_stack;
use serde_json::Value as Json;

use crate::{Path, Problem, Schema};

/// A rule that the API server would refuse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CelProblem {
    /// The problem, at the path that the API server reports.
    pub problem: Problem,
    /// Its offset in the expression, in bytes, if that is known.
    pub offset: Option<usize>,
}

/// The highest cost of an expression by the API server's estimate, over all values that it judges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostEstimate {
    /// The expression, or the whole schema for the total of its rules.
    pub path: Path,
    /// The cost, in the units of the API server.
    pub cost: u64,
    /// The most that the API server accepts.
    pub limit: u64,
    /// The parts of the schema without `maxItems`, `maxProperties` or `maxLength` that make it expensive.
    pub unbounded: Vec<Path>,
}

/// The evaluation of one rule for one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleOutcome {
    /// The rule, as a path in the schema.
    pub rule: Path,
    /// The value that it judges, as a path from the root of the object.
    pub value: Path,
    /// Whether it compares with the value before. The API server lets through what has not changed and breaks other rules.
    pub is_transition: bool,
    /// The result.
    pub outcome: Outcome,
}

/// The result of evaluating a rule for a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The value keeps to the rule.
    Holds,
    /// The value breaks the rule; with the message that the API server would give.
    Violated(String),
    /// The API server cannot evaluate the rule for the value, and therefore refuses it; with what it says.
    Failed(String),
    /// The answer of the API server is not known; with the reason.
    Unknown(String),
}

/// Why the API server would refuse rules of a schema: that of a whole object, `openAPIV3Schema`.
///
/// It is to be called with schemas that are correct otherwise; the API server does not look at rules of others.
pub fn check_rules(root: &Schema, root_path: &Path) -> Vec<CelProblem> {
    on_large_stack(|| rules::check_rules(root, root_path), Vec::new())
}

/// The rules of a schema of which it is not known what the API server says, because they cannot be read here.
pub fn unjudged(root: &Schema, root_path: &Path) -> Vec<Path> {
    on_large_stack(|| rules::unjudged(root, root_path), Vec::new())
}

/// The estimated costs of the rules of a schema and, as the last one, their total. Rules with mistakes have no cost.
pub fn costs(root: &Schema, root_path: &Path) -> Vec<CostEstimate> {
    on_large_stack(|| costs::costs(root, root_path), Vec::new())
}

/// Evaluates the rules of a schema for a value of it and, if the value is an update, the value before, as
/// [`Rules::evaluate`] does. For many values, compile the [`Rules`] once.
pub fn evaluate(root: &Schema, root_path: &Path, value: &Json, old: Option<&Json>) -> Vec<RuleOutcome> {
    Rules::compile(root, root_path).evaluate(value, old)
}
