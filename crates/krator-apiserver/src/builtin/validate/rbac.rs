//! Roles and bindings, after `pkg/apis/rbac/validation`.

use crate::builtin::json::{get, list, text};
use crate::builtin::names;
use crate::builtin::report::{Report, TypeRule, items, root};
use krator_schema::Path;
use serde_json::Value as Json;

pub(super) const TYPES: &[(&str, TypeRule)] = &[
    ("rbac.v1.PolicyRule", |report, at, rule| {
        for field in ["apiGroups", "resources"] {
            if list(rule, "nonResourceURLs").is_empty() && list(rule, field).is_empty() {
                report.required(
                    &at.field(field),
                    "a rule is about resources or about nonResourceURLs",
                );
            }
        }
    }),
    ("rbac.v1.RoleRef", |report, at, reference| {
        report.one_of(&at.field("apiGroup"), text(reference, "apiGroup"), GROUP);
    }),
    ("rbac.v1.Subject", subject),
];

const GROUP: &[&str] = &["rbac.authorization.k8s.io"];

pub(in super::super) fn role_binding(report: &mut Report, binding: &Json) {
    let kind = text(binding, "roleRef.kind");
    report.one_of(&root("roleRef.kind"), kind, &["Role", "ClusterRole"]);
}

pub(in super::super) fn cluster_role_binding(report: &mut Report, binding: &Json) {
    report.one_of(
        &root("roleRef.kind"),
        text(binding, "roleRef.kind"),
        &["ClusterRole"],
    );
    for (at, subject) in items(&Path::root(), binding, "subjects") {
        if text(subject, "kind") == "ServiceAccount" && text(subject, "namespace").is_empty() {
            report.required(&at.field("namespace"), "");
        }
    }
}

fn subject(report: &mut Report, at: &Path, subject: &Json) {
    let group_at = at.field("apiGroup");
    match text(subject, "kind") {
        "ServiceAccount" => {
            let name = text(subject, "name");
            if !name.is_empty() {
                report.messages(&at.field("name"), name, names::subdomain(name));
            }
            report.one_of(&group_at, text(subject, "apiGroup"), &[""]);
        }
        "User" | "Group" => report.one_of(&group_at, text(subject, "apiGroup"), GROUP),
        kind => report.one_of(&at.field("kind"), kind, &["ServiceAccount", "User", "Group"]),
    }
}

/// The role of an existing binding is immutable.
pub(in super::super) fn same_role(report: &mut Report, binding: &Json, old: &Json) {
    let is_same = get(binding, "roleRef") == get(old, "roleRef");
    report.unless(
        is_same,
        &root("roleRef"),
        binding["roleRef"].clone(),
        "field is immutable",
    );
}
