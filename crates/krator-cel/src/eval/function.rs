//! Types that the functions of all libraries share.

use std::collections::BTreeMap;

use super::value::Value;
use super::{Failure, Fallible, fail};
use crate::Pattern;

/// The literal patterns of an expression, each parsed once.
pub(super) type Patterns = BTreeMap<String, Pattern>;

/// A call of a function.
pub(super) struct Call<'c> {
    pub(super) function: &'c str,
    /// The overload, if only one matches the types of the operands.
    pub(super) overload: Option<&'static str>,
    /// The literal patterns of the expression.
    pub(super) patterns: &'c Patterns,
}

/// The result of a function, or `None` if it has no overload for such operands.
pub(super) type CallResult<'a> = Option<Fallible<Value<'a>>>;

/// The largest text that a function creates, in bytes. The cost limit of the API server is reached far below.
pub(super) const LONGEST: usize = 64 << 20;

impl Call<'_> {
    /// Calls a function with a pattern.
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
