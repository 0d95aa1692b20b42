//! Amounts of resources: of containers, of claims and in quotas.

use crate::builtin::json::entries;
use crate::builtin::names;
use crate::builtin::report::{Report, TypeRule};
use krator_machine::Amount;
use krator_schema::Path;
use serde_json::Value as Json;

pub(super) const TYPES: &[(&str, TypeRule)] = &[
    ("core.v1.ResourceRequirements", requirements),
    ("core.v1.PersistentVolumeClaimSpec", super::claims::spec),
    ("core.v1.ResourceQuotaSpec", |report, at, spec| {
        for (name, value) in entries(spec, "hard") {
            not_negative(report, &at.field("hard").key(name), value);
        }
    }),
];

fn quantity(value: &Json) -> Option<Amount> {
    Amount::parse(value.as_str()?).ok()
}

fn not_negative(report: &mut Report, at: &Path, value: &Json) {
    if let Some(quantity) = quantity(value).filter(Amount::is_negative) {
        report.invalid(at, quantity.to_string(), "must be greater than or equal to 0");
    }
}

fn requirements(report: &mut Report, at: &Path, resources: &Json) {
    for list in ["limits", "requests"] {
        for (name, value) in entries(resources, list) {
            let at = at.field(list).key(name);
            resource_name(report, &at, name);
            not_negative(report, &at, value);
            if is_extended(name) && quantity(value).is_some_and(|quantity| !quantity.is_whole()) {
                report.invalid(&at, value.clone(), "must be an integer");
            }
        }
    }
    for (name, value) in entries(resources, "requests") {
        let can_overcommit = !is_extended(name) && !is_huge_page(name);
        let Some(request) = quantity(value) else { continue };
        let limit = &resources["limits"][name];
        let detail = match (quantity(limit), limit.as_str()) {
            (Some(limit), Some(text)) if !can_overcommit && request != limit => {
                format!("must be equal to {name} limit of {text}")
            }
            (Some(limit), Some(text)) if can_overcommit && request > limit => {
                format!("must be less than or equal to {name} limit of {text}")
            }
            (None, _) if !can_overcommit => {
                let detail = "Limit must be set for non overcommitable resources";
                report.required(&at.field("limits"), detail);
                continue;
            }
            _ => continue,
        };
        report.invalid(&at.field("requests"), request.to_string(), detail);
    }
}

/// A resource that containers can have.
fn resource_name(report: &mut Report, at: &Path, name: &str) {
    report.messages(at, name, names::qualified(name));
    let of_containers = matches!(name, "cpu" | "memory" | "ephemeral-storage") || is_huge_page(name);
    if !name.contains('/') && !of_containers {
        report.invalid(at, name, "must be a standard resource for containers");
    }
}

fn is_huge_page(name: &str) -> bool {
    name.starts_with("hugepages-")
}

fn is_extended(name: &str) -> bool {
    name.contains('/') && !name.contains("kubernetes.io/")
}
