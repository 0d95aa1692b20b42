//! A comparison in the JSON that `krator diff --format json` prints.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;
use std::collections::BTreeMap;

use super::report::{meaning, place};
use super::{Change, ChangeKind, Comparison, ServerOutcome, Stored, Texts};
use crate::finding::Place;
use crate::names::VersionName;

/// The changes by an edit of a description.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComparisonReport<'a> {
    /// Whether the API server takes each stored object as it is.
    pub stored_objects_stay_valid: bool,
    /// Whether the operator looks after each stored object as before.
    pub stored_objects_go_on: bool,
    /// Whether clients go on as before.
    pub clients_keep_working: bool,
    /// Each change.
    pub changes: Vec<ChangeReport<'a>>,
}

/// A change.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangeReport<'a> {
    /// Its kind, which never gets another name.
    pub change: ChangeKind,
    /// The change, in one sentence.
    pub message: &'a str,
    /// The kind of the objects that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'a str>,
    /// The path of the field that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What it breaks.
    pub breaks: Broken,
    /// The effect on stored objects, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored_objects: Option<StoredReport>,
    /// The description with the place: the former one where something is gone.
    pub file: &'a str,
    /// The place in the description.
    #[serde(flatten)]
    pub place: Place,
    /// The consequences, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<&'a str>,
    /// The versions of the API that it is about, if not all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<&'a str>,
    /// Keys for the description with which nothing breaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<ProposedVersions<'a>>,
}

/// What a change breaks.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Broken {
    /// Objects that are stored.
    pub stored_objects: bool,
    /// Clients, such as manifests and programs.
    pub clients: bool,
}

/// The effect on stored objects.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", untagged)]
pub enum StoredReport {
    /// The objects that do not match the new schema.
    Judged {
        /// If the object is created anew, for example restored or applied to another cluster.
        created_anew: ServerOutcome,
        /// If another part of the stored object is written.
        updated_elsewhere: ServerOutcome,
        /// The path of the value that must stay as it is, so that the API server spares it.
        spared_while_unchanged: String,
        /// Whether the new operator can decode the object.
        readable: bool,
    },
    /// They stay in a state that no operator looks after.
    Stranded {
        /// Always true.
        stranded: bool,
    },
    /// They go on in the wrong state.
    Misread {
        /// Always true.
        misread: bool,
    },
    /// The API server refuses the new definition as long as it has the old one.
    DefinitionRefused {
        /// Always true.
        definition_refused: bool,
    },
}

/// An older version for the key `versions` of the description.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProposedVersions<'a> {
    /// The version by its name, as the description has it.
    pub versions: BTreeMap<&'a str, &'a serde_json::Map<String, Json>>,
}

impl<'a> ComparisonReport<'a> {
    /// The report of a comparison.
    pub fn of(comparison: &'a Comparison, texts: Texts<'a>) -> Self {
        let changes = comparison.changes.iter();
        ComparisonReport {
            stored_objects_stay_valid: comparison.keeps_valid(),
            stored_objects_go_on: !comparison.changes.iter().any(Change::breaks_stored),
            clients_keep_working: comparison.changes.iter().all(|change| change.clients.is_none()),
            changes: changes.map(|change| ChangeReport::of(change, texts)).collect(),
        }
    }
}

impl<'a> ChangeReport<'a> {
    fn of(change: &'a Change, texts: Texts<'a>) -> Self {
        let (source, span) = place(change, texts);
        ChangeReport {
            change: change.what,
            message: &change.message,
            kind: change.kind.as_deref(),
            path: change.path.as_ref().map(ToString::to_string),
            breaks: Broken {
                stored_objects: change.breaks_stored(),
                clients: change.clients.is_some(),
            },
            stored_objects: match &change.stored {
                Stored::Keep => None,
                Stored::May(verdict) => Some(StoredReport::Judged {
                    created_anew: verdict.anew,
                    updated_elsewhere: verdict.updated,
                    spared_while_unchanged: verdict.unchanged.to_string(),
                    readable: verdict.is_readable,
                }),
                Stored::Stranded => Some(StoredReport::Stranded { stranded: true }),
                Stored::Misread => Some(StoredReport::Misread { misread: true }),
                Stored::DefinitionRefused => Some(StoredReport::DefinitionRefused {
                    definition_refused: true,
                }),
            },
            file: source.name(),
            place: Place::of(source, span),
            notes: meaning(change),
            help: change.help.as_deref(),
            versions: change.versions.iter().map(VersionName::as_str).collect(),
            proposal: change.proposal.as_ref().map(|proposal| {
                let (name, entry) = proposal.version();
                ProposedVersions {
                    versions: BTreeMap::from([(name, entry)]),
                }
            }),
        }
    }
}
