//! The syntax of expressions: from their text to a tree whose macros are expanded, as cel-go has it.

mod expand;
mod macros;
pub(crate) mod parse;
mod plain;
pub(crate) mod tokens;
pub(crate) mod tree;

/// Something that cel-go refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) detail: String,
    /// The name or operator that the mistake is about, to find it in the text.
    pub(crate) about: Option<String>,
}
