//! Entries into a state: of a new object, of an object that a restarted operator finds, or over an edge.
use super::{
    Cause, Engine, Moved, Now, Stay,
    limits::{Diverted, RateLimiter},
    reason::Reason,
};
use crate::{
    field_value::FieldValue,
    graph::{Graph, STANDARD_CONDITIONS, StateId},
    status::{Condition, EntryId, MachineStatus},
};
use std::{collections::BTreeMap, time::Duration};

impl<'g> Engine<'g> {
    /// The engine of an object with this stored status: a new object, or one that is found after a restart. The
    /// handler of its state is due, because events may have been missed.
    pub fn new(
        graph: &'g Graph<'g>,
        stored: Option<&MachineStatus>,
        generation: i64,
        field_values: Vec<Option<FieldValue>>,
        now: Now,
    ) -> Self {
        let mut engine = Self {
            graph,
            at: None,
            stay: Stay::new(EntryId::new(0), None, now),
            next_message: None,
            unstored: None,
            entries: BTreeMap::new(),
            measured: None,
            requested: None,
            pinned_request: None,
            handled: stored.and_then(|s| s.last_handled_request.as_deref().map(Into::into)),
            approved: 0,
            pausing: false,
            field_values,
            rate: RateLimiter::default(),
            fired: None,
            deleting: false,
            leave: None,
            generation,
            judged: generation,
            entered_for: generation,
            spec: None,
            pinned: generation,
            observed: -1,
            finished: false,
        };
        match stored.and_then(|s| Some((s, s.state.as_deref().filter(|name| !name.is_empty())?))) {
            None => engine.enter(graph.initial, Cause::Created, Reason::Evident, now),
            Some((stored, name)) => engine.resume(stored, graph.find(name), now),
        }
        engine
    }

    fn resume(&mut self, stored: &MachineStatus, found: Option<StateId>, now: Now) {
        self.observed = stored.observed_generation.unwrap_or(-1);
        let judged = stored.judged_generation();
        self.judged = if judged >= 0 { judged } else { self.generation };
        self.entered_for = self.judged;
        for (name, count) in &stored.entries {
            if let Some(id) = self.graph.find(name) {
                self.entries.insert(id, *count);
            }
        }
        let Some(found) = found else { return };
        self.at = Some(found);
        self.find_measurements(stored, now);
        self.find_fired_timeouts(stored);
        self.find_ask(stored);
        self.stay.entered_at = stored.state_entered_time.unwrap_or(now.time);
        self.stay.before =
            Duration::try_from(now.time.duration_since(self.stay.entered_at)).unwrap_or_default();
        let policy = self.graph.state(found);
        // A handler that is not written has started no work that `resume` would have to finish.
        if let Some(elsewhere) = policy.resume.filter(|_| policy.written) {
            return self.enter(elsewhere, Cause::Restarted, self.restarted(policy), now);
        }
        self.stay.is_written = true;
        self.stay.entry = stored.entry.unwrap_or(EntryId::new(now.random));
        self.stay.attempts = stored.attempts.unwrap_or(0);
        self.stay.stored_attempts = self.stay.attempts;
        if self.stay.attempts > 0 {
            self.stay.message = self.own_message(stored);
        } else {
            self.stay.reason = self.own_message(stored);
        }
        self.stay.due = Some(now.elapsed);
        self.stay.overdue = policy.written && self.deadline(now).is_some_and(|end| end <= now.elapsed);
    }

    pub(super) fn enter(&mut self, to: StateId, cause: Cause, reason: Reason, now: Now) {
        let (from, stayed) = (self.policy(), self.in_state_for(now));
        let by_grant = self.stay.is_granted && matches!(cause, Cause::Handler | Cause::TimedOut);
        let is_deleted = cause == Cause::Deleted;
        let Diverted {
            to,
            cause,
            reason,
            not_before,
        } = self.divert(to, cause, reason, now);
        self.carry_conditions();
        if let Some(unstored) = self.unstored.as_deref_mut() {
            unstored.set_before.append(&mut unstored.set);
        }
        let slowed = self.rate.enter(now);
        let ended = self.measure(to, is_deleted, now);
        let policy = self.graph.state(to);
        self.at = Some(to);
        self.stay = Stay::new(EntryId::new(now.random), reason.beside(policy.message), now);
        self.stay.by_grant = by_grant;
        let moved = Moved {
            from,
            to: policy,
            cause,
            entry: self.stay.entry,
            stayed,
            ended,
            slowed,
            reason: self.stay.reason.clone(),
        };
        self.unstored.get_or_insert_default().moves.push(moved);
        self.entered_for = self.judged;
        self.report_digests();
        self.finished = false;
        self.stay.due = Some(now.elapsed);
        self.stay.not_before = self.rate.next_entry().max(not_before);
    }

    /// Takes the entries that were not taken before. They are final only when the rendered status is stored:
    /// until then the API server may reject the status, or another operator may overwrite it.
    pub fn take_moves(&mut self) -> Vec<Moved<'g>> {
        let Some(mut unstored) = self.unstored.take() else {
            return Vec::new();
        };
        let moves = std::mem::take(&mut unstored.moves);
        if !unstored.set_before.is_empty() || !unstored.set.is_empty() {
            self.unstored = Some(unstored);
        }
        moves
    }

    /// Takes over the entries of the engine that this one replaces, up to the entry that turned out to be
    /// stored although the answer to its write was lost.
    pub fn keep_moves(&mut self, mut former: Vec<Moved<'g>>, stored: Option<EntryId>) {
        let known = former.iter().rposition(|moved| Some(moved.entry) == stored);
        former.truncate(known.map_or(0, |last| last + 1));
        if !former.is_empty() {
            let moves = &mut self.unstored.get_or_insert_default().moves;
            former.append(moves);
            *moves = former;
        }
    }

    /// Carries the conditions of the current state into the next write, if its handler ran and its status was
    /// never written: a state without a checkpoint may be left before its write, and a deletion does not wait
    /// for a failed write. A state that was left before its handler ran sets no conditions.
    fn carry_conditions(&mut self) {
        let Some(policy) = self
            .policy()
            .filter(|_| self.stay.has_begun && !self.stay.is_written)
        else {
            return;
        };
        let message = self.shown_message(policy).to_owned();
        let of_state = policy
            .conditions
            .iter()
            .filter(|(kind, _)| !STANDARD_CONDITIONS.contains(kind))
            .map(|(kind, status)| Condition::unstamped(kind, status, policy.name, message.as_str()));
        self.unstored.get_or_insert_default().set_before.extend(of_state);
    }
}
