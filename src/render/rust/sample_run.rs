//! The path of the sample of a kind with the initial handlers, which the generated tests can expect.

use std::time::Duration;

use serde_json::Value as Json;

use crate::model::{FieldPath, Kind, PathRoot, Period, Segment, State, StateId, StateKind};

/// The sample of a kind with the initial handlers.
pub(super) struct SampleRun<'a> {
    pub(super) kind: &'a Kind,
    /// The sample as it is stored.
    pub(super) sample: &'a Json,
}

impl<'a> SampleRun<'a> {
    /// The states that the sample enters, until it stays in one or comes back to one, or until its path depends on a
    /// time in a field.
    pub(super) fn path(&self, from: StateId, is_deleted: bool) -> Vec<&'a State> {
        // The tests of a new crate do not approve, and deletions do not wait for approvals.
        let needs_approval = |to: &StateId| !is_deleted && self.kind.state(*to).needs_approval();
        let (mut path, mut at): (Vec<&State>, _) = (Vec::new(), Some(from));
        while let Some(state) = at.map(|at| self.kind.state(at)) {
            if path.iter().any(|passed| passed.name.value == state.name.value) {
                break;
            }
            path.push(state);
            at = self.leads_to(state).filter(|to| !needs_approval(to));
        }
        path
    }

    /// Whether the sample is removed in the end when it is deleted.
    pub(super) fn ends_when_deleted(&self) -> bool {
        let ends = |from: &StateId| {
            let path = self.path(*from, true);
            path.last()
                .is_some_and(|last| last.kind.value == StateKind::Final)
        };
        let machine = &self.kind.machine;
        machine.deletion.is_some() && machine.deletion_entries.iter().all(ends)
    }

    /// Whether another run of the handler leaves the sample in the state where its path ends. It does not if the
    /// handler waits for the time in an absent field: its second run, which an error causes, chooses an edge.
    pub(super) fn rests(&self, state: &State) -> bool {
        let poll = state.wait.as_ref().and_then(|wait| wait.poll.as_ref());
        let never = poll.is_some_and(|poll| self.period(&poll.value) == Some(None));
        !(never && state.kind.value == StateKind::Working)
    }

    fn leads_to(&self, state: &State) -> Option<StateId> {
        if state.kind.value != StateKind::Working {
            return None;
        }
        let timeout = match &state.timeout {
            Some(timeout) => self
                .period(&timeout.after()?.value)?
                .map(|after| (after, timeout.to.value)),
            None => None,
        };
        let Some(next) = state.next.first() else {
            return timeout.map(|(_, to)| to);
        };
        let stays = match state.wait.as_ref().and_then(|wait| wait.poll.as_ref()) {
            Some(poll) => self.period(&poll.value)?.unwrap_or(Duration::MAX),
            None => Duration::ZERO,
        };
        match timeout {
            Some((after, to)) if after <= stays => Some(to),
            _ => (stays < Duration::MAX).then_some(next.to.value),
        }
    }

    /// The time; the inner `None` if the field with the time is absent, and the outer `None` if the field is present.
    fn period(&self, period: &Period) -> Option<Option<Duration>> {
        match period {
            Period::Fixed(time) => Some(Some(*time)),
            Period::Field(field) => self.value(&field.path).is_none().then_some(None),
        }
    }

    fn value(&self, path: &FieldPath) -> Option<&Json> {
        let root = match path.root {
            PathRoot::Spec => "spec",
            PathRoot::Status => "status",
            PathRoot::Metadata | PathRoot::Label(_) => "metadata",
        };
        let mut at = self.sample.get(root)?;
        for segment in &path.segments {
            let Segment::Field(field) = segment else {
                return Some(at);
            };
            at = at.get(field)?;
        }
        (!at.is_null()).then_some(at)
    }
}
