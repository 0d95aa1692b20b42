//! The rules of the language and of generated crates as data: a name, a severity, a summary and an explanation each.
//!
//! Every room above may name a rule without importing the check that reports it. `krator explain` prints them.

mod access;
mod advice;
mod code;
mod drift;
mod edits;
mod effects;
mod graph;
pub mod keys;
mod language;

pub use access::*;
pub use advice::*;
pub use code::*;
pub use drift::*;
pub use edits::*;
pub use effects::*;
pub use graph::*;
pub use language::*;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Nothing is generated from a description with such a finding.
    Error,
    /// Probably a mistake; `allow` silences it.
    Warning,
    /// Worth knowing; hidden unless asked for.
    Info,
}

impl Severity {
    /// The word that people and machines read.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        }
    }
}

/// A rule, as `krator explain` prints it.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// The stable name, in kebab case.
    pub name: &'static str,
    /// The severity of every finding of the rule.
    pub severity: Severity,
    /// One line that completes the sentence "it holds when …".
    pub summary: &'static str,
    /// The long form in Markdown, with a bad and a good example.
    pub explanation: &'static str,
}

/// Declares the rules of one family, and the list of them.
macro_rules! rules {
    ($($severity:ident $id:ident $name:literal: $summary:literal, $explanation:literal;)*) => {$(
        #[doc = $summary]
        pub static $id: $crate::catalog::Rule = $crate::catalog::Rule {
            name: $name,
            severity: $crate::catalog::Severity::$severity,
            summary: $summary,
            explanation: $explanation,
        };
    )*
        pub(in crate::catalog) static ALL: &[&$crate::catalog::Rule] = &[$(&$id),*];
    };
}
use rules;

/// Every rule, family by family.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    [
        language::ALL,
        graph::ALL,
        effects::ALL,
        access::ALL,
        advice::ALL,
        drift::ALL,
        edits::ALL,
        code::ALL,
    ]
    .into_iter()
    .flatten()
    .copied()
}

/// The rule of a name.
pub fn named(name: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.name == name)
}

/// The rules that have a check in `crate::rules`. The others are reported while a description is read or compared, and
/// where a crate is held against it.
pub(crate) fn checked() -> impl Iterator<Item = &'static Rule> {
    [graph::ALL, effects::ALL, access::ALL, advice::ALL]
        .into_iter()
        .flatten()
        .copied()
        .chain([&NAME_COLLISION])
}
