//! Older versions of a kind, each derived from the next newer one by its changes.

use krator_machine::versions::Change;

use super::{
    Admission, Column, Field, FieldPath, Kind, MomentUnit, Period, Scale, Schema, State, StateId, When,
};
use crate::finding::{Span, Spanned};
use crate::names::VersionName;

/// An older version.
#[derive(Debug, Clone, PartialEq)]
pub struct Version {
    /// Its name.
    pub name: Spanned<VersionName>,
    /// The warning for clients that use it, if it is deprecated.
    pub deprecated: Option<Spanned<String>>,
    /// Whether clients may use it.
    pub served: bool,
    /// The place of the key that makes this version the storage version.
    pub stored: Option<Span>,
    /// The changes from this version to the next newer one, in order.
    pub changes: Vec<Spanned<Change>>,
    /// Rules of the next newer version about changed fields, which this version lacks.
    pub lost: Vec<Spanned<String>>,
    /// `.spec` in this version.
    pub spec: Schema,
    /// The fields of the description in `.status` in this version.
    pub status: Vec<Field>,
    /// Its printer columns before the default ones.
    pub columns: Vec<Column>,
    /// Its scale subresource.
    pub scale: Option<Scale>,
    /// The fields that field selectors may use in it.
    pub selectable_fields: Vec<Spanned<FieldPath>>,
}

/// The units of numbers that are converted to durations: the names in descriptions, and the units of durations.
pub const DURATION_UNITS: [(&str, &str); 4] = [
    ("milliseconds", "ms"),
    ("seconds", "s"),
    ("minutes", "m"),
    ("hours", "h"),
];

impl Kind {
    /// The kind as clients of an older version see it.
    pub fn in_version(&self, version: &Version) -> Kind {
        let mut kind = self.clone();
        kind.resource.version = version.name.clone();
        kind.resource.scale = version.scale.clone();
        kind.resource.selectable_fields = version.selectable_fields.clone();
        kind.spec = version.spec.clone();
        kind.status = version.status.clone();
        kind.columns = version.columns.clone();
        kind
    }

    /// The names of all versions, the newest first.
    pub fn version_names(&self) -> impl Iterator<Item = &Spanned<VersionName>> {
        let older = self.versions.iter().map(|version| &version.name);
        std::iter::once(&self.resource.version).chain(older)
    }

    /// Whether objects are converted between the versions of the kind, because schemas differ.
    pub fn converts(&self) -> bool {
        self.versions.iter().any(|version| !version.changes.is_empty())
    }

    /// Whether the operator keeps digests of the spec in the status: of the fields whose changes states distinguish,
    /// and of the whole spec if a conversion may change it without a new generation.
    pub fn keeps_digests(&self) -> bool {
        self.converts() || !self.watched_fields().is_empty()
    }

    /// Whether the operator records in the status which timeouts have fired: those at a point in time.
    pub fn remembers_timeouts(&self) -> bool {
        let mut timeouts = self.states.iter().filter_map(|state| state.timeout.as_ref());
        timeouts.any(|timeout| match &timeout.when {
            When::After(after) => {
                matches!(&after.value, Period::Field(field) if field.unit == MomentUnit::Instant)
            }
            When::At(..) => true,
        })
    }

    /// Whether objects may have to wait before they enter some states.
    pub fn has_gates(&self) -> bool {
        !self.limits.is_empty() || self.states.iter().any(|state| state.gate.is_some())
    }

    /// Whether entries of objects into some states have to be approved.
    pub fn needs_approvals(&self) -> bool {
        self.states.iter().any(State::needs_approval)
    }

    /// Whether policies of the API server guard the objects.
    pub fn has_policies(&self) -> bool {
        self.admission != Admission::default() || self.needs_approvals() || self.converts()
    }

    /// The gates for a transition by a handler or a timeout: limits that count the target state but not the source
    /// state, and the gate of the target state.
    pub fn gates_between(&self, from: StateId, to: StateId) -> impl Iterator<Item = Span> {
        let limits = self.limits.iter();
        let limits = limits.filter(move |limit| limit.is_entered(from, to));
        let gate = self.state(to).gate.as_ref().map(|gate| gate.span);
        limits.map(|limit| limit.span).chain(gate)
    }

    /// Whether functions of the author convert some of the values.
    pub fn has_functions(&self) -> bool {
        let mut changes = self.versions.iter().flat_map(|version| &version.changes);
        changes.any(|change| matches!(change.value, Change::Custom { .. }))
    }

    /// The name of the version in which objects are stored.
    pub fn stored_version(&self) -> &VersionName {
        let older = self.versions.iter().find(|version| version.stored.is_some());
        older.map_or(&self.resource.version.value, |older| &older.name.value)
    }
}
