//! The validation of objects, after `pkg/apis/*/validation` of Kubernetes: the same fields and kinds of errors, with
//! our own messages. [`shape`] validates required fields, enumerations and signs of numbers by the schemas, for all
//! kinds, and [`table`] single fields. Beyond that, the rules that matter to authors of operators are implemented; the
//! README lists what a real server refuses and this one accepts.

pub(super) mod batch;
pub(super) mod claims;
pub(super) mod config;
mod containers;
mod labels;
pub(super) mod networking;
pub(super) mod pods;
pub(super) mod rbac;
mod resources;
pub(super) mod services;
mod shape;
mod table;
mod volumes;
pub(super) mod workloads;

pub(super) use services::cluster_ips;

use super::report::{Report, root};
use super::rules::Rules;
use crate::refusal::FieldError;
use crate::request::Subresource;
use serde_json::Value as Json;

/// The errors of the labels of an object.
pub(super) fn label_errors(of_object: &Json) -> Vec<FieldError> {
    let mut report = Report::default();
    labels::labels(&mut report, &root("metadata.labels"), of_object);
    report.into_errors()
}

/// The errors of a new object.
pub(super) fn create(type_name: &str, rules: &Rules, object: &Json) -> Vec<FieldError> {
    let mut report = Report::default();
    shape::object(&mut report, type_name, &(rules.completed)(object));
    (rules.check)(&mut report, object);
    (rules.check_create)(&mut report, object);
    report.into_errors()
}

/// The errors of a changed object.
pub(super) fn update(
    type_name: &str,
    rules: &Rules,
    object: &Json,
    old: &Json,
    subresource: Subresource,
) -> Vec<FieldError> {
    let mut report = Report::default();
    match subresource {
        Subresource::Status => {
            shape::status(&mut report, object);
            (rules.check_status)(&mut report, object, old);
        }
        _ => {
            shape::object(&mut report, type_name, &(rules.completed)(object));
            (rules.check)(&mut report, object);
            (rules.check_update)(&mut report, object, old);
            for path in rules.immutable {
                report.immutable(&root(path), object, old);
            }
        }
    }
    report.into_errors()
}
