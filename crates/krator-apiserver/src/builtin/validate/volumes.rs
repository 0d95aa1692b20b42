//! Volumes of pods, after `ValidateVolumes` in `pkg/apis/core/validation`. Kinds of volumes of single vendors are left to
//! [`super::beyond`].

use super::claims;
use super::containers::{pod_field, resource_field_ref};
use super::report::Report;
use crate::builtin::json::{get, int, list, text};
use crate::builtin::names;
use crate::builtin::quantity::Quantity;
use krator_schema::Path;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// The valid volumes of a pod by name.
pub(super) type Volumes<'a> = BTreeMap<&'a str, &'a Json>;

/// The sources that are checked here, in the order of the original.
pub(super) const SOURCES: [&str; 11] = [
    "emptyDir",
    "hostPath",
    "secret",
    "nfs",
    "persistentVolumeClaim",
    "downwardAPI",
    "configMap",
    "projected",
    "csi",
    "ephemeral",
    "image",
];

const FILE_MODE: &str = "must be a number between 0 and 0777 (octal), both inclusive";

/// Checks all volumes, and gives those that containers can mount.
pub(super) fn volumes<'a>(report: &mut Report, at: &Path, volumes: &'a [Json]) -> Volumes<'a> {
    let mut valid = Volumes::new();
    for (index, volume) in volumes.iter().enumerate() {
        let at = at.index(index);
        let before = report.len();
        let name = text(volume, "name");
        source(report, &at, volume);
        match name {
            "" => report.required(&at.field("name"), ""),
            name => report.messages(&at.field("name"), name, names::label(name)),
        }
        if valid.contains_key(name) {
            report.duplicate(&at.field("name"), name);
        }
        if report.len() == before {
            valid.insert(name, volume);
        }
    }
    valid
}

fn source(report: &mut Report, at: &Path, volume: &Json) {
    let mut count = 0;
    for field in SOURCES {
        let Some(source) = get(volume, field) else {
            continue;
        };
        let at = at.field(field);
        count += 1;
        if count > 1 {
            report.forbidden(&at, "may not specify more than 1 volume type");
            continue;
        }
        match field {
            "emptyDir" => empty_dir(report, &at, source),
            "hostPath" => host_path(report, &at, source),
            "secret" => keys(report, &at, source, "secretName"),
            "configMap" => keys(report, &at, source, "name"),
            "nfs" => nfs(report, &at, source),
            "persistentVolumeClaim" if text(source, "claimName").is_empty() => {
                report.required(&at.field("claimName"), "");
            }
            "downwardAPI" => {
                mode(report, &at.field("defaultMode"), source, "defaultMode");
                // The original has no index in these paths.
                list(source, "items")
                    .iter()
                    .for_each(|item| downward_file(report, &at, item));
            }
            "projected" => projected(report, &at, source),
            "csi" => csi(report, &at, source),
            "ephemeral" => match get(source, "volumeClaimTemplate.spec") {
                None => report.required(&at.field("volumeClaimTemplate"), ""),
                Some(spec) => claims::spec(report, &at.field("volumeClaimTemplate").field("spec"), spec),
            },
            "image" => {
                let policy = text(source, "pullPolicy");
                report.one_of(
                    &at.field("pullPolicy"),
                    policy,
                    &["Always", "IfNotPresent", "Never"],
                );
            }
            _ => {}
        }
    }
    let is_other = volume.as_object().is_some_and(|fields| fields.len() > 1);
    if count == 0 && !is_other {
        report.required(at, "must specify a volume type");
    }
}

fn empty_dir(report: &mut Report, at: &Path, source: &Json) {
    if Quantity::parse(text(source, "sizeLimit")).is_ok_and(|size| size.is_negative()) {
        report.forbidden(
            &at.field("sizeLimit"),
            "SizeLimit field must be a valid resource quantity",
        );
    }
}

fn host_path(report: &mut Report, at: &Path, source: &Json) {
    const TYPES: [&str; 8] = [
        "",
        "BlockDevice",
        "CharDevice",
        "Directory",
        "DirectoryOrCreate",
        "File",
        "FileOrCreate",
        "Socket",
    ];
    let path = text(source, "path");
    if path.is_empty() {
        return report.required(&at.field("path"), "");
    }
    no_backsteps(report, &at.field("path"), path);
    let type_ = text(source, "type");
    if !TYPES.contains(&type_) {
        report.not_supported(&at.field("type"), type_, &TYPES);
    }
}

fn nfs(report: &mut Report, at: &Path, source: &Json) {
    for field in ["server", "path"] {
        if text(source, field).is_empty() {
            report.required(&at.field(field), "");
        }
    }
    let path = text(source, "path");
    if !path.starts_with('/') {
        report.invalid(&at.field("path"), path, "must be an absolute path");
    }
}

/// Files from the keys of a Secret or a ConfigMap.
fn keys(report: &mut Report, at: &Path, source: &Json, name: &str) {
    if text(source, name).is_empty() {
        report.required(&at.field(name), "");
    }
    mode(report, &at.field("defaultMode"), source, "defaultMode");
    for (index, item) in list(source, "items").iter().enumerate() {
        key_to_path(report, &at.field("items").index(index), item);
    }
}

