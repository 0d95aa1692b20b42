//! Limits on entries into states: the counts of the description, and the rate that applies to every machine.
use super::{Cause, Engine, Now, reason::Reason};
use crate::{
    field_value::FieldValue,
    graph::{StateId, Times},
};
use std::time::Duration;

/// After this many entries without a pause, an object is slowed to one state a second. This catches loops
/// through handlers, errors and values of objects, which the checks of a description cannot see.
const UNSLOWED_ENTRIES: u32 = 100;

/// An object that has been in its state for this long is not in a loop. It is also the first delay before
/// Kubernetes restarts a container that has crashed.
const REST: Duration = Duration::from_secs(10);

/// A rate limiter of entries into states. It is a token bucket: each second allows one more entry, whatever
/// the object does in that second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RateLimiter {
    /// The second of [`Now::elapsed`] at which an object with one entry a second would have as many entries.
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

/// The time as whole seconds, which saturate after more than a hundred years.
fn second(now: Now) -> u32 {
    u32::try_from(now.elapsed.as_secs()).unwrap_or(u32::MAX)
}

/// The target of an entry after limits have been applied, and why.
pub(super) struct Diverted {
    pub to: StateId,
    pub cause: Cause,
    pub reason: Reason,
    /// When the object may leave that state, as [`Now::elapsed`].
    pub not_before: Duration,
}

impl Engine<'_> {
    /// Counts an entry into a state that has a limit. Past the limit the object goes to `limit.then`; if it
    /// comes back from there without having rested, it has to rest in `limit.then`.
    pub(super) fn divert(&mut self, to: StateId, cause: Cause, reason: Reason, now: Now) -> Diverted {
        let mut diverted = Diverted {
            to,
            cause,
            reason,
            not_before: Duration::ZERO,
        };
        // `limit.then` may lead in a cycle. Each state is counted once, and the cycle ends where it began.
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

    /// The state that objects enter instead, because the limit of this one is used up.
    pub fn diverts(&self, to: StateId) -> Option<StateId> {
        let (times, then) = self.graph.state(to).limit?;
        let count = self.entries.get(&to).copied().unwrap_or_default();
        (count >= self.most(times)?).then_some(then)
    }

    /// How often a state may be entered; `None` means without limit.
    fn most(&self, times: Times) -> Option<u32> {
        match times {
            Times::Fixed(times) => Some(times),
            Times::FromField(field) => match self.field_values.get(usize::from(field))? {
                Some(FieldValue::Number(times)) => Some(*times),
                _ => None,
            },
        }
    }

    /// Keeps the rate of the engine that this one replaces, so that a foreign write of the status does not reset it.
    pub fn keep_pace(&mut self, former: &Engine<'_>, now: Now) {
        let second = second(now);
        let ahead = former.rate.entitled.saturating_sub(second);
        self.rate.entitled = self.rate.entitled.max(second).saturating_add(ahead);
        self.rate.is_slowed |= former.rate.is_slowed;
        self.stay.not_before = self.stay.not_before.max(self.rate.next_entry());
    }

    /// Resets the counts of limits that are exceeded, if the object has rested in the state that its handler
    /// leaves: the object can come back from `limit.then`, but not in a loop without rests.
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
