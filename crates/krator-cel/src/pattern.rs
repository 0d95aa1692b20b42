//! Regular expressions with the grammar and the meaning of Go's `regexp` package, which the API server uses.
//!
//! Rust's `regex` has the same engine, but another grammar: it has set operations in classes, nested classes and more
//! names of Unicode properties, uses Unicode for `\d` and `\b`, and has other limits. A [`Pattern`] is therefore
//! translated into the subset of Rust's grammar with the same meaning in both.

mod class;
mod scan;
mod translate;

use std::fmt;
use std::sync::OnceLock;

use regex::{Regex, RegexBuilder};

/// The memory limit of a compiled pattern, in bytes. Go has no such limit for valid patterns, so it is far above the
/// needs of a pattern in a schema.
const COMPILED_SIZE: usize = 256 << 20;
/// The nesting limit of the compilation, which is recursive. Go's own limit is 1000 levels.
const NEST_LIMIT: u32 = 1_100;

/// A pattern that the API server accepts.
#[derive(Debug, Clone)]
pub struct Pattern {
    rewritten: String,
    /// Compiled at its first use, because most patterns are only validated.
    regex: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// Parses a pattern like Go's `regexp.Compile`.
    ///
    /// # Errors
    ///
    /// If Go refuses it.
    pub fn new(pattern: &str) -> Result<Self, PatternError> {
        Ok(Pattern {
            rewritten: translate::translate(pattern)?,
            regex: OnceLock::new(),
        })
    }

    /// The pattern in the grammar of Rust's `regex`.
    pub fn rewritten(&self) -> &str {
        &self.rewritten
    }

    /// Whether the pattern matches anywhere in the text, or `None` if the pattern is too large to be compiled.
    pub fn is_match(&self, text: &str) -> Option<bool> {
        self.regex().map(|regex| regex.is_match(text))
    }

    /// The first `most` matches in the text, like Go's `FindAllString`; or `None` if the pattern is too large to be
    /// compiled.
    pub(crate) fn find_all<'t>(&self, text: &'t str, most: usize) -> Option<Vec<&'t str>> {
        let regex = self.regex()?;
        Some(
            regex
                .find_iter(text)
                .take(most)
                .map(|found| found.as_str())
                .collect(),
        )
    }

    fn regex(&self) -> Option<&Regex> {
        let regex = self.regex.get_or_init(|| {
            RegexBuilder::new(&self.rewritten)
                .size_limit(COMPILED_SIZE)
                .nest_limit(NEST_LIMIT)
                .build()
                .ok()
        });
        regex.as_ref()
    }
}

/// The error of a pattern that Go does not accept, with the message of Go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError {
    /// The kind of mistake.
    pub reason: &'static str,
    /// The malformed part of the pattern.
    pub part: String,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error parsing regexp: {}: `{}`", self.reason, self.part)
    }
}

impl std::error::Error for PatternError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Pattern::new(pattern)
            .unwrap_or_else(|error| panic!("{pattern}: {error}"))
            .is_match(text)
            .unwrap_or_else(|| panic!("{pattern} is too large"))
    }

    #[test]
    fn classes_are_those_of_ascii() {
        assert!(!matches(r"^\d$", "٣"));
        assert!(!matches(r"^\w$", "é"));
        assert!(!matches(r"^\s$", "\u{b}"));
        assert!(matches(r"a\b", "aé"));
        assert!(matches(r"(?i)^\w$", "\u{17f}"));
    }

    #[test]
    fn brackets_hold_no_set_operations() {
        assert!(matches("^[a&&b]+$", "&ab"));
        assert!(matches("^[[a]$", "["));
        assert!(matches("^[a~~b]$", "~"));
        assert!(matches(r"^[\-a]$", "-"));
        assert!(matches("^[#-&]$", "$"));
    }

    #[test]
    fn quotations_and_literal_braces() {
        assert!(matches(r"^\Qa.b\E$", "a.b"));
        assert!(!matches(r"^\Qa.b\E$", "axb"));
        assert!(matches("^{a}{,3}$", "{a}{,3}"));
        assert!(matches(r"^a\z", "a"));
        assert!(!matches("^a$", "a\n"));
    }

    #[test]
    fn what_go_refuses() {
        for pattern in [
            "[a--b]",
            "(?R)a",
            r"\p{sc=Greek}",
            r"\p{Alphabetic}",
            "(?P<é>x)",
            "(a{1000}){1000}",
            "a{1001}",
            "a**",
            "(?x)a",
            r"\Z",
            r"\C",
            r"\1",
            r"\u0041",
            "[[:word:",
            "a)",
            "(a",
            "*",
            r"\",
            r"\p{Old_Italic}",
            "(?=a)",
        ] {
            assert!(Pattern::new(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn what_only_go_accepts() {
        for pattern in [
            "(?P<a>x)(?P<a>y)",
            "(?<1>x)",
            "(?U)a*",
            r"\_",
            "[a",
            r"\pN\PL\p{^Lu}",
            r"[\Q]\E",
            "^*",
            "(?i)(?-i)(?s-m:.)",
            r"\x{D800}",
            "a{2}(?i)*",
        ] {
            let accepted = Pattern::new(pattern);
            let go_refuses = ["[a", r"[\Q]\E"].contains(&pattern);
            assert_eq!(accepted.is_err(), go_refuses, "{pattern}");
        }
    }
}
