//! How an object comes into a state: as a new object, as one that a restarted operator finds, or over an edge.
use super::{Cause, Engine, Moved, Now, UNSLOWED_ENTRIES, reason::Reason};
use crate::{
    conditions::SetCondition,
    field_value::FieldValue,
    graph::{Graph, STANDARD_CONDITIONS, StateId, Times},
    status::{EntryId, MachineStatus},
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
            entry: EntryId::new(0),
            entered: now.elapsed,
            entered_at: now.time,
            before: Duration::ZERO,
            runs: 0,
            attempts: 0,
            stored_attempts: 0,
            reason: None,
            message: None,
            next_message: None,
            unstored: None,
            is_entry_written: false,
            has_begun: false,
            entries: BTreeMap::new(),
            requested: None,
            pinned_request: None,
            handled: stored.and_then(|s| s.last_handled_request.as_deref().map(Into::into)),
            pausing: false,
            field_values,
            due: None,
            overdue: false,
            hops: 0,
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
            None => engine.enter(graph.initial(), Cause::Created, Reason::Evident, now),
            Some((stored, name)) => engine.resume(stored, graph.find(name), now),
        }
        engine
    }

    fn resume(&mut self, stored: &MachineStatus, found: Option<StateId>, now: Now) {
        self.observed = stored.observed_generation.unwrap_or(-1);
        let entered_for = stored.reconciling_generation().unwrap_or(0);
        // A status of a runtime that did not remember it yet has 0 until a run has dealt with a generation.
        let is_known = self.observed >= 0 || entered_for > 0;
        self.judged = if is_known {
            self.observed.max(entered_for)
        } else {
            self.generation
        };
        self.entered_for = self.judged;
        for (name, count) in &stored.entries {
            if let Some(id) = self.graph.find(name) {
                self.entries.insert(id, *count);
            }
        }
        let Some(found) = found else { return };
        self.at = Some(found);
        self.entered_at = stored.state_entered_time.unwrap_or(now.time);
        self.before = Duration::try_from(now.time.duration_since(self.entered_at)).unwrap_or_default();
        let policy = self.graph.state(found);
        // A handler that is not written has begun nothing that would have to be resumed elsewhere.
        if let Some(elsewhere) = policy.resume.filter(|_| policy.written) {
            return self.enter(elsewhere, Cause::Restarted, self.restarted(policy), now);
        }
        self.is_entry_written = true;
        self.entry = stored.entry.unwrap_or(EntryId::new(now.random));
        self.attempts = stored.attempts.unwrap_or(0);
        self.stored_attempts = self.attempts;
        if self.attempts > 0 {
            self.message = self.own_message(stored);
        } else {
            self.reason = self.own_message(stored);
        }
        self.due = Some(now.elapsed);
        self.overdue = policy.written && self.deadline(now).is_some_and(|end| end <= now.elapsed);
    }

    pub(super) fn enter(&mut self, mut to: StateId, mut cause: Cause, mut reason: Reason, now: Now) {
        let (from, stayed) = (self.policy(), self.in_state_for(now));
        // A cycle of limits ends where it began: one entry counts only once.
        let mut passed = Vec::new();
        while let Some((times, then)) = self.graph.state(to).limit
            && !passed.contains(&to)
        {
            passed.push(to);
            let count = self.entries.entry(to).or_default();
            *count = count.saturating_add(1);
            let most = match times {
                Times::Fixed(times) => Some(times),
                Times::FromField(field) => match self.field_values.get(usize::from(field)) {
                    Some(Some(FieldValue::Number(times))) => Some(*times),
                    _ => None,
                },
            };
            let Some(most) = most.filter(|most| *count > *most) else {
                break;
            };
            (cause, reason) = (Cause::LimitReached, reason.full(self.graph.state(to), most));
            to = then;
        }
        self.carry_conditions();
        if let Some(unstored) = self.unstored.as_deref_mut() {
            unstored.set_before.append(&mut unstored.set);
        }
        (self.is_entry_written, self.has_begun) = (false, false);
        self.hops = self.hops.saturating_add(1);
        let slowed = self.hops >= UNSLOWED_ENTRIES;
        self.at = Some(to);
        self.entry = EntryId::new(now.random);
        (self.entered, self.entered_at, self.before) = (now.elapsed, now.time, Duration::ZERO);
        (self.runs, self.attempts, self.message, self.overdue) = (0, 0, None, false);
        self.reason = reason.beside(self.graph.state(to).message);
        let moved = Moved {
            from,
            to: self.graph.state(to),
            cause,
            entry: self.entry,
            stayed,
            slowed: self.hops == UNSLOWED_ENTRIES,
            reason: self.reason.clone(),
        };
        self.unstored.get_or_insert_default().moves.push(moved);
        (self.stored_attempts, self.entered_for) = (0, self.judged);
        self.tell_digests();
        self.finished = false;
        self.due = Some(
            now.elapsed
                + if slowed {
                    Duration::from_secs(1)
                } else {
                    Duration::ZERO
                },
        );
    }

    /// Carries the conditions of the current state into the write of the next one, if its handler ran and its status was
    /// never written: it may have no checkpoint, or the write may have failed during a deletion, which does not wait for
    /// it. A state that was left before its handler ran counts as passed over.
    fn carry_conditions(&mut self) {
        let Some(policy) = self.policy().filter(|_| self.has_begun && !self.is_entry_written) else {
            return;
        };
        let message = self.shown_message(policy).to_owned();
        let of_state = policy
            .conditions
            .iter()
            .filter(|(kind, _)| !STANDARD_CONDITIONS.contains(kind))
            .map(|(kind, status)| SetCondition {
                kind: (*kind).to_owned(),
                status: (*status).to_owned(),
                reason: policy.name.to_owned(),
                message: message.clone(),
            });
        self.unstored.get_or_insert_default().set_before.extend(of_state);
    }
}
