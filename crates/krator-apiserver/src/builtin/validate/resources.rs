//! Amounts of resources in containers, claims and quotas.

use crate::builtin::json::entries;
use crate::builtin::names;
use crate::builtin::report::{Report, TypeRule};
use krator_machine::Amount;
use krator_schema::Path;
use serde_json::Value as Json;

pub(super) const TYPES: &[(&str, TypeRule)] = &[
    ("core.v1.ResourceRequirements", requirements),
    ("core.v1.PersistentVolumeClaimSpec", super::claims::spec),
];

fn quantity(value: &Json) -> Option<Amount> {
    Amount::parse(value.as_str()?).ok()
}

/// Refuses negative amounts.
pub(super) fn not_negative(report: &mut Report, at: &Path, amounts: &Json) {
    for (name, value) in amounts.as_object().into_iter().flatten() {
        let is_right = !quantity(value).is_some_and(|amount| amount.is_negative());
        report.unless(is_right, &at.key(name), value.clone(), "must not be negative");
    }
}

fn requirements(report: &mut Report, at: &Path, resources: &Json) {
    for list in ["limits", "requests"] {
        not_negative(report, &at.field(list), &resources[list]);
        for (name, value) in entries(resources, list) {
            let at = at.field(list).key(name);
            report.messages(&at, name, names::qualified(name));
            let of_containers = ["cpu", "memory", "ephemeral-storage"].contains(&name.as_str());
            let is_known = name.contains('/') || of_containers || is_huge_page(name);
            report.unless(
                is_known,
                &at,
                name.as_str(),
                "must be a standard resource for containers",
            );
            let is_whole = quantity(value).is_none_or(|amount| amount.is_whole());
            report.unless(
                is_whole || !is_extended(name),
                &at,
                value.clone(),
                "must be an integer",
            );
        }
    }
    for (name, value) in entries(resources, "requests") {
        let can_overcommit = !is_extended(name) && !is_huge_page(name);
        let Some(request) = quantity(value) else { continue };
        let is_right = match quantity(&resources["limits"][name]) {
            Some(limit) if can_overcommit => request <= limit,
            Some(limit) => request == limit,
            None if can_overcommit => true,
            None => {
                report.required(&at.field("limits"), "this resource needs a limit");
                continue;
            }
        };
        let detail = match can_overcommit {
            true => format!("{name} must not be more than its limit"),
            false => format!("{name} must be equal to its limit"),
        };
        report.unless(is_right, &at.field("requests"), value.clone(), &detail);
    }
}

fn is_huge_page(name: &str) -> bool {
    name.starts_with("hugepages-")
}

fn is_extended(name: &str) -> bool {
    name.contains('/') && !name.contains("kubernetes.io/")
}
