//! The consequences of an edit of a description for stored objects, for clients of the API, and for the states that
//! objects are in.
//!
//! It compares two descriptions and returns a list of changes, without input or output. Schemas are compared in the form
//! that they have in the CRDs, where named types and those of Kubernetes are expanded. Verdicts about stored objects
//! assume an API server that accepts invalid values as long as they are unchanged ("ratcheting", always on since 1.33);
//! integration tests check every verdict against a real API server. Only [`Change::breaks`] looks at objects.

mod affected;
mod census;
mod forecast;
mod change_kind;
mod graph;
mod json;
mod limits;
mod next;
mod objects;
mod owned;
mod pair;
mod path;
mod place;
mod policies;
mod proposal;
mod report;
mod resource;
mod schema;
mod schema_change;
mod versions;

pub use affected::Breaks;
pub use census::{Census, CensusReport, Listed, StoredResource, census_to_text, resources};
pub use change_kind::ChangeKind;
pub use forecast::{First, first_step};
pub use json::ComparisonReport;
pub use next::{Next, NextReport};
pub use path::{PathStep, SchemaPath};
pub use proposal::Proposal;
pub use report::to_text;

use crate::catalog::{
    BREAKING_SCHEMA, STATE_REMOVED, STORED_AT_ONCE, STORED_VERSION_REMOVED, VERSION_SKIPPED,
};
use crate::finding::{Finding, Source, Span};
use crate::model::{Description, Lineage};
use crate::names::VersionName;
use crate::rules::REUSED_NAME;
use affected::Affected;
use schemars::JsonSchema;
use serde::Serialize;

/// Everything that an edit changes, kind by kind, in the order of the new description.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The changes.
    pub changes: Vec<Change>,
}

/// A change with its consequences.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The kind of change.
    pub what: ChangeKind,
    /// The kind of the custom resource, or `None` if the change is about the whole operator.
    pub kind: Option<String>,
    /// The versions of the kind that the change is about, if both descriptions have several in common.
    pub versions: Vec<VersionName>,
    /// The path in objects of the kind, or `None` if the change is not about a field.
    pub path: Option<SchemaPath>,
    /// The change as a phrase.
    pub message: String,
    /// The place in the new description. For a removed part, it is the place of the part that contained it.
    pub new: Span,
    /// The place in the old description, if any.
    pub old: Option<Span>,
    /// Whether only the old description has a place to show.
    pub is_gone: bool,
    /// Whether a state was removed without a `renamedFrom`, and may be one of the new states under another name.
    pub may_be_renamed: bool,
    /// An older version for `versions` with which nothing breaks.
    pub proposal: Option<Proposal>,
    /// The consequences for stored objects.
    pub stored: Stored,
    /// The way in which the change breaks clients: valid requests are refused or change their meaning, or data is
    /// missing from responses.
    pub clients: Option<&'static str>,
    /// A remedy for the author.
    pub help: Option<String>,
    affected: Affected,
}

/// The number of changes that break stored objects, and of those that break clients. A change may do both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Broken {
    /// Changes that break stored objects, or may.
    pub stored: usize,
    /// Changes that break clients.
    pub clients: usize,
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let verb = |count: usize| if count == 1 { "breaks" } else { "break" };
        let Broken { stored, clients } = *self;
        write!(
            f,
            "{stored} {} stored objects, {clients} {} clients",
            verb(stored),
            verb(clients)
        )
    }
}

/// The consequences of a change for stored objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stored {
    /// None: objects stay valid and complete, and the operator still manages them.
    Keep,
    /// Some objects may break, according to the verdict.
    May(Verdict),
    /// Objects stay unchanged, and no operator manages them.
    Stranded,
    /// Objects continue in the wrong state, because the name of their stored state now belongs to another state.
    Misread,
    /// The API server rejects the new CRD while the old one exists.
    DefinitionRefused,
}

/// The reaction of the API server and the operator to an object that a change of the schema affects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The outcome if the object is created anew, for example restored or applied to another cluster.
    pub anew: ServerOutcome,
    /// The outcome if the object is stored already, and another part of it is written.
    pub updated: ServerOutcome,
    /// The value that an update must not change for ratcheting to apply.
    pub unchanged: SchemaPath,
    /// Whether the new operator can deserialize the object. It ignores objects that it cannot deserialize.
    pub is_readable: bool,
}

/// The reaction of the API server to a written object, from harmless to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ServerOutcome {
    /// It accepts the object unchanged.
    Kept,
    /// It accepts the object but drops fields that the schema lacks. Requests with strict validation are refused.
    Lost,
    /// It accepts merge patches, but every server-side apply fails, also the operator's to the status.
    ApplyFails,
    /// It refuses the object.
    Refused,
}

impl Change {
    /// Whether the change breaks stored objects or clients.
    pub fn is_breaking(&self) -> bool {
        self.breaks_stored() || self.clients.is_some()
    }

