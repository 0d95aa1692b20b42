//! What the edit of a description means for what exists already: stored objects, the clients of the API, and the
//! states that objects are in.
//!
//! Two descriptions in, a list of changes out; pure. Schemas are compared as the API server sees them, in the CRDs of
//! both, so that named types and those of Kubernetes count as what they expand to. What is said of stored objects is
//! what an API server does that spares unchanged parts of them ("ratcheting", always on since 1.33); the integration
//! tests hold every verdict to a real one. No object is looked at here but by [`Change::breaks`].

mod bounds;
mod census;
mod change_kind;
mod graph;
mod path;
mod place;
mod report;
mod resource;
mod schema;
mod schema_change;
mod value_test;

pub use census::{Census, Resource, census_to_text, resources};
pub use change_kind::ChangeKind;
pub use path::{SchemaPath, Step};
pub use report::{to_json, to_text};
pub use value_test::Breaks;

use crate::catalog::{BREAKING_SCHEMA, REUSED_NAME, STATE_REMOVED};
use crate::finding::{Finding, Source, Span};
use crate::model::{Description, Lineage};
use value_test::ValueTest;

/// Everything that an edit changes, kind by kind, in the order of the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The changes.
    pub changes: Vec<Change>,
}

/// One change and what it means.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// What sort of change it is.
    pub what: ChangeKind,
    /// The kind of the custom resource; none where the whole operator changes.
    pub kind: Option<String>,
    /// Where in the objects of the kind; none for what is no field.
    pub path: Option<SchemaPath>,
    /// The change, as a phrase.
    pub message: String,
    /// Its place in the new text; of what is gone, what it was part of.
    pub new: Span,
    /// Its place in the old text, if it had one.
    pub old: Option<Span>,
    /// Whether the old text alone shows it.
    pub is_gone: bool,
    /// What becomes of stored objects.
    pub stored: Stored,
    /// What breaks clients: requests that were right are refused or mean something else, or what they read is gone.
    pub clients: Option<&'static str>,
    /// What could be done.
    pub help: Option<String>,
    test: ValueTest,
}

/// What becomes of stored objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stored {
    /// Nothing: they stay valid, whole, and looked after.
    Keep,
    /// Some may break, as said.
    May(Verdict),
    /// They stay, and nothing moves them any more.
    Stranded,
    /// They go on in a state that is another one now: the name that they have stored was given to it.
    Misread,
    /// The API server does not take the new CRD as long as it has the old one.
    DefinitionRefused,
}

/// What an API server does with an object that a change of the schema concerns, and what the operator does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The object is created anew: restored, or applied to another cluster.
    pub anew: ServerOutcome,
    /// The object is stored, and something else in it is written.
    pub updated: ServerOutcome,
    /// What an update has to leave as it is to be spared.
    pub unchanged: SchemaPath,
    /// Whether the new operator can still read the object; one that it cannot is left alone.
    pub is_readable: bool,
}

/// What happens to an object on its way into the API server. Later ones are worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServerOutcome {
    /// It is taken, and nothing is lost.
    Kept,
    /// It is taken, but what the schema lacks is dropped; a client that asks for strict validation is refused.
    Lost,
    /// Merge patches are taken, but every server-side apply fails: of its status too, which the operator writes.
    ApplyFails,
    /// It is refused.
    Refused,
}

impl ServerOutcome {
    /// The word for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            ServerOutcome::Kept => "kept",
            ServerOutcome::Lost => "lost",
            ServerOutcome::ApplyFails => "applyFails",
            ServerOutcome::Refused => "refused",
        }
    }
}

impl Change {
    /// Whether stored objects or clients break.
    pub fn is_breaking(&self) -> bool {
        self.breaks_stored() || self.clients.is_some()
    }

    /// Whether stored objects break, or may.
    pub fn breaks_stored(&self) -> bool {
        self.stored != Stored::Keep
    }

    /// Whether this object of the kind, as the API server has stored it, is one that breaks.
    pub fn breaks(&self, object: &serde_json::Value) -> Breaks {
        match (&self.stored, &self.test) {
            // Of a state that was on its way out, only the objects tell whether anything is left in it.
            (Stored::Keep, test) if !matches!(test, ValueTest::InState(_)) => Breaks::No,
            (_, test) => test.of(object, self.path.as_ref()),
        }
    }

    /// The change as a finding about the new text.
    pub fn finding(&self) -> Finding {
        let rule = match self.what {
            ChangeKind::StateRemoved => &STATE_REMOVED,
            ChangeKind::StateNameReused => &REUSED_NAME,
            _ => &BREAKING_SCHEMA,
        };
        let mut finding = Finding::new(rule, self.new, self.message.as_str());
        finding.notes = report::meaning(self);
        finding.help = self.help.clone();
        match self.is_gone {
            true => finding.label("gone from here"),
            false => finding,
        }
    }
}

impl Comparison {
    /// Whether the API server takes every stored object as it is: created anew, and when something else in it is
    /// written. Whether the operator goes on with it is another matter: see [`Change::stored`].
    pub fn keeps_valid(&self) -> bool {
        self.changes.iter().all(|change| match &change.stored {
            Stored::Keep | Stored::Stranded | Stored::Misread => true,
            Stored::May(verdict) => {
                verdict.anew == ServerOutcome::Kept && verdict.updated == ServerOutcome::Kept
            }
            Stored::DefinitionRefused => false,
        })
    }

    /// Whether anything breaks.
    pub fn is_breaking(&self) -> bool {
        self.changes.iter().any(Change::is_breaking)
    }
}

/// Compares two descriptions without errors.
pub fn compare(old: &Description, new: &Description) -> Comparison {
    let lineage = Lineage::between(old, new);
    let pairs = resource::pairs(old, new, &lineage);
    let mut changes = resource::of_operator(old, new, &pairs);
    for pair in pairs {
        changes.extend(resource::of_kind(&pair));
        changes.extend(schema::of_kind(&pair));
        changes.extend(graph::of_kind(&pair));
    }
    Comparison { changes }
}

/// What breaks, as findings about the new description: `state-removed`, `breaking-schema`, and the warning `reused-name`
/// unless the description allows it.
pub fn findings(old: &Description, new: &Description) -> Vec<Finding> {
    let comparison = compare(old, new);
    let breaking = comparison.changes.iter().filter(|change| change.is_breaking());
    let mut findings: Vec<Finding> = breaking.map(Change::finding).collect();
    let states = new.kinds.iter().flat_map(|kind| &kind.states);
    let allowed: Vec<Span> = states
        .filter(|state| {
            state
                .allow
                .iter()
                .any(|allow| allow.rule.value == REUSED_NAME.name)
        })
        .flat_map(|state| state.renamed_from.iter().map(|former| former.span))
        .collect();
    findings.retain(|finding| *finding.rule != REUSED_NAME || !allowed.contains(&finding.span));
    crate::finding::sort(&mut findings);
    findings
}

/// Two descriptions with their texts.
#[derive(Debug, Clone, Copy)]
pub struct Texts<'a> {
    /// The old text.
    pub old: &'a Source,
    /// The new text.
    pub new: &'a Source,
}
