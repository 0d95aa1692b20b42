//! The API server's treatment of CEL rules in a schema, `x-kubernetes-validations`.
//!
//! The crate `krator-cel` compiles and evaluates expressions. This module derives their types from a schema, and
//! applies the API server's checks to all rules of a schema. If the result of the API server is unknown, no problem is
//! reported.

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
    /// The byte offset in the expression, if it is known.
    pub offset: Option<usize>,
}

/// The highest cost of an expression by the estimate of the API server, over all values to which it applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostEstimate {
    /// The path of the expression, or of the whole schema for the total of its rules.
    pub path: Path,
    /// The cost, in the units of the API server.
    pub cost: u64,
    /// The highest cost that the API server accepts.
    pub limit: u64,
    /// The parts of the schema whose missing `maxItems`, `maxProperties` or `maxLength` makes the expression expensive.
    pub unbounded: Vec<Path>,
}

/// The evaluation of one rule for one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleOutcome {
    /// The path of the rule in the schema.
    pub rule: Path,
    /// The path of the value from the root of the object.
    pub value: Path,
    /// Whether the rule is a transition rule, which compares with the old value. Ratcheting of the API server ignores
    /// violations of other rules by unchanged values.
    pub is_transition: bool,
    /// The result.
    pub outcome: Outcome,
}

/// The result of evaluating a rule for a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The value satisfies the rule.
    Holds,
    /// The value violates the rule; with the message of the API server.
    Violated(String),
    /// The API server cannot evaluate the rule, and therefore refuses the value; with its message.
    Failed(String),
    /// The result of the API server is unknown; with the reason.
    Unknown(String),
}

/// The reasons why the API server would refuse the rules of a schema. The schema is that of a whole object,
/// `openAPIV3Schema`.
///
/// The schema must be valid otherwise, because the API server does not check rules of invalid schemas.
pub fn check_rules(root: &Schema, root_path: &Path) -> Vec<CelProblem> {
    on_large_stack(|| rules::check_rules(root, root_path), Vec::new())
}

/// The rules of a schema that this crate cannot compile, so that the result of the API server is unknown.
pub fn unjudged(root: &Schema, root_path: &Path) -> Vec<Path> {
    on_large_stack(|| rules::unjudged(root, root_path), Vec::new())
}

/// The estimated costs of the rules of a schema, and finally their total. Invalid rules have no cost.
pub fn costs(root: &Schema, root_path: &Path) -> Vec<CostEstimate> {
    on_large_stack(|| costs::costs(root, root_path), Vec::new())
}

/// Evaluates the rules of a schema for a value and, in an update, the old value, like [`Rules::evaluate`]. For many
/// values, compile the [`Rules`] once.
pub fn evaluate(root: &Schema, root_path: &Path, value: &Json, old: Option<&Json>) -> Vec<RuleOutcome> {
    Rules::compile(root, root_path).evaluate(value, old)
}
