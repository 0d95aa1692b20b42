//! Roles and bindings, after `pkg/apis/rbac/validation`.

use crate::builtin::json::{get, list, text};
use crate::builtin::names::{self, NameRule};
use crate::builtin::report::{Report, TypeRule, root};
use krator_schema::Path;
use serde_json::Value as Json;

pub(super) const TYPES: &[(&str, TypeRule)] = &[
    ("rbac.v1.PolicyRule", rule),
    ("rbac.v1.RoleRef", |report, at, reference| {
        only(report, at, reference, "apiGroup", &[GROUP]);
        report.text(at, reference, "name", |name| {
            NameRule::PathSegment.check(name, false)
        });
    }),
    ("rbac.v1.Subject", subject),
];

const GROUP: &str = "rbac.authorization.k8s.io";

fn only(report: &mut Report, at: &Path, value: &Json, field: &str, supported: &[&str]) {
    let found = text(value, field);
    if !supported.contains(&found) {
        report.not_supported(&at.field(field), found, supported);
    }
}

fn rule(report: &mut Report, at: &Path, rule: &Json) {
    let mut required = vec![("verbs", "verbs must contain at least one value")];
    if list(rule, "nonResourceURLs").is_empty() {
        required.push(("apiGroups", "resource rules must supply at least one api group"));
        required.push(("resources", "resource rules must supply at least one resource"));
    }
    for (field, detail) in required {
        if list(rule, field).is_empty() {
            report.required(&at.field(field), detail);
        }
    }
}

pub(in super::super) fn role_binding(report: &mut Report, binding: &Json) {
    only(
        report,
        &root("roleRef"),
        &binding["roleRef"],
        "kind",
        &["Role", "ClusterRole"],
    );
}

pub(in super::super) fn cluster_role_binding(report: &mut Report, binding: &Json) {
    only(
        report,
        &root("roleRef"),
        &binding["roleRef"],
        "kind",
        &["ClusterRole"],
    );
    for (index, subject) in list(binding, "subjects").iter().enumerate() {
        if text(subject, "kind") == "ServiceAccount" && text(subject, "namespace").is_empty() {
            report.required(&root("subjects").index(index).field("namespace"), "");
        }
    }
}

fn subject(report: &mut Report, at: &Path, subject: &Json) {
    match text(subject, "kind") {
        "ServiceAccount" => {
            report.text(at, subject, "name", names::subdomain);
            if get(subject, "apiGroup").is_some() {
                only(report, at, subject, "apiGroup", &[""]);
            }
        }
        "User" | "Group" => only(report, at, subject, "apiGroup", &[GROUP]),
        _ => only(report, at, subject, "kind", &["ServiceAccount", "User", "Group"]),
    }
}

/// A binding that exists always binds the same role.
pub(in super::super) fn same_role(report: &mut Report, binding: &Json, old: &Json) {
    if get(binding, "roleRef") != get(old, "roleRef") {
        report.invalid(
            &root("roleRef"),
            binding["roleRef"].clone(),
            "cannot change roleRef",
        );
    }
}
