//! Paths of fields, as in columns, `by` and `poll`.

use std::fmt;

/// The path of a value in an object, checked against the schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldPath {
    /// Its start.
    pub root: PathRoot,
    /// The steps below; empty only for a label.
    pub segments: Vec<Segment>,
}

/// The start of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathRoot {
    /// `.spec`.
    Spec,
    /// `.status`.
    Status,
    /// `.metadata`, which only printer columns may use.
    Metadata,
    /// `.metadata.labels`, the label of this key.
    Label(String),
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// A field, or a key of a map.
    Field(String),
    /// `[*]`: every item of a list.
    Each,
    /// `[?(@.type=="Ready")]`: the items whose field has this text.
    Where {
        /// The field.
        field: String,
        /// The text.
        value: String,
    },
}

impl FieldPath {
    /// Parses a path. The error is the reason why it is invalid. Dots in keys are escaped (`karpenter\.sh/nodepool`).
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        const FORM: &str = "a path begins with `.spec.`, `.status.` or `.metadata.`";
        Self::of_segments(split(text)?).ok_or(FORM)
    }

    /// The path with these steps, the first of which is its start.
    pub(super) fn of_segments(segments: Vec<Segment>) -> Option<Self> {
        let mut steps = segments.into_iter();
        let Some(Segment::Field(root)) = steps.next() else {
            return None;
        };
        let rest: Vec<Segment> = steps.collect();
        let root = match (root.as_str(), rest.as_slice()) {
            (_, []) => return None,
            ("spec", _) => PathRoot::Spec,
            ("status", _) => PathRoot::Status,
            ("metadata", [Segment::Field(labels), Segment::Field(key)]) if labels == "labels" => {
                return Some(FieldPath {
                    root: PathRoot::Label(key.clone()),
                    segments: Vec::new(),
                });
            }
            ("metadata", _) => PathRoot::Metadata,
            _ => return None,
        };
        Some(FieldPath { root, segments: rest })
    }

    /// Whether every change of the other field is also a change of this one.
    pub(crate) fn covers(&self, other: &FieldPath) -> bool {
        self.root == other.root && other.segments.starts_with(&self.segments)
    }

    /// Whether the path can lead to several values.
    pub(crate) fn is_plural(&self) -> bool {
        self.segments
            .iter()
            .any(|segment| !matches!(segment, Segment::Field(_)))
    }
}

fn split(text: &str) -> Result<Vec<Segment>, &'static str> {
    const FILTER: &str = "a filter is `[?(@.field==\"text\")]`";
    let mut segments = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("[*]") {
            segments.push(Segment::Each);
            rest = after;
        } else if let Some(after) = rest.strip_prefix("[?(@.") {
            let (filter, after) = after.split_once(")]").ok_or(FILTER)?;
            let (field, value) = filter.split_once("==").ok_or(FILTER)?;
            let (field, value) = (field.trim(), value.trim());
            let mut quoted = ['"', '\''].into_iter();
            let value = quoted.find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
            let value = value.ok_or(FILTER)?;
            if !is_plain(field) || value.contains(['"', '\'', '\\']) || value.chars().any(char::is_control) {
                return Err(FILTER);
            }
            segments.push(Segment::Where {
                field: field.to_owned(),
                value: value.to_owned(),
            });
            rest = after;
        } else if let Some(after) = rest.strip_prefix('.') {
            let mut name = String::new();
            let mut chars = after.char_indices();
            rest = "";
            while let Some((at, c)) = chars.next() {
                match c {
                    '\\' => match chars.next() {
                        Some((_, escaped)) => name.push(escaped),
                        None => return Err("a path cannot end in `\\`"),
                    },
                    '.' | '[' => {
                        rest = &after[at..];
                        break;
                    }
                    _ => name.push(c),
                }
            }
            if !is_plain(&name) {
                return Err(
                    "a step of a path is the name of a field, with letters, digits, `-`, `_`, `.` and `/`",
                );
            }
            segments.push(Segment::Field(name));
        } else if rest.starts_with('[') {
            return Err(
                "use `[*]` for all items of a list, and `[?(@.field==\"text\")]` for the items with this value of a \
                 field",
            );
        } else {
            return Err("a path begins with `.spec.`, `.status.` or `.metadata.`");
        }
    }
    Ok(segments)
}

/// Whether the text consists of characters that label keys, annotation keys and names of fields may have.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 316
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c))
}

/// Formats the path as a JSON path of Kubernetes, with escaped keys.
impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.root {
            PathRoot::Spec => f.write_str(".spec")?,
            PathRoot::Status => f.write_str(".status")?,
            PathRoot::Metadata => f.write_str(".metadata")?,
            PathRoot::Label(key) => write!(f, ".metadata.labels.{}", key.replace('.', "\\."))?,
        }
        for segment in &self.segments {
            match segment {
                Segment::Field(name) => write!(f, ".{}", name.replace('.', "\\."))?,
                Segment::Each => f.write_str("[*]")?,
                Segment::Where { field, value } => write!(f, "[?(@.{field}==\"{value}\")]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_read_and_write() {
        for text in [
            ".spec.tls.secretName",
            ".status.conditions[?(@.type==\"Ready\")].message",
            ".spec.volumes[*].name",
            ".metadata.labels.karpenter\\.sh/nodepool",
            ".metadata.creationTimestamp",
        ] {
            assert_eq!(
                FieldPath::parse(text).map(|path| path.to_string()).as_deref(),
                Ok(text)
            );
        }
        for text in [
            "",
            "spec.a",
            ".spec",
            ".kind.a",
            ".spec.",
            ".spec..a",
            ".spec.a b",
            ".spec.a[0]",
            ".spec.a\\",
            ".spec.`x`",
        ] {
            assert!(FieldPath::parse(text).is_err(), "{text:?}");
        }
    }
}
