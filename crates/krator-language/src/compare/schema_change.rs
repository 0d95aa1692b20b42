//! Builds the changes of a schema, with their effects on stored objects and clients and their places in the
//! descriptions.

use super::affected::Affected;
use super::pair::Pair;
use super::place::{self, Part};
use super::{Change, ChangeKind, PathStep, SchemaPath, ServerOutcome, Stored, Verdict};

/// The changes of a schema found until now.
pub(super) struct SchemaChanges {
    found: Vec<SchemaChange>,
    /// Whether ratcheting applies to the compared value, because the API server can tell that it is unchanged.
    pub is_spared: bool,
}

/// A change of a schema, before its place in the descriptions is determined.
pub(super) struct SchemaChange {
    what: ChangeKind,
    path: SchemaPath,
    part: Part,
    message: String,
    verdict: Option<Verdict>,
    clients: Option<&'static str>,
    readers: Option<&'static str>,
    affected: Affected,
    help: Option<&'static str>,
    is_gone: bool,
    is_spared: bool,
}

impl SchemaChanges {
    pub fn new() -> Self {
        SchemaChanges {
            found: Vec::new(),
            is_spared: true,
        }
    }

    /// Adds a change that breaks nothing.
    pub fn safe(
        &mut self,
        what: ChangeKind,
        path: &SchemaPath,
        part: Part,
        message: impl AsRef<str>,
    ) -> &mut SchemaChange {
        self.found.push(SchemaChange {
            what,
            path: path.clone(),
            part,
            message: format!("`{path}` {}", message.as_ref()),
            verdict: None,
            clients: None,
            readers: None,
            affected: Affected::Unknown,
            help: None,
            is_gone: false,
            is_spared: self.is_spared,
        });
        let last = self.found.len() - 1;
        &mut self.found[last]
    }

    /// Adds a change that forbids some values: an object with such a value is refused, unless it was stored with the
    /// value before.
    pub fn refused(
        &mut self,
        what: ChangeKind,
        path: &SchemaPath,
        part: Part,
        message: impl AsRef<str>,
        affected: Affected,
    ) -> &mut SchemaChange {
        let change = self.safe(what, path, part, message);
        change.verdict = Some(Verdict {
            anew: ServerOutcome::Refused,
            updated: ServerOutcome::Kept,
            unchanged: path.clone(),
            is_readable: true,
        });
        change.clients = Some("requests with a value that is now invalid are refused");
        change.affected = affected;
        change
    }

    /// The changes with their places, in the order of the new description.
    pub fn into_changes(self, pair: &Pair<'_>) -> Vec<Change> {
        let changes = self.found.into_iter();
        let mut changes: Vec<Change> = changes.map(|change| change.into_change(pair)).collect();
        changes.sort_by_key(|change| change.new.start);
        changes
    }
}

impl SchemaChange {
    /// Sets that the operator's Rust types cannot represent such a value.
    pub fn unreadable(&mut self) -> &mut Self {
        if let Some(verdict) = &mut self.verdict {
            verdict.is_readable = false;
        }
        self
    }

    pub fn outcomes(&mut self, anew: ServerOutcome, updated: ServerOutcome) -> &mut Self {
        if let Some(verdict) = &mut self.verdict {
            (verdict.anew, verdict.updated) = (anew, updated);
        }
        self
    }

    pub fn unchanged(&mut self, path: SchemaPath) -> &mut Self {
        if let Some(verdict) = &mut self.verdict {
            verdict.unchanged = path;
        }
        self
    }

    pub fn clients(&mut self, meet: &'static str) -> &mut Self {
        self.clients = Some(meet);
        self
    }

    /// Sets the effect on clients that only read the value. Clients of `.status` only read.
    pub fn readers(&mut self, meet: &'static str) -> &mut Self {
        self.readers = Some(meet);
        self
    }

    pub fn help(&mut self, help: &'static str) -> &mut Self {
        self.help = Some(help);
        self
    }

    pub fn gone(&mut self) -> &mut Self {
        self.is_gone = true;
        self
    }

    fn into_change(mut self, pair: &Pair<'_>) -> Change {
        let is_status = self.path.is_status();
        if let Some(verdict) = &mut self.verdict {
            // Without ratcheting the API server cannot tell that the value is unchanged.
            if !self.is_spared
                && verdict.anew == ServerOutcome::Refused
                && verdict.updated == ServerOutcome::Kept
            {
                verdict.updated = ServerOutcome::Refused;
            }
            // The API server compares items of a list by their index, so the whole list has to be unchanged.
            let steps = &mut verdict.unchanged.0;
            let until = steps.iter().position(|step| *step == PathStep::Items);
            steps.truncate(until.unwrap_or(usize::MAX));
            if is_status {
                // The API server drops `.status` when an object is created.
                verdict.anew = ServerOutcome::Kept;
            }
        }
        let breaks = |verdict: &Verdict| {
            (verdict.anew, verdict.updated, verdict.is_readable)
                != (ServerOutcome::Kept, ServerOutcome::Kept, true)
        };
        let clients = if is_status {
            self.readers
        } else {
            self.clients.or(self.readers)
        };
        Change {
            what: self.what,
            kind: Some(pair.new.resource.kind.to_string()),
            new: place::of(pair.new_description, pair.new, &self.path, &self.part),
            old: Some(place::of(pair.old_description, pair.old, &self.path, &self.part)),
            path: Some(self.path),
            message: self.message,
            is_gone: self.is_gone,
            may_be_renamed: false,
            proposal: None,
            versions: Vec::new(),
            stored: self.verdict.filter(breaks).map_or(Stored::Keep, Stored::May),
            clients,
            help: self.help.map(str::to_owned),
            affected: self.affected,
        }
    }
}
