//! PersistentVolumeClaims, after `ValidatePersistentVolumeClaimSpec` in `pkg/apis/core/validation`.

use crate::builtin::json::{entry, get, list, set_entry, set_or_remove, text, texts};
use crate::builtin::report::{Report, root};
use krator_machine::Amount;
use krator_schema::Path;
use serde_json::Value as Json;

/// Validates the spec of a claim, also in a template.
pub(in super::super) fn spec(report: &mut Report, at: &Path, spec: &Json) {
    let modes = texts(spec, "accessModes");
    if modes.len() > 1 && modes.contains(&"ReadWriteOncePod") {
        report.forbidden(
            &at.field("accessModes"),
            "ReadWriteOncePod excludes the other modes",
        );
    }
    let storage_at = at.field("resources").key("storage");
    match entry(spec, "resources.requests", "storage").and_then(Json::as_str) {
        None => report.required(&storage_at, ""),
        Some(size) => {
            let is_something = Amount::parse(size).is_ok_and(|size| size > Amount::bytes(0));
            report.unless(is_something, &storage_at, size, "must be greater than zero");
        }
    }
}

/// Of a bound claim, only the size and the attributes class can change, and a smaller size must exceed the capacity.
pub(in super::super) fn update(report: &mut Report, claim: &Json, old: &Json) {
    let (mut new_spec, mut old_spec) = (claim["spec"].clone(), old["spec"].clone());
    if text(&old_spec, "volumeName").is_empty() {
        set_or_remove(&mut old_spec, "volumeName", get(&new_spec, "volumeName"));
    }
    // A claim without a storage class can get the default class when one is set.
    if get(&old_spec, "storageClassName").is_none() && list(old, "metadata.annotations").is_empty() {
        set_or_remove(&mut new_spec, "storageClassName", None);
    }
    if text(claim, "status.phase") == "Bound" {
        if let Some(size) = entry(&old_spec, "resources.requests", "storage").cloned() {
            set_entry(&mut new_spec, "resources.requests", "storage", size);
        }
        let class = "volumeAttributesClassName";
        set_or_remove(&mut new_spec, class, get(&old_spec, class));
    }
    if new_spec != old_spec {
        report.forbidden(
            &root("spec"),
            "only a bound claim changes, and it can only grow or change its attributes",
        );
    }
    let size = |claim: &Json, path: &str| {
        let size = entry(claim, path, "storage").and_then(Json::as_str);
        Amount::parse(size.unwrap_or("0")).ok()
    };
    let requested = size(claim, "spec.resources.requests");
    if requested < size(old, "spec.resources.requests") && requested <= size(old, "status.capacity") {
        let at = root("spec.resources.requests.storage");
        report.forbidden(&at, "must not be less than status.capacity");
    }
}