    /// Whether the change breaks, or may break, stored objects.
    pub fn breaks_stored(&self) -> bool {
        self.stored != Stored::Keep
    }

    /// Whether the change breaks this object of the kind, in the form in which the API server has stored it.
    pub fn breaks(&self, object: &serde_json::Value) -> Breaks {
        match (&self.stored, &self.affected) {
            // Only the stored objects show whether any is still in a legacy state.
            (Stored::Keep, affected) if !matches!(affected, Affected::InState(_)) => Breaks::No,
            (_, affected) => affected.of(object, self.path.as_ref()),
        }
    }

    /// The change as a finding about the new description with this text.
    pub fn finding(&self, text: &Source) -> Finding {
        let rule = match self.what {
            ChangeKind::StateRemoved => &STATE_REMOVED,
            ChangeKind::StateNameReused => &REUSED_NAME,
            ChangeKind::StoredAtOnce => &STORED_AT_ONCE,
            ChangeKind::StoredVersionRemoved => &STORED_VERSION_REMOVED,
            ChangeKind::VersionSkipped => &VERSION_SKIPPED,
            _ => &BREAKING_SCHEMA,
        };
        let mut finding = Finding::new(rule, self.new, self.message.as_str());
        finding.notes = report::meaning(self);
        finding.help = self.help.clone();
        finding.fix = self.proposal.as_ref().map(|proposal| proposal.fix(text));
        match self.is_gone {
            true => finding.label("removed from here"),
            false => finding,
        }
    }
}

impl Comparison {
    /// Whether the API server accepts every stored object unchanged, both when it is created anew and when another part
    /// of it is written. Whether the operator still manages the object is a separate question: see [`Change::stored`].
    pub fn keeps_valid(&self) -> bool {
        self.changes.iter().all(|change| match &change.stored {
            Stored::Keep | Stored::Stranded | Stored::Misread => true,
            Stored::May(verdict) => {
                verdict.anew == ServerOutcome::Kept && verdict.updated == ServerOutcome::Kept
            }
            Stored::DefinitionRefused => false,
        })
    }

    /// Whether any change breaks stored objects or clients.
    pub fn is_breaking(&self) -> bool {
        self.changes.iter().any(Change::is_breaking)
    }

    /// The number of changes that break stored objects, and of those that break clients.
    pub fn broken(&self) -> Broken {
        let count = |is: fn(&Change) -> bool| self.changes.iter().filter(|change| is(change)).count();
        Broken {
            stored: count(Change::breaks_stored),
            clients: count(|change| change.clients.is_some()),
        }
    }
}

/// Compares two descriptions without errors.
pub fn compare(old: &Description, new: &Description) -> Comparison {
    let lineage = Lineage::between(old, new);
    let pairs = pair::pairs(old, new, &lineage);
    let mut changes = resource::of_operator(old, new, &pairs);
    for pair in pairs {
        changes.extend(resource::of_kind(&pair));
        changes.extend(owned::of_kind(&pair));
        changes.extend(versions::of_kind(&pair));
        changes.extend(graph::of_kind(&pair));
    }
    Comparison { changes }
}

/// The breaking changes as findings about the new description with this text: errors, and the warnings `reused-name`
/// and `stored-at-once`, unless the description allows them.
pub fn findings(old: &Description, new: &Description, text: &Source) -> Vec<Finding> {
    findings_of(&compare(old, new), new, text, |_| true)
}

/// The [`findings`] for the breaking changes that `matters` accepts.
pub fn findings_of(
    comparison: &Comparison,
    new: &Description,
    text: &Source,
    matters: impl Fn(&Change) -> bool,
) -> Vec<Finding> {
    let is_allowed = |change: &Change| {
        let mut kinds = new.kinds.iter();
        let kind = kinds.find(|kind| change.kind.as_deref() == Some(kind.resource.kind.as_str()));
        kind.is_some_and(|kind| kind.allows(STORED_AT_ONCE.name))
    };
    let found = comparison.changes.iter().filter(|change| match change.what {
        ChangeKind::StoredAtOnce => !is_allowed(change),
        _ => change.is_breaking(),
    });
    let found = found.filter(|change| matters(change));
    let mut findings: Vec<Finding> = found.map(|change| change.finding(text)).collect();
    let states = new.kinds.iter().flat_map(|kind| &kind.states);
    let allowed: Vec<Span> = states
        .filter(|state| state.allows(REUSED_NAME.name))
        .flat_map(|state| state.renamed_from.iter().map(|former| former.span))
        .collect();
    findings.retain(|finding| *finding.rule != REUSED_NAME || !allowed.contains(&finding.span));
    crate::finding::sort(&mut findings);
    findings
}

/// Two descriptions with their texts.
#[derive(Debug, Clone, Copy)]
pub struct Texts<'a> {
    /// The former description.
    pub old: &'a Source,
    /// The new description.
    pub new: &'a Source,
}
