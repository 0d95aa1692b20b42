//! Reading and checking a description, from the text to the findings. Every command begins with this part of the
//! pipeline.

use crate::compare;
use crate::finding::{self, Finding, Source};
use crate::model::{self, Description};
use crate::rules;
use crate::spec::{self, Files};

/// The text of a description, with its model and its findings.
#[derive(Debug)]
pub struct Checked {
    /// The text.
    pub source: Source,
    /// The model, if the text could be read. Generate from [`Checked::sound`] instead: this one may have errors.
    pub description: Option<Description>,
    /// Whether reading gave no errors. Otherwise the model has harmless placeholders for unreadable parts.
    pub is_complete: bool,
    /// All findings, in the order of the text.
    pub findings: Vec<Finding>,
}

/// Reads and checks a description that has no folder, so files that it names are missing. Findings show `name` as its
/// file name.
pub fn check(name: &str, bytes: &[u8]) -> Checked {
    check_with(name, bytes, &Files::default())
}

/// Reads and checks a description. Findings show `name` as its file name, and `files` has the contents of
/// [`spec::named_files`].
pub fn check_with(name: &str, bytes: &[u8], files: &Files) -> Checked {
    let (source, mut findings) = spec::source_of(name, bytes);
    if !findings.is_empty() {
        return Checked {
            source,
            description: None,
            is_complete: false,
            findings,
        };
    }
    let (documents, found) = spec::parse(&source);
    let is_readable = found.is_empty() || !documents.is_empty();
    findings.extend(found);
    let mut description = None;
    let mut is_complete = false;
    if is_readable {
        let (lowered, found) = model::lower(&source, &documents, files);
        // The tree of a large text takes as much memory as its model: free it before the rules allocate theirs.
        drop(documents);
        findings.extend(found);
        is_complete = !finding::has_errors(&findings);
        if let Some(description) = &lowered {
            findings.extend(rules::findings(description, is_complete));
        }
        description = lowered;
    }
    finding::sort(&mut findings);
    Checked {
        source,
        description,
        is_complete,
        findings,
    }
}

impl Checked {
    /// The description, if it has no errors.
    pub fn sound(&self) -> Option<&Description> {
        let description = self.description.as_ref();
        description.filter(|_| !finding::has_errors(&self.findings))
    }

    /// A finding for each change since `former` that breaks stored objects or clients, except those that the findings
    /// of this description contain already. If either description has errors, they cannot be compared, and the result
    /// is empty.
    pub fn breaking_changes(&self, former: &Checked) -> Vec<Finding> {
        let (Some(former), Some(now)) = (former.sound(), self.sound()) else {
            return Vec::new();
        };
        let is_new = |finding: &Finding| {
            let mut there = self.findings.iter();
            !there.any(|there| (there.rule, there.span) == (finding.rule, finding.span))
        };
        compare::findings(former, now, &self.source)
            .into_iter()
            .filter(is_new)
            .collect()
    }
}
