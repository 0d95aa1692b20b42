//! The syntax tree of a description, in which every node has its place in the text.
//!
//! This module checks only the YAML itself, and rejects the parts of YAML that krator does not accept: duplicate keys,
//! merge keys, tags, and excessive nesting and aliases. The model gives the keys their meaning.

mod files;
mod parse;

pub use files::{Files, LARGEST_SCHEMA, named_files};
pub use files::{PATH_EXPECTED, is_schema_path};
pub use parse::LARGEST_FILE;
pub use parse::{parse, source_of};

use crate::finding::Span;

/// A value of the YAML tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The shape and content of the value.
    pub kind: NodeKind,
    /// The span from its first to its last character. An empty value has the place where it would be written.
    pub span: Span,
}

/// The three shapes of YAML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeKind {
    /// A string, number, boolean or null; the type is decided where the value is used.
    Scalar(Scalar),
    /// A list.
    Sequence(Vec<Node>),
    /// Unique keys with values, in the order of the text.
    Mapping(Mapping),
}

/// The text of a scalar, and how it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar {
    /// The text, without quotes.
    pub text: String,
    /// Whether it was written without quotes; only then can it be a number, a boolean or null.
    pub plain: bool,
}

/// The entries of a mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// The keys with their values.
    pub entries: Vec<Entry>,
    /// Whether it was written in `{}`.
    pub flow: bool,
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The key's text.
    pub key: String,
    /// The place of the key.
    pub key_span: Span,
    /// Its value.
    pub value: Node,
}

impl Node {
    /// The scalar, if the value is one.
    pub fn scalar(&self) -> Option<&Scalar> {
        match &self.kind {
            NodeKind::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// Whether the value is `null` or missing, as after a key without a value.
    pub fn is_null(&self) -> bool {
        self.scalar().is_some_and(Scalar::is_null)
    }

    /// The type of the value, in words.
    pub fn describe(&self) -> &'static str {
        match &self.kind {
            NodeKind::Scalar(scalar) if scalar.is_null() => "nothing",
            NodeKind::Scalar(scalar) if scalar.boolean().is_some() => "a boolean",
            NodeKind::Scalar(scalar) if scalar.number().is_some() => "a number",
            NodeKind::Scalar(_) => "a string",
            NodeKind::Sequence(_) => "a list",
            NodeKind::Mapping(_) => "a mapping",
        }
    }
}

impl Scalar {
    /// Whether the scalar is null in the core schema of YAML 1.2.
    pub fn is_null(&self) -> bool {
        self.plain && matches!(self.text.as_str(), "" | "~" | "null" | "Null" | "NULL")
    }

    /// The boolean value of the scalar in the core schema of YAML 1.2.
    pub fn boolean(&self) -> Option<bool> {
        match self.text.as_str() {
            "true" | "True" | "TRUE" if self.plain => Some(true),
            "false" | "False" | "FALSE" if self.plain => Some(false),
            _ => None,
        }
    }

    /// The integer value of the scalar in the core schema of YAML 1.2.
    pub fn integer(&self) -> Option<i64> {
        if !self.plain {
            return None;
        }
        if let Some(octal) = self.text.strip_prefix("0o") {
            return i64::from_str_radix(octal, 8).ok();
        }
        if let Some(hex) = self.text.strip_prefix("0x") {
            return i64::from_str_radix(hex, 16).ok();
        }
        self.text.parse().ok()
    }

    /// The finite number that the scalar has as its value, including integers.
    pub fn number(&self) -> Option<f64> {
        if let Some(integer) = self.integer() {
            return Some(integer as f64);
        }
        // Rust would also parse `inf`, `nan` and `infinity`, which are strings here.
        let looks_numeric = self
            .text
            .starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
            && self
                .text
                .chars()
                .all(|c| c.is_ascii_digit() || "+-.eE".contains(c));
        if !self.plain || !looks_numeric {
            return None;
        }
        self.text.parse().ok().filter(|number: &f64| number.is_finite())
    }
}
