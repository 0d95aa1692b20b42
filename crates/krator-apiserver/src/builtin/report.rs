//! Collects the errors of fields.

use crate::builtin::json::{get, list};
use crate::refusal::FieldError;
use krator_schema::{Path, ProblemKind};
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// Errors of fields, in the order in which they were found.
#[derive(Default)]
pub(super) struct Report {
    errors: Vec<FieldError>,
}

/// Validates one value of a type.
pub(super) type TypeRule = fn(&mut Report, &Path, &Json);

/// A path from the root of the object, such as `spec.template`.
pub(super) fn root(path: &str) -> Path {
    below(&Path::root(), path)
}

/// A path relative to another one.
pub(super) fn below(at: &Path, path: &str) -> Path {
    path.split('.').fold(at.clone(), |at, field| at.field(field))
}

/// The items of a list in a field, with their paths.
pub(super) fn items<'a>(
    at: &Path,
    value: &'a Json,
    field: &str,
) -> impl Iterator<Item = (Path, &'a Json)> + use<'a> {
    let at = at.field(field);
    let items = list(value, field).iter().enumerate();
    items.map(move |(index, item)| (at.index(index), item))
}

impl Report {
    pub fn into_errors(self) -> Vec<FieldError> {
        self.errors
    }

    pub fn push(&mut self, error: FieldError) {
        self.errors.push(error);
    }

    pub fn invalid(&mut self, at: &Path, value: impl Into<Json>, detail: impl Into<String>) {
        self.push(FieldError::invalid(at.to_string(), value, detail));
    }

    /// Reports an invalid value unless a condition is true.
    pub fn unless(&mut self, holds: bool, at: &Path, value: impl Into<Json>, detail: &str) {
        if !holds {
            self.invalid(at, value, detail);
        }
    }

    /// Reports one error for each message.
    pub fn messages(&mut self, at: &Path, value: &str, messages: Vec<String>) {
        for message in messages {
            self.invalid(at, value, message);
        }
    }

    /// Reports a number that is out of a range.
    pub fn within(&mut self, at: &Path, number: i64, least: i64, most: i64) {
        let detail = format!("must be between {least} and {most}");
        self.unless((least..=most).contains(&number), at, number, &detail);
    }

    /// Reports duplicate values. Empty ones are ignored.
    pub fn unique<'a>(&mut self, values: impl IntoIterator<Item = (Path, &'a str)>) {
        let mut seen = BTreeSet::new();
        for (at, value) in values {
            if !value.is_empty() && !seen.insert(value) {
                self.duplicate(&at, value);
            }
        }
    }

    pub fn required(&mut self, at: &Path, detail: &str) {
        self.push(FieldError::required(at.to_string(), detail));
    }

    pub fn forbidden(&mut self, at: &Path, detail: &str) {
        self.push(FieldError::forbidden(at.to_string(), detail));
    }

    pub fn duplicate(&mut self, at: &Path, value: impl Into<Json>) {
        self.push(FieldError::duplicate(at.to_string(), value));
    }

    /// Reports a text that is not one of the supported ones.
    pub fn one_of(&mut self, at: &Path, value: &str, supported: &[&str]) {
        if !supported.contains(&value) {
            self.push(FieldError::not_supported(at.to_string(), value, supported));
        }
    }

    pub fn too_long(&mut self, at: &Path, most: usize) {
        let detail = format!("may not be more than {most} bytes");
        self.push(FieldError::new(
            at.to_string(),
            ProblemKind::TooLong,
            None,
            detail,
        ));
    }

    /// Reports a negative number.
    pub fn non_negative(&mut self, at: &Path, value: &Json) {
        if let Some(number) = value.as_i64().filter(|number| *number < 0) {
            self.invalid(at, number, "must not be negative");
        }
    }

    /// Reports a value at a path that differs between both objects.
    pub fn immutable(&mut self, at: &Path, object: &Json, old: &Json) {
        let path = at.to_string();
        let (new, old) = (get(object, &path), get(old, &path));
        self.unless(
            new == old,
            at,
            new.cloned().unwrap_or_default(),
            "field is immutable",
        );
    }
}
