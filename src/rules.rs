//! The rules of the language: what can be wrong, how bad it is, and why. One file a rule or a close family.

pub mod syntax;

use crate::finding::Rule;

/// Every rule, in the order of LANGUAGE.md's table.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    syntax::ALL.iter().copied()
}

/// A rule by its name.
pub fn named(name: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.name == name)
}
