//! Volumes of pods, after `ValidateVolumes` in `pkg/apis/core/validation`.

use crate::builtin::json::text;
use crate::builtin::names;
use crate::builtin::report::TypeRule;

pub(super) const TYPES: &[(&str, TypeRule)] = &[
    ("core.v1.Volume", |report, at, volume| {
        let fields = volume.as_object().into_iter().flatten();
        let sources = fields.map(|(field, _)| field).filter(|field| *field != "name");
        for source in sources.skip(1) {
            report.forbidden(&at.field(source), "there is a source already");
        }
    }),
    ("core.v1.VolumeProjection", |report, at, source| {
        if source.as_object().is_some_and(|sources| sources.len() > 1) {
            report.forbidden(at, "there is a source already");
        }
    }),
    ("core.v1.VolumeMount", |report, at, mount| {
        // The original has no index in the paths of these two.
        let list_at = at.parent().unwrap_or_default();
        for field in ["subPath", "subPathExpr"] {
            let path = text(mount, field);
            report.messages(&list_at.field(field), path, names::relative_path(path));
        }
    }),
];
