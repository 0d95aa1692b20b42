//! Volumes of pods, after `ValidateVolumes` in `pkg/apis/core/validation`.

use crate::builtin::json::{int, text};
use crate::builtin::names;
use crate::builtin::report::{Report, TypeRule};
use krator_schema::Path;
use serde_json::Value as Json;

pub(super) const TYPES: &[(&str, TypeRule)] = &[
    ("core.v1.Volume", volume),
    ("core.v1.SecretVolumeSource", |report, at, source| {
        named(report, at, source, "secretName");
        modes(report, at, source);
    }),
    ("core.v1.ConfigMapVolumeSource", |report, at, source| {
        named(report, at, source, "name");
        modes(report, at, source);
    }),
    ("core.v1.DownwardAPIVolumeSource", modes),
    ("core.v1.ProjectedVolumeSource", modes),
    ("core.v1.SecretProjection", |report, at, source| {
        named(report, at, source, "name")
    }),
    ("core.v1.ConfigMapProjection", |report, at, source| {
        named(report, at, source, "name")
    }),
    ("core.v1.VolumeProjection", |report, at, source| {
        if source.as_object().is_some_and(|sources| sources.len() > 1) {
            report.forbidden(at, "may not specify more than 1 volume type per source");
        }
    }),
    ("core.v1.KeyToPath", file),
    ("core.v1.DownwardAPIVolumeFile", file),
    ("core.v1.VolumeMount", mount),
    ("core.v1.HostPathVolumeSource", |report, at, source| {
        no_backsteps(report, &at.field("path"), text(source, "path"));
    }),
];

fn volume(report: &mut Report, at: &Path, volume: &Json) {
    report.text(at, volume, "name", names::label);
    let fields = volume.as_object().into_iter().flatten();
    let sources = fields.map(|(field, _)| field).filter(|field| *field != "name");
    for source in sources.skip(1) {
        report.forbidden(&at.field(source), "may not specify more than 1 volume type");
    }
}

fn named(report: &mut Report, at: &Path, source: &Json, field: &str) {
    if text(source, field).is_empty() {
        report.required(&at.field(field), "");
    }
}

fn modes(report: &mut Report, at: &Path, source: &Json) {
    for field in ["mode", "defaultMode"] {
        if let Some(mode) = int(source, field).filter(|mode| !(0..=0o777).contains(mode)) {
            let detail = "must be a number between 0 and 0777 (octal), both inclusive";
            report.invalid(&at.field(field), mode, detail);
        }
    }
}

fn file(report: &mut Report, at: &Path, file: &Json) {
    modes(report, at, file);
    let path = text(file, "path");
    relative_path(report, &at.field("path"), path);
}

fn mount(report: &mut Report, at: &Path, mount: &Json) {
    // The original has no index in the paths of these two.
    let list_at = at.parent().unwrap_or_default();
    for field in ["subPath", "subPathExpr"] {
        relative_path(report, &list_at.field(field), text(mount, field));
    }
}

/// A path below another one.
fn relative_path(report: &mut Report, at: &Path, path: &str) {
    if path.starts_with('/') {
        report.invalid(at, path, "must be a relative path");
    }
    no_backsteps(report, at, path);
}

fn no_backsteps(report: &mut Report, at: &Path, path: &str) {
    if path.split('/').any(|part| part == "..") {
        report.invalid(at, path, "must not contain '..'");
    }
}
