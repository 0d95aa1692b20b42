//! `docs/versions.md`: the older versions, and how to remove one.

use krator_machine::versions::{Change, path_text};
use serde_json::{Value as Json, json};

use super::markdown::{block, code, paragraph};
use crate::model::{DURATION_UNITS, Description, Kind, Version};
use crate::render::templates::Template;
use crate::sample;
use crate::yaml;

/// The document, if a kind has older versions.
pub fn versions(description: &Description) -> Option<String> {
    let kinds = description.kinds.iter().filter(|kind| !kind.versions.is_empty());
    let newest = kinds.clone().next()?.resource.version.as_str();
    Some(Template::Versions.render(&json!({
        "operator": description.operator.as_str(),
        "newest": newest,
        "kinds": kinds.map(|kind| of_kind(description, kind)).collect::<Vec<_>>(),
    })))
}

fn of_kind(description: &Description, kind: &Kind) -> Json {
    let (newest, stored) = (kind.resource.version.as_str(), kind.stored_version().as_str());
    let older = kind.versions.iter().map(|version| {
        let used = match (&version.deprecated, version.served) {
            (_, false) => "no".to_owned(),
            (None, true) => "yes".to_owned(),
            (Some(deprecated), true) => format!("yes, deprecated: {}", paragraph(&deprecated.value)),
        };
        (version.name.as_str(), used)
    });
    let versions = [(newest, "yes".to_owned())].into_iter().chain(older);
    let versions = versions.map(|(name, used)| json!({"name": name, "use": used, "stored": name == stored}));
    let next = [newest]
        .into_iter()
        .chain(kind.versions.iter().map(|version| version.name.as_str()));
    let older = kind.versions.iter().zip(next).map(|(version, next)| {
        let mut sample = sample::object(description, &kind.in_version(version));
        yaml::make_whole(&mut sample);
        json!({
            "name": version.name.as_str(),
            "next": next,
            "changes": version.changes.iter().map(|change| told(&change.value, version, next)).collect::<Vec<_>>(),
            "sample": block("yaml", &yaml::documents(&[sample])),
        })
    });
    json!({
        "kind": kind.resource.kind.as_str(),
        "versions": versions.collect::<Vec<_>>(),
        "older": older.collect::<Vec<_>>(),
    })
}

/// Describes a change in a sentence.
fn told(change: &Change, version: &Version, next: &str) -> String {
    let place = |path: &[_]| code(&path_text(path));
    let value = |value: &Json| code(&value.to_string());
    let older = version.name.as_str();
    match change {
        Change::Moved { from, to, .. } => format!("{} is {} in `{next}`.", place(from), place(to)),
        Change::Values { at, map } => {
            let map = map
                .iter()
                .map(|(from, to)| format!("{} is {}", value(from), value(to)));
            format!(
                "{} has other values: {}.",
                place(at),
                map.collect::<Vec<_>>().join(", ")
            )
        }
        Change::Added { at, default } => {
            let default = default
                .as_ref()
                .map(|default| format!("; objects of `{older}` have {}", value(default)));
            format!("{} is new in `{next}`{}.", place(at), default.unwrap_or_default())
        }
        Change::Removed { at, default } => {
            let default = default
                .as_ref()
                .map(|default| format!("; objects of `{next}` have {}", value(default)));
            format!(
                "{} is gone in `{next}`{}.",
                place(at),
                default.unwrap_or_default()
            )
        }
        Change::Duration { at, unit } => {
            let unit = DURATION_UNITS.iter().find(|(_, short)| short == unit);
            let unit = unit.map_or("units", |(name, _)| name);
            format!(
                "{} is a duration in `{next}`, and a number of {unit} in `{older}`.",
                place(at)
            )
        }
        Change::Custom { at, .. } => format!("{} is converted by functions in `conversions.rs`.", place(at)),
    }
}
