//! PersistentVolumeClaims, after `ValidatePersistentVolumeClaimSpec` in `pkg/apis/core/validation`.

use super::containers::resource_value;
use super::labels;
use super::report::{Report, root};
use crate::builtin::json::{entry, get, list, set_entry, set_or_remove, text, texts};
use crate::builtin::names;
use crate::builtin::quantity::Quantity;
use krator_schema::Path;
use serde_json::Value as Json;

const MODES: [&str; 4] = [
    "ReadOnlyMany",
    "ReadWriteMany",
    "ReadWriteOnce",
    "ReadWriteOncePod",
];

pub(super) fn spec(report: &mut Report, at: &Path, spec: &Json) {
    let modes = texts(spec, "accessModes");
    let modes_at = at.field("accessModes");
    if modes.is_empty() {
        report.required(&modes_at, "at least 1 access mode is required");
    }
    labels::selector(report, &at.field("selector"), &spec["selector"]);
    access_modes(report, &modes_at, spec);
    let storage_at = at.field("resources").key("storage");
    match entry(spec, "resources.requests", "storage").and_then(Json::as_str) {
        None => report.required(&storage_at, ""),
        Some(size) => match Quantity::parse(size) {
            Ok(quantity) if quantity.is_negative() || quantity.is_zero() => {
                report.invalid(&storage_at, size, "must be greater than zero");
            }
            _ => resource_value(report, &storage_at, "storage", size),
        },
    }
    for field in ["storageClassName", "volumeAttributesClassName"] {
        let name = text(spec, field);
        if !name.is_empty() {
            report.messages(&at.field(field), name, names::subdomain(name));
        }
    }
    if let Some(mode) = get(spec, "volumeMode").and_then(Json::as_str)
        && !["Block", "Filesystem"].contains(&mode)
    {
        report.not_supported(&at.field("volumeMode"), mode, &["Block", "Filesystem"]);
    }
    for field in ["dataSource", "dataSourceRef"] {
        if let Some(source) = get(spec, field) {
            data_source(report, &at.field(field), source);
        }
    }
}

/// Which modes there are, and which go together.
pub(super) fn access_modes(report: &mut Report, modes_at: &Path, spec: &Json) {
    let modes = texts(spec, "accessModes");
    for mode in modes.iter().filter(|mode| !MODES.contains(mode)) {
        report.not_supported(modes_at, *mode, &MODES);
    }
    let other = modes
        .iter()
        .any(|mode| MODES.contains(mode) && *mode != "ReadWriteOncePod");
    if other && modes.contains(&"ReadWriteOncePod") {
        report.forbidden(modes_at, "may not use ReadWriteOncePod with other access modes");
    }
}

fn data_source(report: &mut Report, at: &Path, source: &Json) {
    for field in ["name", "kind"] {
        if text(source, field).is_empty() {
            report.required(&at.field(field), "");
        }
    }
    let (group, kind) = (text(source, "apiGroup"), text(source, "kind"));
    if group.is_empty() && kind != "PersistentVolumeClaim" {
        report.invalid(
            at,
            kind,
            "must be 'PersistentVolumeClaim' when referencing the default apiGroup",
        );
    }
    if !group.is_empty() {
        report.messages(&at.field("apiGroup"), group, names::subdomain(group));
    }
}

/// A claim that exists can only grow, once it is bound.
pub(super) fn update(report: &mut Report, claim: &Json, old: &Json) {
    spec(report, &root("spec"), &claim["spec"]);
    let mut new_spec = claim["spec"].clone();
    let mut old_spec = old["spec"].clone();
    if text(&old_spec, "volumeName").is_empty() {
        set_or_remove(
            &mut old_spec,
            "volumeName",
            get(&new_spec, "volumeName").cloned().as_ref(),
        );
    }
    // Claims from before a default class was set can get it later.
    if get(&old_spec, "storageClassName").is_none() && list(old, "metadata.annotations").is_empty() {
        set_or_remove(&mut new_spec, "storageClassName", None);
    }
    if text(claim, "status.phase") == "Bound" {
        if let Some(size) = entry(&old_spec, "resources.requests", "storage").cloned() {
            set_entry(&mut new_spec, "resources.requests", "storage", size);
        }
        set_or_remove(
            &mut new_spec,
            "volumeAttributesClassName",
            get(&old_spec, "volumeAttributesClassName"),
        );
    }
    if new_spec != old_spec {
        let detail = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n";
        report.forbidden(&root("spec"), detail);
    }
    let size = |claim: &Json, path: &str| {
        Quantity::parse(
            entry(claim, path, "storage")
                .and_then(Json::as_str)
                .unwrap_or("0"),
        )
        .ok()
    };
    let (new, before) = (
        size(claim, "spec.resources.requests"),
        size(old, "spec.resources.requests"),
    );
    if new < before && new <= size(old, "status.capacity") {
        let at = root("spec.resources.requests.storage");
        report.forbidden(&at, "field can not be less than status.capacity");
    }
    if get(claim, "spec.volumeMode") != get(old, "spec.volumeMode") {
        let mode = get(claim, "spec.volumeMode").cloned().unwrap_or_default();
        report.invalid(&root("volumeMode"), mode, "field is immutable");
    }
}
