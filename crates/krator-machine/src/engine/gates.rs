//! Gates: when objects may enter a state. An object waits for a gate in the state before it, whose handler is
//! still run. Such a wait is an ask: it begins when a handler or a timeout chooses the state, and ends when
//! the object enters a state or the handler chooses otherwise.
use super::{Engine, Now, Outcome, places::leader, times};
use crate::{
    engine::times::When,
    field_value::FieldValue,
    graph::{Effects, Exit, Policy, StateId},
    spec_digest::of_text,
    status::{Ask, MachineStatus},
};
use jiff::Timestamp;
use std::time::Duration;

/// The state whose gate an object waits for, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asking {
    pub to: StateId,
    pub since: Timestamp,
}

/// The first time at or after `from` at which objects with these field values may enter a state; `None` if
/// there is none in the next years.
///
/// # Errors
///
/// If the schedule or the time zone of the gate is invalid. The gate is closed then.
pub fn opens(
    state: &Policy<'_>,
    field_values: &[Option<FieldValue>],
    from: Timestamp,
) -> Result<Option<Timestamp>, String> {
    // A window needs both of its fields; without one of them the gate stays closed.
    let Some(window) = state.during else {
        return Ok(Some(from));
    };
    let Some(When::After(length)) = times::when(window.duration, field_values) else {
        return Ok(Some(from));
    };
    let Some(schedule) = window.starts.read(field_values)? else {
        return Ok(Some(from));
    };
    let before = from.checked_sub(length).unwrap_or(Timestamp::MIN);
    // If the window opened within its length it is open now; otherwise this is its next opening.
    Ok(schedule.next(before).map(|start| start.max(from)))
}

