//! What a comparison has to say, each at its place.

use super::{PRUNED, Run};
use crate::catalog::Severity;
use crate::finding::{Finding, Source, Span};

/// A finding in a file of the crate.
#[derive(Debug)]
pub struct FileFinding {
    /// The file as it is.
    pub source: Source,
    /// What is to be said of it.
    pub finding: Finding,
    /// What krator would change, where that says more than the place: a text, and the one that it would become.
    pub wanted: Option<(String, Option<String>)>,
}

/// What there is to say.
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
        .help("move the edit into a file of yours; `krator gen --force` then writes this one anew");
        self.drift.is_refused = true;
        self.say(path, text, finding, Some((text, wanted)));
    }

    pub(super) fn occupied(&mut self, path: &str, text: &str) {
        self.drift.is_refused = true;
        self.drift.found.push(occupied(path, text));
    }

    pub(super) fn conflict(&mut self, path: &str, text: &str, span: Span, (from, to): (&str, &str)) {
        let finding = Finding::new(
            &crate::catalog::MERGE_CONFLICT,
            span,
            format!("what krator has to change in `{path}`, somebody else has changed too"),
        )
        .label("left as it is")
        .help(
            "make the change below by hand and say so by `krator gen --merge=mine`, or let `krator gen \
             --merge=conflicts` write both versions into the file",
        );
        self.say(path, text, finding, Some((from, Some(to))));
    }

    pub(super) fn unreadable(&mut self, path: &str, text: &str, error: &toml_edit::TomlError) {
        let span = error.span().map_or(first_line(text), |span| Span {
            start: span.start,
            end: span.end,
        });
        let finding = Finding::new(&crate::catalog::UNREADABLE_MANIFEST, span, "this is not TOML")
            .label(error.message());
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

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.finding.rule.severity == Severity::Error
    }
}

pub(super) fn occupied(path: &str, text: &str) -> FileFinding {
    let finding = Finding::new(
        &crate::catalog::OCCUPIED_PATH,
        first_line(text),
        format!("`{path}` is not krator's, and has to be"),
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

/// The first line of a text that another one has not.
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
