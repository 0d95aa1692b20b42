//! The types that a schema declares for CEL, as `apiserver/pkg/cel/types.go` has them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use regex::Regex;

use super::check::Environment;
use super::tokens::is_reserved;
use super::types::Type;

/// The type of a part of a schema, with how large values may be.
#[derive(Debug, Clone)]
pub(super) struct Declared {
    pub(super) shape: Shape,
    /// The largest number of elements or bytes of a value.
    pub(super) max_elements: i64,
    /// The size of the smallest value as JSON, in bytes.
    pub(super) min_size: i64,
    /// Whether the schema says how large values may be, as far as that matters for its type.
    pub(super) bounded: bool,
}

/// A field of an object.
#[derive(Debug, Clone)]
pub(super) struct Field {
    /// Its name in the schema.
    pub(super) name: String,
    pub(super) declared: Declared,
}

#[derive(Debug, Clone)]
pub(super) enum Shape {
    Simple(Type),
    List(Box<Declared>, ListKind),
    Map(Box<Declared>),
    Object(Object),
}

/// How the lists of a schema are compared and added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ListKind {
    Atomic,
    Set,
    /// With the names of the keys.
    Map(Vec<String>),
}

/// The fields of an object.
#[derive(Debug, Clone)]
pub(super) struct Object {
    /// Those that expressions can use, by their names as CEL writes them.
    pub(super) fields: BTreeMap<String, Field>,
    /// The names of all of them in the schema; `None` if the schema has no properties.
    pub(super) properties: Option<BTreeSet<String>>,
}

/// The name of a field as CEL writes it, if it can: after `apiserver/pkg/cel/escaping.go`.
pub fn escape(name: &str) -> Option<String> {
    if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    if is_reserved(name) {
        return Some(format!("__{name}__"));
    }
    let mut escaped = String::new();
    let mut rest = name;
    while let Some(next) = rest.chars().next() {
        let (taken, text) = match next {
            '_' if rest.starts_with("__") => (2, "__underscores__"),
            '.' => (1, "__dot__"),
            '-' => (1, "__dash__"),
            '/' => (1, "__slash__"),
            '_' | 'a'..='z' | 'A'..='Z' | '0'..='9' => (1, &rest[..1]),
            _ => return None,
        };
        escaped.push_str(text);
        rest = &rest[taken..];
    }
    Some(escaped)
}

/// The name of a field that CEL writes in this way, if it is one, after `Unescape` there.
fn unescape(written: &str) -> Option<Cow<'_, str>> {
    static SEQUENCE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("__[^_]+__").ok());
    let Some(first) = SEQUENCE.as_ref()?.find(written) else {
        return Some(written.into());
    };
    if first.as_str() == written && is_reserved(&written[2..written.len() - 2]) {
        return Some(written[2..written.len() - 2].into());
    }
    let (mut name, mut end) = (String::new(), 0);
    for sequence in SEQUENCE.as_ref()?.find_iter(written) {
        name.push_str(&written[end..sequence.start()]);
        name.push_str(match sequence.as_str() {
            "__underscores__" => "__",
            "__dot__" => ".",
            "__dash__" => "-",
            "__slash__" => "/",
            _ => return None,
        });
        end = sequence.end();
    }
    name.push_str(&written[end..]);
    Some(name.into())
}

impl Object {
    /// The name of a field in the schema, for the one that CEL writes; `None` if it is the name of none.
    pub(super) fn stored_name<'n>(&self, written: &'n str) -> Option<Cow<'n, str>> {
        match self.properties {
            Some(_) => unescape(written),
            None => Some(written.into()),
        }
    }

    /// The name of a field as CEL writes it.
    pub(super) fn written_name(&self, stored: &str) -> String {
        escape(stored).unwrap_or_else(|| stored.to_owned())
    }

    /// Whether the schema has a field of this name.
    pub(super) fn knows(&self, stored: &str) -> bool {
        self.properties
            .as_ref()
            .is_some_and(|names| names.contains(stored))
    }

    /// The type of a field; `None` if the schema has no such field, or gives it no type that CEL has.
    pub(super) fn declared(&self, stored: &str) -> Option<&Declared> {
        Some(&self.fields.get(&escape(stored)?)?.declared)
    }
}

impl Declared {
    /// The type as CEL knows it; the fields of objects are declared in the environment.
    pub(super) fn cel_type(&self, name: &str, environment: &mut Environment) -> Type {
        match &self.shape {
            Shape::Simple(of) => of.clone(),
            Shape::List(of, _) => Type::list(of.cel_type(&format!("{name}.@idx"), environment)),
            Shape::Map(of) => Type::map(Type::String, of.cel_type(&format!("{name}.@elem"), environment)),
            Shape::Object(object) => {
                let mut types = BTreeMap::new();
                for (field, declared) in &object.fields {
                    types.insert(
                        field.clone(),
                        declared
                            .declared
                            .cel_type(&format!("{name}.{field}"), environment),
                    );
                }
                let name: Arc<str> = name.into();
                environment.objects.insert(name.clone(), types);
                Type::Struct(name)
            }
        }
    }
}
