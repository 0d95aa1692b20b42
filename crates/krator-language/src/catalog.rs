//! The rules of the language and of generated crates as data: a name, a severity, a summary and an explanation each.
//!
//! Any room can name a rule without importing the check that reports it. `krator explain` prints the rules.

mod access;
mod advice;
mod code;
mod conventions;
mod drift;
mod edits;
mod effects;
mod graph;
pub mod keys;
mod language;
mod schema;
mod versions;
mod webhooks;

pub use access::*;
pub use advice::*;
pub use code::*;
pub use conventions::*;
pub use drift::*;
pub use edits::*;
pub use effects::*;
pub use graph::*;
pub use language::*;
pub use schema::*;
pub use versions::*;
pub use webhooks::*;

use schemars::JsonSchema;
use serde::Serialize;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing is generated from a description with such a finding.
    Error,
    /// Probably a mistake; `allow` silences it.
    Warning,
    /// Worth knowing; shown only on request.
    Info,
}

impl Severity {
    /// The severity's name in reports and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        }
    }
}

/// A rule that findings refer to.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// The name in kebab case, which `allow` and tools refer to; it never changes.
    pub name: &'static str,
    /// The severity of every finding of the rule.
    pub severity: Severity,
    /// A summary of the rule, in one line.
    pub summary: &'static str,
    /// Why that is a problem and what to do about it, in Markdown, with a bad and a good example.
    pub explanation: &'static str,
}

/// Declares the rules of one family as statics, and `ALL` as the list of them.
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

/// The families whose rules have a check in `crate::rules`.
fn checked_families() -> [&'static [&'static Rule]; 7] {
    [
        schema::ALL,
        graph::ALL,
        effects::ALL,
        access::ALL,
        webhooks::ALL,
        advice::ALL,
        conventions::ALL,
    ]
}

/// Every rule, family by family.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    std::iter::once(language::ALL)
        .chain(checked_families())
        .chain([versions::ALL, drift::ALL, edits::ALL, code::ALL])
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
    checked_families().into_iter().flatten().copied().chain([
        &NAME_COLLISION,
        &CONVERSION_INVALID,
        &VERSION_LACKS_RULE,
    ])
}
