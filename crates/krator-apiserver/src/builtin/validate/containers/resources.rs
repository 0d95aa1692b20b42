//! Requests and limits of resources.

use super::super::report::Report;
use super::quantities;
use crate::builtin::names;
use crate::builtin::quantity::Quantity;
use krator_schema::Path;
use serde_json::Value as Json;

/// Resources of quotas, whose names have no prefix either.
const STANDARD: [&str; 20] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "storage",
    "requests.storage",
    "services.nodeports",
    "services.loadbalancers",
];

pub(in super::super) fn requirements(report: &mut Report, at: &Path, resources: &Json) {
    let (limits, requests) = (quantities(resources, "limits"), quantities(resources, "requests"));
    let limits_at = at.field("limits");
    let requests_at = at.field("requests");
    for (name, text) in &limits {
        quantity(report, &limits_at.key(*name), name, text);
    }
    for (name, text) in &requests {
        quantity(report, &requests_at.key(*name), name, text);
        let limit = limits
            .iter()
            .find(|(limit, _)| limit == name)
            .map(|(_, text)| *text);
        let Ok(request) = Quantity::parse(text) else {
            continue;
        };
        match limit.map(|text| (text, Quantity::parse(text))) {
            Some((text, Ok(limit))) => {
                if request != limit && !can_overcommit(name) {
                    let detail = format!("must be equal to {name} limit of {text}");
                    report.invalid(&requests_at, request.to_string(), detail);
                } else if request > limit {
                    let detail = format!("must be less than or equal to {name} limit of {text}");
                    report.invalid(&requests_at, request.to_string(), detail);
                }
            }
            _ if !can_overcommit(name) => {
                report.required(&limits_at, "Limit must be set for non overcommitable resources");
            }
            _ => {}
        }
    }
    let has = |test: fn(&str) -> bool| limits.iter().chain(&requests).any(|(name, _)| test(name));
    if has(is_huge_page) && !has(|name| matches!(name, "cpu" | "memory")) {
        report.forbidden(at, "HugePages require cpu or memory");
    }
}

fn quantity(report: &mut Report, at: &Path, name: &str, text: &str) {
    resource_name(report, at, name);
    value(report, at, name, text);
}

/// The quantity of a resource must not be negative, and whole if the resource is.
pub(in super::super) fn value(report: &mut Report, at: &Path, name: &str, text: &str) {
    let Ok(quantity) = Quantity::parse(text) else {
        return;
    };
    if quantity.is_negative() {
        report.invalid(at, quantity.to_string(), "must be greater than or equal to 0");
    }
    if name.contains('/') && !is_native(name) && !quantity.is_whole() {
        report.invalid(at, quantity.to_string(), "must be an integer");
    }
}

/// A resource that containers can have.
pub(in super::super) fn resource_name(report: &mut Report, at: &Path, name: &str) {
    let messages = names::qualified(name);
    let is_qualified = messages.is_empty();
    report.messages(at, name, messages);
    if !name.contains('/') {
        if is_qualified && !STANDARD.contains(&name) && !is_huge_page(name) {
            report.invalid(at, name, "must be a standard resource type or fully qualified");
        }
        if !matches!(name, "cpu" | "memory" | "ephemeral-storage") && !is_huge_page(name) {
            report.invalid(at, name, "must be a standard resource for containers");
        }
    } else if !is_native(name) && !is_extended(name) {
        report.invalid(at, name, "doesn't follow extended resource name standard");
    }
}

fn is_huge_page(name: &str) -> bool {
    name.starts_with("hugepages-")
}

fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

fn is_extended(name: &str) -> bool {
    !name.starts_with("requests.") && names::qualified(&format!("requests.{name}")).is_empty()
}

fn can_overcommit(name: &str) -> bool {
    is_native(name) && !is_huge_page(name)
}
