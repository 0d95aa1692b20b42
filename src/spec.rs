//! A description as written: a tree in which every node knows its place in the text.
//!
//! Only YAML itself is judged here, and what this language refuses of it (duplicate and merge keys, tags, nesting
//! and aliases without measure). What the keys mean is the model's matter.

mod parse;

pub use parse::{LARGEST_FILE, parse, source_of};

use crate::finding::Span;

/// A value of the YAML tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// From its first to its last character; for what is empty, where it would stand.
    pub span: Span,
}

/// The three shapes of YAML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeKind {
    /// A text; what it means is decided where it is used.
    Scalar(Scalar),
    /// A list.
    Sequence(Vec<Node>),
    /// Keys, unique, in the order of the text.
    Mapping(Mapping),
}

/// A text and how it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar {
    /// The text, without quotes.
    pub text: String,
    /// Written without quotes: only then could it be a number, a boolean or nothing.
    pub plain: bool,
}

/// The entries of a mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// Keys with their values.
    pub entries: Vec<Entry>,
    /// Written in `{}`.
    pub flow: bool,
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The key's text.
    pub key: String,
    /// Where the key stands.
    pub key_span: Span,
    /// Its value.
    pub value: Node,
}

impl Node {
    /// The scalar, if it is one.
    pub fn scalar(&self) -> Option<&Scalar> {
        match &self.kind {
            NodeKind::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// Whether nothing stands here, as behind a key without value, or `null`.
    pub fn is_null(&self) -> bool {
        self.scalar().is_some_and(Scalar::is_null)
    }

    /// What it is, in words.
    pub fn describe(&self) -> &'static str {
        match &self.kind {
            NodeKind::Scalar(scalar) if scalar.is_null() => "nothing",
            NodeKind::Scalar(scalar) if scalar.boolean().is_some() => "a boolean",
            NodeKind::Scalar(scalar) if scalar.number().is_some() => "a number",
            NodeKind::Scalar(_) => "a text",
            NodeKind::Sequence(_) => "a list",
            NodeKind::Mapping(_) => "a mapping",
        }
    }
}

impl Scalar {
    /// Nothing, by YAML 1.2's core schema.
    pub fn is_null(&self) -> bool {
        self.plain && matches!(self.text.as_str(), "" | "~" | "null" | "Null" | "NULL")
    }

    /// A boolean, by YAML 1.2's core schema.
    pub fn boolean(&self) -> Option<bool> {
        match self.text.as_str() {
            "true" | "True" | "TRUE" if self.plain => Some(true),
            "false" | "False" | "FALSE" if self.plain => Some(false),
            _ => None,
        }
    }

    /// A whole number, by YAML 1.2's core schema.
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

    /// A finite number.
    pub fn number(&self) -> Option<f64> {
        if let Some(integer) = self.integer() {
            return Some(integer as f64);
        }
        // Rust reads `inf`, `nan` and `infinity` too, which are texts here.
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
