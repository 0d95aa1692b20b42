//! Findings as text for people, in the form that rustc uses.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Patch, Renderer, Snippet};

use super::{Finding, Severity, Source, Span, path_to_text};

/// Whether the output may contain colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// For files, pipes and `NO_COLOR`.
    Plain,
    /// For a terminal.
    Coloured,
}

/// One finding with the lines of the description that it refers to. The text ends with an empty line.
pub fn to_text(source: &Source, finding: &Finding, style: Style) -> String {
    let level = match finding.rule.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let mut group = Group::with_title(
        level
            .primary_title(finding.message.as_str())
            .id(finding.rule.name),
    )
    .elements(snippets(source, finding));
    if let Some(path) = path_to_text(source, finding) {
        group = group.element(Level::NOTE.message(path));
    }
    for note in &finding.notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    if let Some(help) = &finding.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let mut report = vec![group];
    if let Some(fix) = &finding.fix {
        let window = Window::around(source, [fix.span]);
        report.push(
            Level::HELP.secondary_title(fix.message.as_str()).element(
                window
                    .snippet()
                    .patch(Patch::new(window.range(fix.span), fix.replacement.as_str())),
            ),
        );
    }
    let renderer = match style {
        Style::Plain => Renderer::plain(),
        Style::Coloured => Renderer::styled(),
    };
    let mut text = renderer.render(&report);
    text.push_str("\n\n");
    text
}

/// The excerpts of a finding: one for the primary place and the places near it, and one for each distant place, so that
/// the output stays small even if the file is large.
fn snippets<'a>(
    source: &'a Source,
    finding: &'a Finding,
) -> Vec<Snippet<'a, annotate_snippets::Annotation<'a>>> {
    const NEAR: usize = 400;
    let line = |span: Span| source.line_index(span.start);
    let primary_line = line(finding.span);
    let is_near = |span: Span| line(span).abs_diff(primary_line) <= NEAR;
    let (near, far): (Vec<_>, Vec<_>) = finding.related.iter().partition(|(span, _)| is_near(*span));

    let window = Window::around(source, near.iter().map(|(span, _)| *span).chain([finding.span]));
    let primary = AnnotationKind::Primary
        .span(window.range(finding.span))
        .label(finding.label.as_deref());
    let context = near.iter().map(|(span, label)| {
        AnnotationKind::Context
            .span(window.range(*span))
            .label(label.as_str())
    });
    let mut snippets = vec![window.snippet().annotation(primary).annotations(context)];
    for (span, label) in far {
        let window = Window::around(source, [*span]);
        snippets.push(
            window.snippet().annotation(
                AnnotationKind::Context
                    .span(window.range(*span))
                    .label(label.as_str()),
            ),
        );
    }
    snippets
}

/// A range of whole lines of the source.
struct Window<'a> {
    source: &'a Source,
    lines: Range<usize>,
    bytes: Range<usize>,
}

impl<'a> Window<'a> {
    fn around(source: &'a Source, spans: impl IntoIterator<Item = Span>) -> Self {
        let spans: Vec<Span> = spans.into_iter().collect();
        let first = spans
            .iter()
            .map(|span| source.line_index(span.start))
            .min()
            .unwrap_or(0);
        let last = spans
            .iter()
            .map(|span| source.line_index(span.end))
            .max()
            .unwrap_or(first);
        let bytes = source.line_start(first)..source.line_start(last + 1);
        Window {
            source,
            lines: first..last + 1,
            bytes,
        }
    }

    fn snippet<T: Clone>(&self) -> Snippet<'a, T> {
        let text = self.source.text().get(self.bytes.clone()).unwrap_or_default();
        Snippet::source(text)
            .line_start(self.lines.start + 1)
            .path(self.source.name())
    }

    fn range(&self, span: Span) -> Range<usize> {
        let start = span.start.clamp(self.bytes.start, self.bytes.end);
        let end = span.end.clamp(start, self.bytes.end);
        start - self.bytes.start..end - self.bytes.start
    }
}
