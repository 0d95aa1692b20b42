//! Renders the machine's part of `.status` from the engine.
use super::{Engine, Now};
use crate::{
    conditions,
    graph::{Policy, STANDARD_CONDITIONS, StateKind},
    status::{Condition, MachineStatus, truncated},
};

impl Engine<'_> {
    /// The machine's part of `.status`, based on the `former` one. `None` if the machine does not know the
    /// stored state: the status is then left unchanged.
    pub fn render(&self, former: &MachineStatus, now: Now) -> Option<MachineStatus> {
        let policy = self.policy()?;
        let message = self.shown_message(policy);
        let entries = self
            .entries
            .iter()
            .map(|(id, n)| (self.graph.state(*id).name.to_owned(), *n))
            .collect();
        Some(MachineStatus {
            state: Some(policy.name.to_owned()),
            phase: self.graph.phase_of(policy).map(str::to_owned),
            message: Some(message.to_owned()),
            entry: Some(self.entry()),
            state_entered_time: Some(self.stay.entered_at),
            attempts: (self.stay.attempts > 0).then_some(self.stay.attempts),
            entries,
            fired_timeouts: self.fired_timeouts(),
            ask: self.stored_ask(now),
            objectives: self.reported_measurements(),
            observed_generation: Some(self.observed),
            spec_digests: self.reported_digests(),
            last_handled_request: self.handled.as_deref().map(str::to_owned),
            conditions: self.conditions(policy, former, now),
        })
    }

    /// The conditions that replace those of `former`: always `Ready`, `Reconciling` and `Stalled`, in this
    /// order, followed by those of the description, which keep their status until they are set again.
    /// Conditions of other clients are left out.
    fn conditions(&self, policy: &Policy<'_>, former: &MachineStatus, now: Now) -> Vec<Condition> {
        let message_of_state = self.shown_message(policy);
        let entered = former.entry != Some(self.entry());
        let (set_before, set) = match self.unstored.as_deref() {
            Some(unstored) if entered => (&unstored.set_before[..], &unstored.set[..]),
            Some(unstored) => (&[][..], &unstored.set[..]),
            None => (&[][..], &[][..]),
        };
        // A failed run has not reconciled its generation, but the failure is about that generation. The
        // reason `NotWritten` applies to every generation.
        let observed = if self.stay.attempts > 0 && policy.written {
            self.pinned
        } else {
            self.observed
        };
        let by_type = |kind: &str| {
            let mut known = former
                .conditions
                .iter()
                .filter(|c| !conditions::says_left_alone(c));
            known.find(|c| c.kind == kind)
        };
        let not_written = policy.not_written();
        // A state without a written handler is shown like one of the kind `failed`.
        let shown_kind = not_written.as_ref().map_or(policy.kind, |_| StateKind::Failed);
        let retrying = self.stay.attempts > 0 && shown_kind != StateKind::Failed;
        let (reason, message) = match &not_written {
            Some(message) => (conditions::NOT_WRITTEN, message.as_str()),
            None if retrying => ("Retrying", message_of_state),
            None => (policy.name, message_of_state),
        };
        let stamped = |kind: &str, status: &str, reason: &str, message: &str| {
            let since = by_type(kind)
                .filter(|c| c.status == status)
                .map_or(now.time, |c| c.last_transition_time);
            Condition {
                last_transition_time: since,
                observed_generation: Some(observed.max(0)),
                ..Condition::unstamped(kind, status, reason, message)
            }
        };
        let set_here = |kind: &str| {
            policy
                .conditions
                .iter()
                .find(|(k, _)| *k == kind)
                .map(|(_, status)| *status)
        };

        let waits = self
            .asks(now)
            .filter(|_| !retrying && not_written.is_none() && !self.pausing);
        let gate = waits.map(|(to, _)| {
            let name = self.graph.state(to).name;
            match self.opens(to, now.time) {
                Ok(_) => ("Reconciling", conditions::WAITS_FOR_GATE, self.waits_for(to)),
                Err(wrong) => (
                    "Stalled",
                    conditions::INVALID_GATE,
                    truncated(&format!("the gate of {name} is closed: {wrong}")),
                ),
            }
        });
        let gate = gate.or_else(|| {
            let wrong = self.wrong_schedule(policy, now).filter(|_| !retrying)?;
            let message = truncated(&format!("the schedule of {} never starts: {wrong}", policy.name));
            Some(("Stalled", conditions::INVALID_SCHEDULE, message))
        });
        let mut conditions = Vec::with_capacity(STANDARD_CONDITIONS.len());
        for kind in STANDARD_CONDITIONS {
            let of_gate = gate.as_ref().filter(|(of, ..)| *of == kind);
            let of_kind = if retrying {
                kind == "Reconciling"
            } else {
                conditions::holds(shown_kind, kind) || of_gate.is_some()
            };
            let (reason, message) =
                of_gate.map_or((reason, message), |(_, reason, message)| (*reason, message));
            let status = match set_here(kind) {
                Some("keep") if !retrying => by_type(kind).map_or("Unknown", |c| &c.status),
                Some(status) if !retrying && of_gate.is_none() => status,
                _ if of_kind => "True",
                _ => "False",
            };
            let mut condition = stamped(kind, status, reason, message);
            if kind == conditions::RECONCILING {
                let observed = observed.max(self.entered_for).max(0);
                condition.observed_generation = Some(observed);
            } else if not_written.is_some() {
                // `kubectl wait` ignores conditions of earlier generations.
                condition.observed_generation = Some(self.generation.max(0));
            }
            conditions.push(condition);
        }

        for kind in self.graph.own_conditions() {
            let last = |set: &[Condition]| set.iter().rev().find(|set| set.kind == kind).cloned();
            let on_entry = || set_here(kind).filter(|_| entered);
            let condition = if let Some(set) = last(set) {
                stamped(kind, &set.status, &set.reason, &set.message)
            } else if let Some(status) = on_entry() {
                stamped(kind, status, policy.name, message_of_state)
            } else if let Some(set) = last(set_before) {
                stamped(kind, &set.status, &set.reason, &set.message)
            } else if let Some(former) = by_type(kind) {
                former.clone()
            } else {
                stamped(kind, "Unknown", "Unset", "")
            };
            conditions.push(condition);
        }
        if self.pausing {
            conditions.push(conditions::paused(self.graph, former, self.generation, now.time));
        }
        conditions
    }
}
