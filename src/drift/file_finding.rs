//! The findings of a comparison, with their locations.

use super::PRUNED;
use super::cargo::UnusableManifest;
use super::run::Run;
use crate::catalog::Severity;
use crate::finding::{Finding, Source, Span};
use crate::text::with_line_ends_of;

/// A finding in a file of the crate.
#[derive(Debug, Clone)]
pub struct FileFinding {
    /// The current text of the file.
    pub source: Source,
    /// The finding, whose spans refer to `source`.
    pub finding: Finding,
    /// The change that krator would make, shown as a diff where the location alone does not explain the finding: the
    /// text before, and the text after unless the file would be removed.
    pub wanted: Option<(String, Option<String>)>,
}

impl Run<'_> {
    fn say(&mut self, path: &str, text: &str, finding: Finding, wanted: Option<(&str, Option<&str>)>) {
        self.drift.found.push(FileFinding {
            source: Source::new(crate::text::printable(path), text),
            finding,
            wanted: wanted.map(|(from, to)| (from.to_owned(), to.map(str::to_owned))),
        });
    }

    pub(super) fn edited(&mut self, path: &str, text: &str, wanted: Option<&str>) {
        let place = first_difference(text, wanted.unwrap_or_default());
        let finding = Finding::new(
            &crate::catalog::EDITED_FILE,
            place,
            format!("`{path}` was edited by hand"),
        )
        .label("krator would write over this")
        .help("move the edit into a file of yours; `krator gen --force` then overwrites this one");
        self.drift.is_refused = true;
        let wanted = wanted.map(|wanted| with_line_ends_of(text, wanted));
        self.say(path, text, finding, Some((text, wanted.as_deref())));
    }

    pub(super) fn occupied(&mut self, path: &str, text: &str) {
        self.drift.is_refused = true;
        self.drift.found.push(occupied(path, text));
    }

    pub(super) fn conflict(&mut self, path: &str, text: &str, span: Span, (from, to): (&str, &str)) {
        let finding = Finding::new(
            &crate::catalog::MERGE_CONFLICT,
            span,
            format!("krator's changes to `{path}` conflict with yours"),
        )
        .label("left as it is")
        .help(
            "make the change below by hand and confirm it with `krator gen --merge=mine`, or let `krator gen \
             --merge=conflicts` write both versions into the file",
        );
        self.say(path, text, finding, Some((from, Some(to))));
    }

    pub(super) fn unusable_manifest(&mut self, path: &str, text: &str, error: &UnusableManifest) {
        let rule = &crate::catalog::UNREADABLE_MANIFEST;
        let finding = match error {
            UnusableManifest::NotToml(error) => {
                let span = error.span().map_or(first_line(text), |span| Span {
                    start: span.start,
                    end: span.end,
                });
                Finding::new(rule, span, "this is not TOML").label(error.message())
            }
            UnusableManifest::NoPackage => {
                Finding::new(rule, first_line(text), "this is not the manifest of a package")
                    .label(error.to_string())
                    .help("restore it from version control, or remove it: `krator gen` then writes a new one")
            }
        };
        self.drift.is_refused = true;
        self.say(path, text, finding, None);
    }
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

pub(super) fn occupied(path: &str, text: &str) -> FileFinding {
    let finding = Finding::new(
        &crate::catalog::OCCUPIED_PATH,
        first_line(text),
        format!("krator has to generate `{path}`, but another file is in its place"),
    )
    .label("somebody else wrote this file")
    .help(format!(
        "move it, or let `krator gen --force` move it to `{PRUNED}/`"
    ));
    FileFinding::new(&Source::new(crate::text::printable(path), text), finding)
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
