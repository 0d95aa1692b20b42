//! Gates: when objects may enter a state. An object waits for a gate in the state before it, whose handler goes on running. Such a
//! wait is an ask: it begins when a handler or a timeout leads to the state, and ends when the object enters a state or no longer
//! wants to.
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

/// An object waits for the gate of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asking {
    pub to: StateId,
    pub since: Timestamp,
}

/// The first time from a point in time on at which objects with these values of fields may enter a state; `None` if there is none in
/// the next years.
///
/// # Errors
///
/// What is wrong with the schedule or the time zone of the gate, which is shut then.
pub fn opens(
    state: &Policy<'_>,
    field_values: &[Option<FieldValue>],
    from: Timestamp,
) -> Result<Option<Timestamp>, String> {
    // Without one of its fields there is no window.
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
    // The window is open if it has opened within its length; otherwise that is when it opens next.
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

    /// The state that the timeout would lead to now if its gate were open, and since when.
    pub(super) fn ended_timeout(&self, now: Now) -> Option<Asking> {
        let policy = self.policy()?;
        let (_, to) = policy.timeout?;
        let has_ended = self.timeout_end(now).is_some_and(|end| end <= now.elapsed);
        let since = match self.timeout_when(policy, now)? {
            // As exactly as it is stored: this must not change with the clock.
            When::After(after) => self.stay.entered_at.checked_add(after).ok()?,
            When::At(instant) => instant,
        };
        has_ended.then_some(Asking { to, since })
    }

    /// The first time from a point in time on at which the window of a state lets an object enter, as its fields are now; `None` if
    /// there is none in the next years. Whether limits have places for it then, nobody knows.
    ///
    /// # Errors
    ///
    /// What is wrong with the schedule or the time zone of the gate, which is shut then.
    pub fn opens(&self, to: StateId, from: Timestamp) -> Result<Option<Timestamp>, String> {
        match self.deleting {
            true => Ok(Some(from)),
            false => opens(self.graph.state(to), &self.field_values, from),
        }
    }

    fn is_open(&self, to: StateId, now: Now) -> bool {
        self.is_let_in(to, now) && self.is_in_window(to, now)
    }

    /// Whether nothing but the time is in the way of an object into a state.
    fn is_let_in(&self, to: StateId, now: Now) -> bool {
        self.has_places(to) && self.is_approved(to, now)
    }

    /// Whether nobody has to approve that the object enters a state, or somebody has approved just that. The deletion of an object
    /// waits for nothing.
    pub(super) fn is_approved(&self, to: StateId, now: Now) -> bool {
        if self.deleting || !self.graph.state(to).needs_approval {
            return true;
        }
        let asking = self.stay.asking.or_else(|| self.ended_timeout(now));
        asking.is_some_and(|asking| asking.to == to && self.ask_id(asking) == self.approved)
    }

    /// Identifies a wish, and the spec with which the object has it: nobody approves another one by the same number, be it that of the
    /// same object a moment later.
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

    /// What comes of a run: if its handler has chosen a state whose gate is shut, the object stays and asks.
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
            // The handler says this again when it has been let through.
            Some(_) => (Outcome::Exit(Exit::Stay), None),
            None => (outcome, words),
        }
    }

    /// Whether the object has to wait before it enters the state that its handler has chosen. One whose handler runs only once, or
    /// whose state is not stored, cannot ask again.
    fn has_to_wait(&self, to: StateId, now: Now) -> bool {
        let asks = self
            .policy()
            .is_some_and(|policy| policy.effects != Effects::Once && policy.checkpoint);
        asks && !self.is_open(to, now)
    }

    /// The handler has chosen a state whose gate is shut, or none of those.
    pub(super) fn ask(&mut self, to: Option<StateId>, now: Now) {
        self.stay.asking = to.map(|to| {
            let former = self.stay.asking.filter(|asking| asking.to == to);
            former.unwrap_or(Asking { to, since: now.time })
        });
    }

    /// When the handler is to run again because the gate that it waits for is open, as [`Now::elapsed`]. While the limits have no
    /// places for it, it has to ask them when the window opens.
    pub(super) fn gate_opens(&self, now: Now) -> Option<Duration> {
        // A failed run waits for its backoff.
        let to = self.stay.asking.filter(|_| self.stay.attempts == 0)?.to;
        let at = self.opens(to, now.time).ok()??;
        let is_due = at > now.time || self.is_let_in(to, now);
        is_due.then(|| now.elapsed + times::until(at, now))
    }

    /// When a timeout that has ended has to ask the limits for places, because the window of its state opens.
    pub(super) fn window_opens(&self, now: Now) -> Option<Duration> {
        let (_, to) = self.policy()?.timeout?;
        if self.is_let_in(to, now) {
            return None;
        }
        self.ended_timeout(now)?;
        let at = self.opens(to, now.time).ok()??;
        (at > now.time).then(|| now.elapsed + times::until(at, now))
    }

    /// When a timeout that ends at this time leads to a state, as [`Now::elapsed`].
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

    /// Goes on waiting as the stored status says.
    pub(super) fn find_ask(&mut self, stored: &MachineStatus) {
        let asking = stored.ask.as_ref().and_then(|ask| {
            let to = self.graph.find(&ask.to)?;
            let has_edge = self.at.is_some_and(|at| self.graph.has_edge(at, to));
            has_edge.then_some(Asking { to, since: ask.since })
        });
        self.stay.asking = asking;
    }

    /// The ask as the status has it.
    pub(super) fn stored_ask(&self, now: Now) -> Option<Ask> {
        // Nobody grants anything to an object that is paused.
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
