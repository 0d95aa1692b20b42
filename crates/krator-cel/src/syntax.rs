//! The syntax of expressions: from the text to a tree with expanded macros, as in cel-go.

mod expand;
mod macros;
pub(crate) mod parse;
mod plain;
pub(crate) mod tokens;
pub(crate) mod tree;

/// A mistake for which cel-go refuses an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) detail: String,
    /// The name or operator of the mistake, by which it is found in the text.
    pub(crate) about: Option<String>,
}
