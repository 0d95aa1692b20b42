//! Builds a change of a schema: what the API server does with objects, what clients notice, and where it is written.

use super::place::{self, Part};
use super::resource::Pair;
use super::value_test::ValueTest;
use super::{Change, ChangeKind, PathStep, SchemaPath, ServerOutcome, Stored, Verdict};

/// A change of a schema whose place in the descriptions is not known yet.
pub(super) struct SchemaChange<'p> {
    what: ChangeKind,
    path: SchemaPath,
    part: Part<'p>,
    message: String,
    verdict: Option<Verdict>,
    clients: Option<&'static str>,
    readers: Option<&'static str>,
    test: ValueTest,
    help: Option<&'static str>,
    is_gone: bool,
}

impl<'p> SchemaChange<'p> {
    /// A change that breaks nothing.
    pub(crate) fn safe(
        what: ChangeKind,
        path: &SchemaPath,
        part: Part<'p>,
        message: impl Into<String>,
    ) -> Self {
        SchemaChange {
            what,
            path: path.clone(),
            part,
            message: format!("`{path}` {}", message.into()),
            verdict: None,
            clients: None,
            readers: None,
            test: ValueTest::Unknown,
            help: None,
            is_gone: false,
        }
    }

    /// A change that forbids some values: an object with such a value is refused, unless it was stored with it before.
    pub fn refused(
        what: ChangeKind,
        path: &SchemaPath,
        part: Part<'p>,
        message: impl Into<String>,
        test: ValueTest,
    ) -> Self {
        SchemaChange {
            verdict: Some(Verdict {
                anew: ServerOutcome::Refused,
                updated: ServerOutcome::Kept,
                unchanged: path.clone(),
                is_readable: true,
            }),
            clients: Some("requests with such a value are refused"),
            test,
            ..SchemaChange::safe(what, path, part, message)
        }
    }

    /// The operator's Rust types cannot represent such a value.
    pub fn unreadable(mut self) -> Self {
        if let Some(verdict) = &mut self.verdict {
            verdict.is_readable = false;
        }
        self
    }

    pub(crate) fn outcomes(mut self, anew: ServerOutcome, updated: ServerOutcome) -> Self {
        if let Some(verdict) = &mut self.verdict {
            (verdict.anew, verdict.updated) = (anew, updated);
        }
        self
    }

    /// Ratcheting does not apply here: the API server cannot tell that the value is unchanged.
    pub(crate) fn not_spared(mut self) -> Self {
        if let Some(verdict) = &mut self.verdict
            && (verdict.anew, verdict.updated) == (ServerOutcome::Refused, ServerOutcome::Kept)
        {
            verdict.updated = ServerOutcome::Refused;
        }
        self
    }

    pub fn unchanged(mut self, path: SchemaPath) -> Self {
        if let Some(verdict) = &mut self.verdict {
            verdict.unchanged = path;
        }
        self
    }

    pub fn clients(mut self, meet: &'static str) -> Self {
        self.clients = Some(meet);
        self
    }

    /// What clients that only read the value notice. Clients of `.status` only read.
    pub fn readers(mut self, meet: &'static str) -> Self {
        self.readers = Some(meet);
        self
    }

    pub fn help(mut self, help: &'static str) -> Self {
        self.help = Some(help);
        self
    }

    pub fn gone(mut self) -> Self {
        self.is_gone = true;
        self
    }

    pub(crate) fn into_change(mut self, pair: &Pair<'_>) -> Change {
        let is_status = self.path.is_status();
        if let Some(verdict) = &mut self.verdict {
            // The API server compares items of a list by their index, so the whole list has to be unchanged.
            let until = verdict
                .unchanged
                .0
                .iter()
                .position(|step| *step == PathStep::Items);
            verdict.unchanged.0.truncate(until.unwrap_or(usize::MAX));
        }
        if is_status && let Some(verdict) = &mut self.verdict {
            // The API server drops `.status` when an object is created.
            verdict.anew = ServerOutcome::Kept;
        }
        let breaks = |verdict: &Verdict| {
            (verdict.anew, verdict.updated, verdict.is_readable)
                != (ServerOutcome::Kept, ServerOutcome::Kept, true)
        };
        let stored = self.verdict.filter(breaks).map_or(Stored::Keep, Stored::May);
        let clients = if is_status {
            self.readers
        } else {
            self.clients.or(self.readers)
        };
        let old = place::of(pair.old_description, pair.old, &self.path, self.part);
        let new = place::of(pair.new_description, pair.new, &self.path, self.part);
        Change {
            what: self.what,
            kind: Some(pair.new.resource.kind.to_string()),
            path: Some(self.path),
            message: self.message,
            new,
            old: Some(old),
            is_gone: self.is_gone,
            may_be_renamed: false,
            stored,
            clients,
            help: self.help.map(str::to_owned),
            test: self.test,
        }
    }
}
