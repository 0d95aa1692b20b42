//! The common part of the functions of all libraries.

use std::collections::BTreeMap;

use super::value::Value;
use super::{Failure, Fallible, fail};
use crate::Pattern;

/// The patterns that are written in an expression, each read once.
pub(super) type Patterns = BTreeMap<String, Pattern>;

/// A call of a function.
pub(super) struct Call<'c> {
    pub(super) function: &'c str,
    /// The overload, if the types of the operands leave only one.
    pub(super) overload: Option<&'static str>,
    /// The patterns that are written in the expression.
    pub(super) patterns: &'c Patterns,
}

/// The result of a function, or `None` if it has no overload for such operands.
pub(super) type CallResult<'a> = Option<Fallible<Value<'a>>>;

/// The largest text that a function makes, in bytes. The API server stops far below, by the cost of making it.
pub(super) const LONGEST: usize = 64 << 20;

impl Call<'_> {
    /// Does something with a pattern.
    pub(super) fn with_pattern<T>(
        &self,
        text: &str,
        matched: impl FnOnce(&Pattern) -> Option<T>,
    ) -> Fallible<T> {
        let large = || Failure::Unknown("the pattern is too large".to_owned());
        if let Some(pattern) = self.patterns.get(text) {
            return matched(pattern).ok_or_else(large);
        }
        match Pattern::new(text) {
            Ok(pattern) => matched(&pattern).ok_or_else(large),
            Err(why) if self.function == "matches" => fail(why.to_string()),
            Err(why) => fail(format!("Illegal regex: {why}")),
        }
    }
}