fn key_to_path(report: &mut Report, at: &Path, item: &Json) {
    for field in ["key", "path"] {
        if text(item, field).is_empty() {
            report.required(&at.field(field), "");
        }
    }
    local_path(report, &at.field("path"), text(item, "path"));
    mode(report, &at.field("mode"), item, "mode");
}

fn mode(report: &mut Report, at: &Path, source: &Json, field: &str) {
    if let Some(mode) = int(source, field).filter(|mode| !(0..=0o777).contains(mode)) {
        report.invalid(at, mode, FILE_MODE);
    }
}

fn downward_file(report: &mut Report, at: &Path, file: &Json) {
    const FIELDS: [&str; 5] = [
        "metadata.annotations",
        "metadata.labels",
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
    ];
    let path = text(file, "path");
    if path.is_empty() {
        report.required(&at.field("path"), "");
    }
    local_path(report, &at.field("path"), path);
    match (get(file, "fieldRef"), get(file, "resourceFieldRef")) {
        (Some(field), resource) => {
            pod_field(report, &at.field("fieldRef"), field, &FIELDS);
            if resource.is_some() {
                let detail = "fieldRef and resourceFieldRef can not be specified simultaneously";
                report.invalid(at, "resource", detail);
            }
        }
        (None, Some(resource)) => resource_field_ref(report, &at.field("resourceFieldRef"), resource, true),
        (None, None) => report.required(at, "one of fieldRef and resourceFieldRef is required"),
    }
    mode(report, &at.field("mode"), file, "mode");
}

fn projected(report: &mut Report, at: &Path, source: &Json) {
    mode(report, &at.field("defaultMode"), source, "defaultMode");
    let mut paths = BTreeSet::new();
    for (index, source) in list(source, "sources").iter().enumerate() {
        let here = at.field("sources").index(index);
        for field in ["secret", "configMap"] {
            let Some(keys) = get(source, field) else { continue };
            let here = here.field(field);
            if text(keys, "name").is_empty() {
                report.required(&here.field("name"), "");
            }
            for (index, item) in list(keys, "items").iter().enumerate() {
                key_to_path(report, &here.field("items").index(index), item);
                let path = text(item, "path");
                if !path.is_empty() && !paths.insert(path) {
                    report.invalid(at, text(keys, "name"), "conflicting duplicate paths");
                }
            }
        }
        for file in list(source, "downwardAPI.items") {
            downward_file(report, &here.field("downwardAPI"), file);
            let path = text(file, "path");
            if !path.is_empty() && !paths.insert(path) {
                report.invalid(at, path, "conflicting duplicate paths");
            }
        }
        if let Some(token) = get(source, "serviceAccountToken") {
            service_account_token(report, at, &here.field("serviceAccountToken"), token);
        }
        if source.as_object().is_some_and(|sources| sources.len() > 1) {
            report.forbidden(&here, "may not specify more than 1 volume type per source");
        }
    }
}

/// `at_volume` is the path that the original uses for the path of the token.
fn service_account_token(report: &mut Report, at_volume: &Path, at: &Path, token: &Json) {
    let seconds = int(token, "expirationSeconds").unwrap_or_default();
    if seconds < 600 {
        let detail = "may not specify a duration less than 10 minutes";
        report.invalid(&at.field("expirationSeconds"), seconds, detail);
    }
    if seconds > 1 << 32 {
        let detail = "may not specify a duration larger than 2^32 seconds";
        report.invalid(&at.field("expirationSeconds"), seconds, detail);
    }
    match text(token, "path") {
        "" => report.required(&at_volume.field("path"), ""),
        path => local_path(report, &at_volume.field("path"), path),
    }
}

fn csi(report: &mut Report, at: &Path, source: &Json) {
    let driver = text(source, "driver");
    if driver.is_empty() {
        report.required(&at.field("driver"), "");
    } else {
        if driver.len() > 63 {
            report.too_long(&at.field("driver"), 63);
        }
        report.messages(
            &at.field("driver"),
            driver,
            names::subdomain(&driver.to_lowercase()),
        );
    }
    if get(source, "nodePublishSecretRef").is_some() {
        match text(source, "nodePublishSecretRef.name") {
            "" => report.required(&at.field("nodePublishSecretRef").field("name"), ""),
            name => report.messages(&at.field("name"), name, names::subdomain(name)),
        }
    }
}

/// A relative path without `..`.
pub(super) fn descending_path(report: &mut Report, at: &Path, path: &str) {
    if path.starts_with('/') {
        report.invalid(at, path, "must be a relative path");
    }
    no_backsteps(report, at, path);
}

fn local_path(report: &mut Report, at: &Path, path: &str) {
    descending_path(report, at, path);
    if path.starts_with("..") && !path.starts_with("../") {
        report.invalid(at, path, "must not start with '..'");
    }
}

pub(super) fn no_backsteps(report: &mut Report, at: &Path, path: &str) {
    if path.split('/').any(|part| part == "..") {
        report.invalid(at, path, "must not contain '..'");
    }
}
