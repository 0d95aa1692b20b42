//! A kind before and after an edit, and its changes.

use super::affected::Affected;
use super::{Change, ChangeKind, Stored};
use crate::finding::Span;
use crate::model::{Description, Kind, KindLineage, Lineage};

/// A kind that both descriptions have, with the matches of its states.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub old_description: &'a Description,
    pub old: &'a Kind,
    pub new_description: &'a Description,
    pub new: &'a Kind,
    pub lineage: &'a KindLineage,
}

/// The kinds that both descriptions have, in the order of the new one.
pub(super) fn pairs<'a>(old: &'a Description, new: &'a Description, lineage: &'a Lineage) -> Vec<Pair<'a>> {
    let kinds = lineage.kinds().iter().map(|lineage| Pair {
        old_description: old,
        old: old.kind(lineage.former),
        new_description: new,
        new: new.kind(lineage.now),
        lineage,
    });
    kinds.collect()
}

impl<'a> Pair<'a> {
    /// An empty list of changes.
    pub fn changes(&self) -> FoundChanges<'a> {
        FoundChanges::of(Some(self.new))
    }
}

/// The changes found until now, all of one kind or of the whole operator.
pub(super) struct FoundChanges<'a> {
    kind: Option<&'a Kind>,
    pub found: Vec<Change>,
}

impl<'a> FoundChanges<'a> {
    pub fn of(kind: Option<&'a Kind>) -> Self {
        FoundChanges {
            kind,
            found: Vec::new(),
        }
    }

    /// Adds an addition, which breaks nothing.
    pub fn added(&mut self, what: ChangeKind, message: impl Into<String>, new: Span) -> &mut Change {
        self.found.push(Change {
            what,
            kind: self.kind.map(|kind| kind.resource.kind.to_string()),
            path: None,
            versions: Vec::new(),
            message: message.into(),
            new,
            old: None,
            is_gone: false,
            may_be_renamed: false,
            proposal: None,
            stored: Stored::Keep,
            clients: None,
            help: None,
            affected: Affected::Every,
        });
        let last = self.found.len() - 1;
        &mut self.found[last]
    }

    /// Adds a change of a part at the place `old`, which breaks nothing.
    pub fn changed(
        &mut self,
        what: ChangeKind,
        message: impl Into<String>,
        old: Span,
        new: Span,
    ) -> &mut Change {
        let change = self.added(what, message, new);
        change.old = Some(old);
        change
    }

    /// Adds a removal of a part at the place `old` from the place `new`, which breaks nothing.
    pub fn gone(
        &mut self,
        what: ChangeKind,
        message: impl Into<String>,
        old: Span,
        new: Span,
    ) -> &mut Change {
        let change = self.changed(what, message, old, new);
        change.is_gone = true;
        change
    }
}
