//! Roles and bindings, after `pkg/apis/rbac/validation`.

use super::labels;
use super::report::{Report, root};
use crate::builtin::json::{get, list, text};
use crate::builtin::names::{self, NameRule};
use krator_schema::Path;
use serde_json::Value as Json;

const GROUP: &str = "rbac.authorization.k8s.io";

pub(super) fn role(report: &mut Report, object: &Json, namespaced: bool) {
    for (index, item) in list(object, "rules").iter().enumerate() {
        rule(report, &root("rules").index(index), item, namespaced);
    }
    if !namespaced && get(object, "aggregationRule").is_some() {
        let at = root("aggregationRule.clusterRoleSelectors");
        let selectors = list(object, "aggregationRule.clusterRoleSelectors");
        if selectors.is_empty() {
            report.required(
                &at,
                "at least one clusterRoleSelector required if aggregationRule is non-nil",
            );
        }
        for (index, selector) in selectors.iter().enumerate() {
            labels::selector(report, &at.index(index), selector);
        }
    }
}

fn rule(report: &mut Report, at: &Path, rule: &Json, namespaced: bool) {
    let is_empty = |field: &str| list(rule, field).is_empty();
    if is_empty("verbs") {
        report.required(&at.field("verbs"), "verbs must contain at least one value");
    }
    if !is_empty("nonResourceURLs") {
        let at = at.field("nonResourceURLs");
        let urls = &rule["nonResourceURLs"];
        if namespaced {
            report.invalid(
                &at,
                urls.clone(),
                "namespaced rules cannot apply to non-resource URLs",
            );
        }
        if !is_empty("apiGroups") || !is_empty("resources") || !is_empty("resourceNames") {
            report.invalid(
                &at,
                urls.clone(),
                "rules cannot apply to both regular resources and non-resource URLs",
            );
        }
        return;
    }
    if is_empty("apiGroups") {
        report.required(
            &at.field("apiGroups"),
            "resource rules must supply at least one api group",
        );
    }
    if is_empty("resources") {
        report.required(
            &at.field("resources"),
            "resource rules must supply at least one resource",
        );
    }
}

pub(super) fn binding(report: &mut Report, object: &Json, namespaced: bool) {
    let at = root("roleRef");
    let group = text(object, "roleRef.apiGroup");
    if group != GROUP {
        report.not_supported(&at.field("apiGroup"), group, &[GROUP]);
    }
    let kinds: &[&str] = if namespaced {
        &["Role", "ClusterRole"]
    } else {
        &["ClusterRole"]
    };
    let kind = text(object, "roleRef.kind");
    if !kinds.contains(&kind) {
        report.not_supported(&at.field("kind"), kind, kinds);
    }
    match text(object, "roleRef.name") {
        "" => report.required(&at.field("name"), ""),
        name => report.messages(&at.field("name"), name, NameRule::PathSegment.check(name, false)),
    }
    for (index, item) in list(object, "subjects").iter().enumerate() {
        subject(report, &root("subjects").index(index), item, namespaced);
    }
}

fn subject(report: &mut Report, at: &Path, subject: &Json, namespaced: bool) {
    let (name, group) = (text(subject, "name"), text(subject, "apiGroup"));
    if name.is_empty() {
        report.required(&at.field("name"), "");
    }
    match text(subject, "kind") {
        "ServiceAccount" => {
            if !name.is_empty() {
                report.messages(&at.field("name"), name, names::subdomain(name));
            }
            if !group.is_empty() {
                report.not_supported(&at.field("apiGroup"), group, &[""]);
            }
            if !namespaced && text(subject, "namespace").is_empty() {
                report.required(&at.field("namespace"), "");
            }
        }
        "User" | "Group" => {
            if group != GROUP {
                report.not_supported(&at.field("apiGroup"), group, &[GROUP]);
            }
        }
        kind => report.not_supported(&at.field("kind"), kind, &["ServiceAccount", "User", "Group"]),
    }
}
