//! The findings of a comparison, with their locations.

use super::cargo::UnusableManifest;
use super::{PRUNED, Version};
use crate::catalog::{
    EDITED_FILE, MERGE_CONFLICT, OCCUPIED_PATH, Severity, UNLISTED_MANIFEST, UNREADABLE_MANIFEST,
};
use crate::changes::{FileState, Snapshot};
use crate::code::InFile;
use crate::finding::{Finding, Source, Span, conflict_markers};
use crate::plan::Ownership;
use crate::record;
use crate::text::{printable, with_line_ends_of};

/// A finding in a file of the crate.
#[derive(Debug, Clone)]
pub struct FileFinding {
    /// The current text of the file.
    pub source: Source,
    /// The finding, whose spans refer to `source`.
    pub finding: Finding,
    /// The change that krator would make, shown as a diff if the location alone does not explain the finding: the text
    /// before, and the text after unless the file would be removed.
    pub wanted: Option<(String, Option<String>)>,
}

/// A finding at a path, with the text of the file there.
fn at(path: &str, text: &str, finding: Finding) -> FileFinding {
    FileFinding::new(&Source::new(crate::text::printable(path), text), finding)
}

/// Reports an edit of a generated file, which krator would overwrite with `wanted` or remove.
pub(super) fn edited(path: &str, text: &str, wanted: Option<&str>) -> FileFinding {
    let place = first_difference(text, wanted.unwrap_or_default());
    let finding = Finding::new(&EDITED_FILE, place, format!("`{path}` was edited by hand"))
        .label("krator would overwrite this")
        .help("move the edit into a file of yours; `krator gen --force` then overwrites this one");
    let wanted = wanted.map(|wanted| with_line_ends_of(text, wanted));
    FileFinding {
        wanted: Some((text.to_owned(), wanted)),
        ..at(path, text, finding)
    }
}

/// Reports a change by krator, from one text to the other, that conflicts with the user's changes.
pub(super) fn conflict(path: &str, text: &str, span: Span, (from, to): (&str, &str)) -> FileFinding {
    let message = format!("krator's changes to `{path}` conflict with yours");
    let finding = Finding::new(&MERGE_CONFLICT, span, message)
        .label("left as it is")
        .help(
            "make the change below by hand and confirm it with `krator gen --merge=mine`, or let `krator gen \
             --merge=conflicts` write both versions into the file",
        );
    FileFinding {
        wanted: Some((from.to_owned(), Some(to.to_owned()))),
        ..at(path, text, finding)
    }
}

/// Reports a manifest that cannot be merged.
pub(super) fn unusable_manifest(path: &str, text: &str, error: &UnusableManifest) -> FileFinding {
    let finding = match error {
        UnusableManifest::NotToml(error) => {
            let span = error.span().map_or(first_line(text), |span| Span {
                start: span.start,
                end: span.end,
            });
            Finding::new(&UNREADABLE_MANIFEST, span, "this is not TOML").label(error.message())
        }
        UnusableManifest::NoPackage => {
            let message = "this is not the manifest of a package";
            Finding::new(&UNREADABLE_MANIFEST, first_line(text), message)
                .label(error.to_string())
                .help("restore it from version control, or remove it: `krator gen` then writes a new one")
        }
    };
    at(path, text, finding)
}

/// Reports the manifests in `deploy/` that the kustomization there does not list.
pub(super) fn unlisted<'p>(
    path: &str,
    text: &str,
    manifests: impl Iterator<Item = &'p str>,
) -> Vec<FileFinding> {
    let listed = serde_yaml::from_str::<serde_json::Value>(text).unwrap_or_default();
    let Some(listed) = listed["resources"].as_array() else {
        // This is not a kustomization, or it consists of other kustomizations.
        return Vec::new();
    };
    let is_listed = |name: &str| {
        let mut listed = listed.iter().filter_map(|entry| entry.as_str());
        listed.any(|entry| entry.trim_start_matches("./") == name)
    };
    let start = text.find("resources:").unwrap_or_default();
    let end = text[start..]
        .find('\n')
        .map_or(text.len(), |length| start + length);
    manifests
        .filter(|name| !is_listed(name))
        .map(|name| {
            let message = format!("`{path}` does not list `{name}`, so it is not applied");
            let help = format!("add `- {name}` under `resources`, or run `krator gen --merge` to add it; or delete `deploy/{name}`");
            at(path, text, Finding::new(&UNLISTED_MANIFEST, Span { start, end }, message).help(help))
        })
        .collect()
}

/// Reports a file of the user at a path where krator has to write a file.
pub(super) fn occupied(path: &str, text: &str) -> FileFinding {
    let message = format!("krator has to generate `{path}`, but another file is in its place");
    let finding = Finding::new(&OCCUPIED_PATH, first_line(text), message)
        .label("krator did not write this file")
        .help(format!(
            "move it, or let `krator gen --force` move it to `{PRUNED}/`"
        ));
    at(path, text, finding)
}

impl FileFinding {
    pub(super) fn new(source: &Source, finding: Finding) -> Self {
        FileFinding {
            source: source.clone(),
            finding,
            wanted: None,
        }
    }

    /// Whether the finding is an error.
    pub fn is_error(&self) -> bool {
        self.finding.rule.severity == Severity::Error
    }
}

pub(super) fn first_line(text: &str) -> Span {
    Span {
        start: 0,
        end: text.find('\n').unwrap_or(text.len()),
    }
}

/// The first line of a text that differs from the same line of another.
fn first_difference(text: &str, other: &str) -> Span {
    let mut start = 0;
    let mut others = other.lines();
    for line in text.split_inclusive('\n') {
        if others.next() != Some(line.trim_end_matches(['\r', '\n'])) {
            let end = start + line.trim_end().len();
            return Span { start, end };
        }
        start += line.len();
    }
    Span { start, end: start }
}

/// The files of users in which git has left conflict markers.
pub(super) fn conflicted(tree: &Snapshot, now: Version<'_>) -> Vec<InFile> {
    let is_theirs = |path: &str| {
        let planned = now.plan.get(path).map(|file| file.ownership);
        planned != Some(Ownership::Generated) && path != "krator.yaml" && !path.starts_with(record::STATE_DIR)
    };
    let texts = tree.iter().filter_map(|(path, file)| match file {
        FileState::Text(text) if is_theirs(path) => Some((path, text)),
        _ => None,
    });
    texts
        .filter_map(|(path, text)| {
            Some(InFile {
                source: Source::new(printable(path), text),
                findings: vec![conflict_markers(text)?],
            })
        })
        .collect()
}
