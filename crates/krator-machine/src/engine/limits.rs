//! How often and how fast an object may enter states: the limits of the description, and the rate of every machine.
use super::{Cause, Engine, Now, reason::Reason};
use crate::{
    field_value::FieldValue,
    graph::{StateId, Times},
};
use std::time::Duration;

/// So many states are entered as fast as the machine goes; one that goes on like that is slowed to one state a second. This
/// catches loops that the checks of a description cannot see, because they lead through handlers, errors and values of objects.
const UNSLOWED_ENTRIES: u32 = 100;

/// An object that has been in its state for this long has rested there; it is not running through a loop. It is also the
/// first delay before Kubernetes restarts a container that has crashed.
const REST: Duration = Duration::from_secs(10);

/// How many states an object has entered lately. Each second without an entry allows one more, so what counts is time, and not
/// what the object does in it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RateLimiter {
    /// The second of [`Now::elapsed`] in which an object that enters one state a second would have entered as many.
    entitled: u32,
    /// Whether the object is slowed, or was a moment ago.
    is_slowed: bool,
}

impl RateLimiter {
    /// Counts an entry. Returns whether the object is slowed from now on.
    pub fn enter(&mut self, now: Now) -> bool {
        let second = second(now);
        self.entitled = self.entitled.max(second).saturating_add(1);
        let ahead = self.entitled.saturating_sub(second);
        let was_slowed = self.is_slowed;
        self.is_slowed = ahead >= UNSLOWED_ENTRIES || was_slowed && ahead > UNSLOWED_ENTRIES / 2;
        self.is_slowed && !was_slowed
    }

    /// When the object may enter the next state, as [`Now::elapsed`].
    pub fn next_entry(self) -> Duration {
        Duration::from_secs(self.entitled.saturating_sub(UNSLOWED_ENTRIES - 1).into())
    }
}

/// The second of [`Now::elapsed`]; that of a process that has run for more than a hundred years is the last one.
fn second(now: Now) -> u32 {
    u32::try_from(now.elapsed.as_secs()).unwrap_or(u32::MAX)
}

/// Where an entry leads that limits have diverted, and why.
pub(super) struct Diverted {
    pub to: StateId,
    pub cause: Cause,
    pub reason: Reason,
    /// When the object may leave that state, as [`Now::elapsed`].
    pub not_before: Duration,
}

impl Engine<'_> {
    /// Counts an entry into a state that has a limit. Past it the object goes to `limit.then`; if it comes back from there
    /// without having rested, it has to rest there now.
    pub(super) fn divert(&mut self, to: StateId, cause: Cause, reason: Reason, now: Now) -> Diverted {
        let mut diverted = Diverted {
            to,
            cause,
            reason,
            not_before: Duration::ZERO,
        };
        // A cycle of limits ends where it began: one entry counts only once.
        let mut passed = Vec::new();
        while let Some((times, then)) = self.graph.state(diverted.to).limit
            && !passed.contains(&diverted.to)
        {
            passed.push(diverted.to);
            let count = self.entries.entry(diverted.to).or_default();
            *count = count.saturating_add(1);
            let count = *count;
            let Some(most) = self.most(times).filter(|most| count > *most) else {
                break;
            };
            if count - most > 1 {
                diverted.not_before = now.elapsed + REST;
            }
            diverted.cause = Cause::LimitReached;
            diverted.reason = diverted.reason.full(self.graph.state(diverted.to), most);
            diverted.to = then;
        }
        diverted
    }

    /// Where the next entry of a state leads instead, because its limit is used up.
    pub fn diverts(&self, to: StateId) -> Option<StateId> {
        let (times, then) = self.graph.state(to).limit?;
        let count = self.entries.get(&to).copied().unwrap_or_default();
        (count >= self.most(times)?).then_some(then)
    }

    /// How often a state may be entered; `None` if that is not limited.
    fn most(&self, times: Times) -> Option<u32> {
        match times {
            Times::Fixed(times) => Some(times),
            Times::FromField(field) => match self.field_values.get(usize::from(field))? {
                Some(FieldValue::Number(times)) => Some(*times),
                _ => None,
            },
        }
    }

    /// Goes on at the rate of the engine that this one replaces: an object is no faster because another writer changes its status.
    pub fn keep_pace(&mut self, former: &Engine<'_>, now: Now) {
        let second = second(now);
        let ahead = former.rate.entitled.saturating_sub(second);
        self.rate.entitled = self.rate.entitled.max(second).saturating_add(ahead);
        self.rate.is_slowed |= former.rate.is_slowed;
        self.stay.not_before = self.stay.not_before.max(self.rate.next_entry());
    }

    /// A handler leads on from a state. If the object has rested there, the count of each state that is past its limit begins
    /// anew: the way back from `limit.then` is open, but no loop leads through it without a rest.
    pub(super) fn open_limits(&mut self, now: Now) {
        if self.in_state_for(now) < REST {
            return;
        }
        let mut entries = std::mem::take(&mut self.entries);
        entries.retain(|state, count| {
            let limit = self.graph.state(*state).limit;
            let most = limit.and_then(|(times, _)| self.most(times));
            most.is_none_or(|most| *count <= most)
        });
        self.entries = entries;
    }
}

#[cfg(test)]
mod tests;
