//! `krator` turns one description of a custom resource and its state graph into a complete Kubernetes operator.
//!
//! The way of the data is one line: text -> [`spec`] (the tree as written) -> [`model`] (the description as meant)
//! -> findings of [`rules`] -> plan -> changes -> disk. Everything up to the plan is pure and deterministic.

// Tests may touch what they like.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_macros))]

// In the order of the layers, lowest first: each room knows those above it in this list only.
pub mod text;
pub mod names;
pub mod catalog;
pub mod finding;
pub mod spec;
pub mod model;
pub mod graph;
pub mod rules;
pub mod plan;
pub mod changes;
pub mod record;
pub mod render;
pub mod compare;
pub mod code;
pub mod drift;
#[allow(
    clippy::disallowed_methods,
    reason = "the one room that touches the file system"
)]
pub mod disk;

use finding::{Finding, Source};
use model::Description;

/// What there is to say about a text, and what it means if it means anything.
#[derive(Debug)]
pub struct Checked {
    /// The text.
    pub source: Source,
    /// The model: generate from it only when no finding is an error.
    pub description: Option<Description>,
    /// All findings, in the order of the text.
    pub findings: Vec<Finding>,
}

impl Checked {
    /// The description, if nothing is wrong with it.
    pub fn sound(&self) -> Option<&Description> {
        let description = self.description.as_ref();
        description.filter(|_| !finding::has_errors(&self.findings))
    }
}

/// Reads and judges a description; `name` is what findings call the file.
pub fn check(name: &str, bytes: &[u8]) -> Checked {
    let (source, mut findings) = spec::source_of(name, bytes);
    if !findings.is_empty() {
        return Checked {
            source,
            description: None,
            findings,
        };
    }
    let (documents, found) = spec::parse(&source);
    let is_readable = found.is_empty() || !documents.is_empty();
    findings.extend(found);
    let mut description = None;
    if is_readable {
        let (built, found) = model::lower(&source, &documents);
        // The tree of a large text is as large as its model: rules work in the room that it leaves.
        drop(documents);
        findings.extend(found);
        findings.extend(found_by_rules(built.as_ref(), &findings));
        description = built;
    }
    finding::sort(&mut findings);
    Checked {
        source,
        description,
        findings,
    }
}

/// Reads and judges a description as [`check`] does, and against its former text: what the edit breaks is a finding
/// too. Nothing is said of that while either of them has errors of its own.
pub fn check_against(former: &[u8], name: &str, bytes: &[u8]) -> Checked {
    let mut checked = check(name, bytes);
    if former == bytes {
        return checked;
    }
    let old = check(name, former);
    if let (Some(old_description), Some(description)) = (&old.description, &checked.description)
        && !finding::has_errors(&old.findings)
        && !finding::has_errors(&checked.findings)
    {
        checked
            .findings
            .extend(compare::findings(old_description, description));
        finding::sort(&mut checked.findings);
    }
    checked
}

fn found_by_rules(description: Option<&Description>, reading: &[Finding]) -> Vec<Finding> {
    description
        .map(|description| rules::findings(description, !finding::has_errors(reading)))
        .unwrap_or_default()
}
