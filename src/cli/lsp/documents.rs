//! The descriptions that an editor has open, saved or not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::Checked;
use crate::catalog::Severity;
use crate::finding::{Finding, Source, Span, path_to_text};
use crate::record;
use crate::workspace::DESCRIPTION;
use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DidChangeTextDocumentParams, Location,
    PublishDiagnosticsParams, TextDocumentContentChangeEvent, TextDocumentItem, TextDocumentPositionParams,
    TextEdit, Uri, WorkspaceEdit,
};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

use super::positions::{offset, range};

/// All open descriptions, by their URIs.
#[derive(Default)]
pub(super) struct Documents {
    open: BTreeMap<String, Document>,
    /// Closed documents whose findings have to be withdrawn.
    closed: Vec<Uri>,
}

/// An open description.
pub(super) struct Document {
    pub uri: Uri,
    pub source: Source,
    /// Its file, if it is one.
    pub path: Option<PathBuf>,
    pub findings: Vec<Finding>,
    version: i32,
    is_checked: bool,
    /// The accepted description of its crate, with which the document is compared for breaking changes.
    promised: Option<Checked>,
}

impl Document {
    /// The folder of the crate that was generated from the description.
    pub fn crate_folder(&self) -> Option<&Path> {
        let path = self.path.as_deref().filter(|path| path.ends_with(DESCRIPTION))?;
        let folder = path.parent()?;
        folder.join(record::DESCRIPTION).is_file().then_some(folder)
    }

    /// Edits of the document as one edit of the workspace.
    pub fn edit(&self, edits: &[(Span, String)]) -> WorkspaceEdit {
        WorkspaceEdit {
            changes: Some([(self.uri.clone(), text_edits(&self.source, edits))].into()),
            ..Default::default()
        }
    }

    fn read_promised(&mut self) {
        let read = |name: &str| {
            let text = std::fs::read(self.crate_folder()?.join(name)).ok()?;
            Some(crate::check(name, &text))
        };
        self.promised = read(record::PROMISED_DESCRIPTION).or_else(|| read(record::DESCRIPTION));
    }

    fn set_text(&mut self, text: String, version: i32) {
        self.source = Source::new(self.source.name(), text);
        self.version = version;
        self.is_checked = false;
    }

    fn check(&mut self) {
        let text = self.source.text().as_bytes();
        let folder = self.path.as_deref().and_then(Path::parent);
        let files = folder.map(|folder| crate::disk::read_named(folder, crate::spec::named_files(text)));
        let checked = crate::check_with(self.source.name(), text, &files.unwrap_or_default());
        let mut findings = checked.findings.clone();
        if let Some(promised) = &self.promised {
            findings.extend(checked.breaking_changes(promised));
            crate::finding::sort(&mut findings);
        }
        self.findings = findings;
        self.is_checked = true;
    }
}

impl Documents {
    pub fn get(&self, uri: &Uri) -> Option<&Document> {
        self.open.get(uri.as_ref())
    }

    /// A document and the offset of a position in it.
    pub fn place(&self, params: &TextDocumentPositionParams) -> Option<(&Document, usize)> {
        let document = self.get(&params.text_document.uri)?;
        Some((document, offset(&document.source, params.position)))
    }

    pub fn open(&mut self, item: TextDocumentItem) {
        let path = path_of(&item.uri);
        let name = path.as_deref().and_then(|path| path.file_name()).map_or_else(
            || DESCRIPTION.to_owned(),
            |name| name.to_string_lossy().into_owned(),
        );
        let mut document = Document {
            uri: item.uri.clone(),
            source: Source::new(name, item.text),
            path,
            findings: Vec::new(),
            version: item.version,
            is_checked: false,
            promised: None,
        };
        document.read_promised();
        self.open.insert(item.uri.to_string(), document);
    }

