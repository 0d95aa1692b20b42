//! The problems for which the API server would refuse a schema or a value.

use std::fmt;

use crate::Path;

/// The kinds of errors that the API server distinguishes, from `k8s.io/apimachinery/pkg/util/validation/field`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProblemKind {
    /// A required value is missing.
    Required,
    /// A value that must be unique occurs twice.
    Duplicate,
    /// The value is malformed.
    Invalid,
    /// The value is not one of the allowed values.
    NotSupported,
    /// The value is not permitted here.
    Forbidden,
    /// The text is too long.
    TooLong,
    /// The list or map has too many entries.
    TooMany,
    /// The value has the wrong type.
    TypeInvalid,
    /// The server cannot process the value.
    Internal,
}

/// A problem for which the API server would refuse a schema or a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The path of the schema or value.
    pub path: Path,
    /// The kind of error that the API server reports.
    pub kind: ProblemKind,
    /// The message, as a clause that begins with a small letter and has no full stop at its end.
    pub detail: String,
}

impl Problem {
    /// A problem at a path.
    pub fn new(path: impl Into<Path>, kind: ProblemKind, detail: impl Into<String>) -> Self {
        Problem {
            path: path.into(),
            kind,
            detail: detail.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.detail)
    }
}
