//! Collects the errors of fields.

use crate::builtin::json::{get, int, text};
use crate::builtin::names;
use crate::refusal::FieldError;
use krator_schema::{Path, ProblemKind};
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// The kind of "Not found" errors. `ProblemKind` lacks one; the refusal is right, and its first words differ.
const NOT_FOUND: ProblemKind = ProblemKind::Invalid;

/// Errors of fields, in the order in which they were found.
#[derive(Default)]
pub(super) struct Report {
    errors: Vec<FieldError>,
}

/// Checks one value of a type.
pub(super) type TypeRule = fn(&mut Report, &Path, &Json);

/// A path from the object, such as `spec.template`.
pub(super) fn root(path: &str) -> Path {
    path.split('.')
        .fold(Path::root(), |path, field| path.field(field))
}

impl Report {
    pub fn into_errors(self) -> Vec<FieldError> {
        self.errors
    }

    pub fn push(&mut self, error: FieldError) {
        self.errors.push(error);
    }

    pub fn invalid(&mut self, at: &Path, value: impl Into<Json>, detail: impl Into<String>) {
        self.errors
            .push(FieldError::invalid(at.to_string(), value, detail));
    }

    /// One error for each message.
    pub fn messages(&mut self, at: &Path, value: impl Into<Json>, messages: Vec<String>) {
        let value = value.into();
        for message in messages {
            self.invalid(at, value.clone(), message);
        }
    }

    /// Checks the text at a field, unless it is absent or empty.
    pub fn text(&mut self, at: &Path, value: &Json, field: &str, check: fn(&str) -> Vec<String>) {
        let text = text(value, field);
        if !text.is_empty() {
            self.messages(&at.field(field), text, check(text));
        }
    }

    /// Checks the number at a field, if there is one.
    pub fn range(&mut self, at: &Path, value: &Json, field: &str, least: i64, most: i64) {
        if let Some(number) = int(value, field) {
            self.messages(&at.field(field), number, names::in_range(number, least, most));
        }
    }

    /// Several values cannot be the same. Absent and empty ones are left out.
    pub fn unique<'a>(&mut self, values: impl IntoIterator<Item = (Path, &'a str)>) {
        let mut seen = BTreeSet::new();
        for (at, value) in values {
            if !value.is_empty() && !seen.insert(value) {
                self.duplicate(&at, value);
            }
        }
    }

    pub fn required(&mut self, at: &Path, detail: impl Into<String>) {
        self.errors.push(FieldError::required(at.to_string(), detail));
    }

    pub fn forbidden(&mut self, at: &Path, detail: impl Into<String>) {
        self.errors.push(FieldError::forbidden(at.to_string(), detail));
    }

    pub fn duplicate(&mut self, at: &Path, value: impl Into<Json>) {
        self.errors.push(FieldError::duplicate(at.to_string(), value));
    }

    /// The supported values are printed in the order given.
    pub fn not_supported(&mut self, at: &Path, value: impl Into<Json>, supported: &[&str]) {
        let supported: Vec<String> = supported.iter().map(|value| format!("{value:?}")).collect();
        let detail = format!("supported values: {}", supported.join(", "));
        self.errors.push(FieldError::new(
            at.to_string(),
            ProblemKind::NotSupported,
            Some(value.into()),
            detail,
        ));
    }

    pub fn not_found(&mut self, at: &Path, value: impl Into<Json>) {
        self.errors
            .push(FieldError::new(at.to_string(), NOT_FOUND, Some(value.into()), ""));
    }

    pub fn too_long(&mut self, at: &Path, most: usize) {
        let detail = format!("may not be more than {most} bytes");
        let error = FieldError::new(at.to_string(), ProblemKind::TooLong, None, detail);
        self.errors.push(error);
    }

    /// The value, if there is one, must not be negative.
    pub fn non_negative(&mut self, at: &Path, value: &Json) {
        if let Some(number) = value.as_i64().filter(|number| *number < 0) {
            self.invalid(at, number, "must be greater than or equal to 0");
        }
    }

    /// The value at a path must be the same in both objects.
    pub fn immutable(&mut self, at: &Path, object: &Json, old: &Json) {
        let path = at.to_string();
        let (new, old) = (get(object, &path), get(old, &path));
        if new != old {
            self.invalid(at, new.cloned().unwrap_or_default(), "field is immutable");
        }
    }
}