impl Engine<'_> {
    /// The state whose gate the object waits for, and since when; `None` if it waits for none.
    pub fn asks(&self, now: Now) -> Option<(StateId, Timestamp)> {
        let timed_out = || {
            self.ended_timeout(now)
                .filter(|asking| !self.is_open(asking.to, now))
        };
        let asking = self.stay.asking.or_else(timed_out)?;
        Some((asking.to, asking.since))
    }

    /// The state that the expired timeout leads to once its gate is open, and since when.
    pub(super) fn ended_timeout(&self, now: Now) -> Option<Asking> {
        let policy = self.policy()?;
        let (_, to) = policy.timeout?;
        let has_ended = self.timeout_end(now).is_some_and(|end| end <= now.elapsed);
        let since = match self.timeout_when(policy, now)? {
            // The stored time of the entry is used because it does not change when the clock is corrected.
            When::After(after) => self.stay.entered_at.checked_add(after).ok()?,
            When::At(instant) => instant,
        };
        has_ended.then_some(Asking { to, since })
    }

    /// The first time at or after `from` at which the window of a state lets an object enter, by the current
    /// values of its fields; `None` if there is none in the next years. Limits are not considered.
    ///
    /// # Errors
    ///
    /// If the schedule or the time zone of the gate is invalid. The gate is closed then.
    pub fn opens(&self, to: StateId, from: Timestamp) -> Result<Option<Timestamp>, String> {
        match self.deleting {
            true => Ok(Some(from)),
            false => opens(self.graph.state(to), &self.field_values, from),
        }
    }

    fn is_open(&self, to: StateId, now: Now) -> bool {
        self.is_let_in(to, now) && self.is_in_window(to, now)
    }

    /// Whether only the window can keep an object out of a state.
    fn is_let_in(&self, to: StateId, now: Now) -> bool {
        self.has_places(to) && self.is_approved(to, now)
    }

    /// Whether entering a state needs no approval, or has been approved for this ask. A deletion does not
    /// wait for approvals.
    pub(super) fn is_approved(&self, to: StateId, now: Now) -> bool {
        if self.deleting || !self.graph.state(to).needs_approval {
            return true;
        }
        let asking = self.stay.asking.or_else(|| self.ended_timeout(now));
        asking.is_some_and(|asking| asking.to == to && self.ask_id(asking) == self.approved)
    }

    /// The id of an ask with the present spec. Later asks have other ids, unless they follow within the same
    /// second, so an approval does not apply to an ask or a spec that was not reviewed.
    fn ask_id(&self, asking: Asking) -> u64 {
        let Asking { to, since } = asking;
        let spec = self.spec_mark();
        of_text(
            &format!("{}/{}", self.stay.entry, self.graph.state(to).name),
            &format!("{since}/{spec:x}"),
        )
        .max(1)
    }

    pub(super) fn is_in_window(&self, to: StateId, now: Now) -> bool {
        self.opens(to, now.time) == Ok(Some(now.time))
    }

    /// Applies a gate to the outcome of a run: an object stays and asks if its chosen state's gate is closed.
    pub(super) fn at_gate(
        &mut self,
        outcome: Outcome,
        words: Option<Box<str>>,
        now: Now,
    ) -> (Outcome, Option<Box<str>>) {
        let waits_for = match (&outcome, self.leave) {
            (Outcome::Exit(Exit::To(to)), None) => Some(*to).filter(|to| self.has_to_wait(*to, now)),
            _ => None,
        };
        if matches!(outcome, Outcome::Exit(_)) {
            self.ask(waits_for, now);
        }
        match waits_for {
            // The handler sets its message again when it runs after the gate has opened.
            Some(_) => (Outcome::Exit(Exit::Stay), None),
            None => (outcome, words),
        }
    }

    /// Whether the object has to wait before it enters the state that its handler has chosen. A state with
    /// `effects: once` or without a checkpoint does not wait, because its handler could not choose again.
    fn has_to_wait(&self, to: StateId, now: Now) -> bool {
        let asks = self
            .policy()
            .is_some_and(|policy| policy.effects != Effects::Once && policy.checkpoint);
        asks && !self.is_open(to, now)
    }

    /// Records the ask for the gated state that the handler has chosen; `None` withdraws it.
    pub(super) fn ask(&mut self, to: Option<StateId>, now: Now) {
        self.stay.asking = to.map(|to| {
            let former = self.stay.asking.filter(|asking| asking.to == to);
            former.unwrap_or(Asking { to, since: now.time })
        });
    }

    /// When the handler runs again because its gate is open, as [`Now::elapsed`]. While the limits have no
    /// place, it asks them for one when the window opens.
    pub(super) fn gate_opens(&self, now: Now) -> Option<Duration> {
        // After a failed run the handler waits for its backoff instead.
        let to = self.stay.asking.filter(|_| self.stay.attempts == 0)?.to;
        let at = self.opens(to, now.time).ok()??;
        let is_due = at > now.time || self.is_let_in(to, now);
        is_due.then(|| now.elapsed + times::until(at, now))
    }

    /// When an expired timeout asks the limits for places, because the window of its target state opens.
    pub(super) fn window_opens(&self, now: Now) -> Option<Duration> {
        let (_, to) = self.policy()?.timeout?;
        if self.is_let_in(to, now) {
            return None;
        }
        self.ended_timeout(now)?;
        let at = self.opens(to, now.time).ok()??;
        (at > now.time).then(|| now.elapsed + times::until(at, now))
    }

    /// When a timeout that expires at `end` can lead to a state, as [`Now::elapsed`].
    pub(super) fn passes(&self, to: StateId, end: Duration, now: Now) -> Option<Duration> {
        if !self.is_let_in(to, now) {
            return None;
        }
        let ahead = end.saturating_sub(now.elapsed);
        let at = now.time.checked_add(ahead).ok()?;
        match self.opens(to, at).ok()?? {
            open if open == at => Some(end),
            later => Some(now.elapsed + times::until(later, now)),
        }
    }

    /// Restores the ask from the stored status.
    pub(super) fn find_ask(&mut self, stored: &MachineStatus) {
        let asking = stored.ask.as_ref().and_then(|ask| {
            let to = self.graph.find(&ask.to)?;
            let has_edge = self.at.is_some_and(|at| self.graph.has_edge(at, to));
            has_edge.then_some(Asking { to, since: ask.since })
        });
        self.stay.asking = asking;
    }

    /// The ask, as it is written to the status.
    pub(super) fn stored_ask(&self, now: Now) -> Option<Ask> {
        // A paused object cannot be granted anything, so it does not ask.
        let asks = self.asks(now).filter(|_| !self.pausing);
        asks.map(|(to, since)| Ask {
            to: self.graph.state(to).name.to_owned(),
            since,
            id: (self.graph.state(to).needs_approval)
                .then(|| format!("{:016x}", self.ask_id(Asking { to, since }))),
            leader: (self.needed(to).next().is_some()).then(|| leader(now)),
        })
    }
}

#[cfg(test)]
mod tests;
