//! The parts of a rule (a name, a severity, a summary and an explanation), and the rules that have no check of their
//! own: their findings arise while a description is read or compared. `krator explain` prints them with those of
//! `crate::rules`.

mod code;
mod edits;
pub mod former_names;
pub mod keys;
mod language;
mod regen;
mod versions;

pub use code::*;
pub use edits::*;
pub use language::*;
pub use regen::*;
pub use versions::*;

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
    /// The reason why the finding is a problem and the remedy, in Markdown, with a bad and a good example.
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

/// The rules of this module, whose findings arise while a description is read or compared, or while a crate is compared
/// with it. All other rules are declared with their checks in `crate::rules`, which lists all.
pub(crate) fn without_check() -> impl Iterator<Item = &'static Rule> {
    let families = [language::ALL, versions::ALL, regen::ALL, edits::ALL, code::ALL];
    families.into_iter().flatten().copied()
}
