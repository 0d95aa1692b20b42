//! CEL rules of a schema, `x-kubernetes-validations`: whether the API server accepts them.
//!
//! `kube-cel` parses expressions. The type checker here follows cel-go, with the functions that the API server declares.
//! Where it cannot be told what the API server says, nothing is reported.

#![allow(dead_code, reason = "the estimate of costs, which is not here yet, needs it")]

mod check;
mod declarations;
mod field_path;
mod literals;
mod macros;
mod parse;
mod plain;
mod rules;
mod schema_types;
mod times;
mod tokens;
mod tree;
mod types;

use crate::{Path, Problem, Schema};

/// A rule that the API server would refuse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CelProblem {
    /// What is wrong, at the path that the API server reports.
    pub problem: Problem,
    /// Where it is in the expression, in bytes, if that is known.
    pub offset: Option<usize>,
}

/// Why the API server would refuse rules of a schema: that of a whole object, `openAPIV3Schema`.
///
/// It is to be called with schemas that are correct otherwise; the API server does not look at rules of others.
pub fn check_rules(root: &Schema, root_path: &Path) -> Vec<CelProblem> {
    rules::check_rules(root, root_path)
}
