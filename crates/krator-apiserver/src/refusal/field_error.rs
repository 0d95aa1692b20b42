//! Errors of single fields, after `pkg/util/validation/field` of `k8s.io/apimachinery`.

use krator_schema::{Problem, ProblemKind};
use serde_json::Value as Json;
use std::fmt;

/// An error in one field of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldError {
    /// The path of the field, such as `spec.template.spec.containers[0].name`.
    pub field: String,
    /// The kind of error.
    pub kind: ProblemKind,
    /// The value, if the message shows it.
    pub value: Option<Json>,
    /// The message; may be empty.
    pub detail: String,
}

impl FieldError {
    /// The value is malformed.
    pub fn invalid(field: impl Into<String>, value: impl Into<Json>, detail: impl Into<String>) -> Self {
        Self::new(field, ProblemKind::Invalid, Some(value.into()), detail)
    }

    /// A required value is missing.
    pub fn required(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(field, ProblemKind::Required, None, detail)
    }

    /// The value is not permitted here.
    pub fn forbidden(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(field, ProblemKind::Forbidden, None, detail)
    }

    /// A value that must be unique occurs twice.
    pub fn duplicate(field: impl Into<String>, value: impl Into<Json>) -> Self {
        Self::new(field, ProblemKind::Duplicate, Some(value.into()), "")
    }

    /// The value is not one of `supported`.
    pub fn not_supported(field: impl Into<String>, value: impl Into<Json>, supported: &[&str]) -> Self {
        let mut supported: Vec<String> = supported.iter().map(|value| format!("{value:?}")).collect();
        supported.sort();
        let detail = format!("supported values: {}", supported.join(", "));
        Self::new(field, ProblemKind::NotSupported, Some(value.into()), detail)
    }

    /// An error of any kind.
    pub fn new(
        field: impl Into<String>,
        kind: ProblemKind,
        value: Option<Json>,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            field: field.into(),
            kind,
            value,
            detail: detail.into(),
        }
    }

    /// The message without the field.
    pub(super) fn body(&self) -> String {
        let (_, words) = cause_type(self.kind);
        let shows_value = !matches!(
            self.kind,
            ProblemKind::Required | ProblemKind::Forbidden | ProblemKind::TooLong | ProblemKind::Internal
        );
        let mut text = words.to_owned();
        if let (true, Some(value)) = (shows_value, &self.value) {
            text.push_str(": ");
            match value {
                Json::String(value) => text.push_str(&go_quoted(value)),
                value => text.push_str(&value.to_string()),
            }
        }
        if !self.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&self.detail);
        }
        text
    }
}

/// A text as Go quotes it.
fn go_quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            control if control < ' ' => quoted.push_str(&format!("\\x{:02x}", u32::from(control))),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

impl From<Problem> for FieldError {
    fn from(problem: Problem) -> Self {
        Self::new(problem.path.to_string(), problem.kind, None, problem.detail)
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.body())
    }
}

/// The machine-readable type of a cause, and the start of its message.
pub(super) fn cause_type(kind: ProblemKind) -> (&'static str, &'static str) {
    match kind {
        ProblemKind::Required => ("FieldValueRequired", "Required value"),
        ProblemKind::Duplicate => ("FieldValueDuplicate", "Duplicate value"),
        ProblemKind::Invalid => ("FieldValueInvalid", "Invalid value"),
        ProblemKind::NotSupported => ("FieldValueNotSupported", "Unsupported value"),
        ProblemKind::Forbidden => ("FieldValueForbidden", "Forbidden"),
        ProblemKind::TooLong => ("FieldValueTooLong", "Too long"),
        ProblemKind::TooMany => ("FieldValueTooMany", "Too many"),
        ProblemKind::TypeInvalid => ("FieldValueTypeInvalid", "Invalid value"),
        ProblemKind::Internal => ("InternalError", "Internal error"),
    }
}