    pub fn change(&mut self, params: DidChangeTextDocumentParams) {
        let identifier = params.text_document;
        let Some(document) = self
            .open
            .get_mut(identifier.text_document_identifier.uri.as_ref())
        else {
            return;
        };
        // Each change contains the whole text.
        if let Some(TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(change)) =
            params.content_changes.into_iter().next_back()
        {
            document.set_text(change.text, identifier.version);
        }
    }

    /// Reads the other files of the crate again after a file was saved or the crate was regenerated.
    pub fn saved(&mut self, uri: &Uri) {
        if let Some(document) = self.open.get_mut(uri.as_ref()) {
            document.read_promised();
            document.is_checked = false;
        }
    }

    pub fn close(&mut self, uri: Uri) {
        if self.open.remove(uri.as_ref()).is_some() {
            self.closed.push(uri);
        }
    }

    /// The findings of each text that has changed since the last call.
    pub fn findings(&mut self) -> Vec<PublishDiagnosticsParams> {
        let withdrawn = std::mem::take(&mut self.closed).into_iter();
        let mut published: Vec<PublishDiagnosticsParams> = withdrawn
            .map(|uri| PublishDiagnosticsParams {
                uri,
                version: None,
                diagnostics: Vec::new(),
            })
            .collect();
        for document in self.open.values_mut().filter(|document| !document.is_checked) {
            document.check();
            let document = &*document;
            let findings = document.findings.iter();
            published.push(PublishDiagnosticsParams {
                uri: document.uri.clone(),
                version: Some(document.version),
                diagnostics: findings.map(|finding| diagnostic(document, finding)).collect(),
            });
        }
        published
    }
}

/// Replacements of parts of a text in the form of the protocol.
pub(super) fn text_edits(source: &Source, edits: &[(Span, String)]) -> Vec<TextEdit> {
    let edits = edits.iter();
    edits
        .map(|(span, text)| TextEdit::new(range(source, *span), text.clone()))
        .collect()
}

/// A finding in the form of the protocol.
pub(super) fn diagnostic(document: &Document, finding: &Finding) -> Diagnostic {
    let mut message = finding.message.clone();
    let mut add = |line: &str| {
        message.push('\n');
        message.push_str(line);
    };
    finding.label.iter().for_each(|label| add(label));
    if let Some(path) = path_to_text(&document.source, finding) {
        add(&path);
    }
    finding
        .notes
        .iter()
        .chain(&finding.help)
        .for_each(|line| add(line));
    let related = finding
        .related
        .iter()
        .map(|(span, label)| DiagnosticRelatedInformation {
            location: Location::new(document.uri.clone(), range(&document.source, *span)),
            message: label.clone(),
        });
    let related: Vec<DiagnosticRelatedInformation> = related.collect();
    Diagnostic {
        range: range(&document.source, finding.span),
        severity: Some(match finding.rule.severity {
            Severity::Error => DiagnosticSeverity::Error,
            Severity::Warning => DiagnosticSeverity::Warning,
            // Infos are shown on request only; of all severities, editors show hints least prominently.
            Severity::Info => DiagnosticSeverity::Hint,
        }),
        code: Some(finding.rule.name.to_owned().into()),
        source: Some("krator".to_owned()),
        message: message.into(),
        related_information: (!related.is_empty()).then_some(related),
        ..Default::default()
    }
}

/// The characters of a path that a URI escapes.
const IN_PATHS: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'{')
    .add(b'}')
    .add(b'[')
    .add(b']')
    .add(b'^')
    .add(b'|')
    .add(b'\\');

/// The file of a URI.
pub(super) fn path_of(uri: &Uri) -> Option<PathBuf> {
    let path = uri.as_ref().strip_prefix("file://")?;
    let path = percent_decode_str(path).decode_utf8().ok()?;
    path.starts_with('/').then(|| PathBuf::from(path.as_ref()))
}

/// The URI of a file.
pub(super) fn uri_of(path: &Path) -> Uri {
    let path = path.to_string_lossy();
    Uri::from(format!("file://{}", utf8_percent_encode(&path, IN_PATHS)))
}
