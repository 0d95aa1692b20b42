//! Places that the limits of a kind count: those that an object holds, and those that it waits for. The
//! [ledger](crate::ledger) of all objects decides whether a place is free, and the driver passes the answer to the engine.
use super::{Engine, Now};
use crate::{
    field_value::FieldValue,
    graph::{Limit, StateId},
    status::{Ask, MachineStatus},
};
use jiff::Timestamp;

/// A place of a limit that an object can hold.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The index of the limit.
    pub limit: u16,
    /// The value of the field by which the limit counts objects separately; empty if it counts all objects
    /// together. `None` if the value is unknown: the place then counts for each value.
    pub of: Option<Box<str>>,
}

/// The places that an object holds and those that it waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// The places that the object holds, or may hold without this process knowing it.
    pub holds: Vec<Place>,
    /// The places that the object waits for; `None` if it could not proceed even with them.
    pub wish: Option<Wish>,
}

/// The places that an object waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// All places that the object needs.
    pub places: Vec<Place>,
    /// When the object entered its state, because the longest waiting object is first.
    pub since: Timestamp,
}

/// The id of a process in [`Ask::leader`].
pub(super) fn leader(now: Now) -> String {
    format!("{:016x}", now.leader)
}

impl Engine<'_> {
    /// Sets whether the limits have places for the object in the state that it asks for.
    pub fn grant(&mut self, is_granted: bool) {
        self.stay.is_granted = is_granted;
    }

    /// The limits that count objects in the state `to`, and not in the current state.
    pub(super) fn needed(&self, to: StateId) -> impl Iterator<Item = (usize, &Limit<'_>)> {
        let limits = self.graph.limits.iter().enumerate();
        limits.filter(move |(_, limit)| limit.is_entered(self.at, to))
    }

    /// A text about what the object waits for. It does not name the holders, which would change every waiting status.
    pub(super) fn waits_for(&self, to: StateId) -> String {
        let to_state = self.graph.state(to);
        let approval = to_state.needs_approval.then(|| "an approval".to_owned());
        let limits = self
            .needed(to)
            .map(|(_, limit)| format!("the limit {}", limit.name));
        let parts: Vec<String> = approval.into_iter().chain(limits).collect();
        match &parts[..] {
            [] => format!("waits for the gate of {}", to_state.name),
            _ => format!("waits for the gate of {}: {}", to_state.name, parts.join(" and ")),
        }
    }

    /// Whether entering a state needs no place, or places are granted. A deletion never waits.
    pub(super) fn has_places(&self, to: StateId) -> bool {
        self.deleting || self.stay.is_granted || self.needed(to).next().is_none()
    }

    fn place(&self, number: usize, limit: &Limit<'_>) -> Place {
        let value = limit
            .per
            .and_then(|field| self.field_values.get(usize::from(field))?.as_ref());
        let of = match value {
            Some(FieldValue::Text(text)) => text.clone(),
            _ => Box::default(),
        };
        // The index always fits, because no graph has that many limits.
        let limit = u16::try_from(number).unwrap_or(u16::MAX);
        Place { limit, of: Some(of) }
    }

    /// The places that an object in this state takes.
    pub fn places_in(&self, state: StateId) -> Vec<Place> {
        let limits = self.graph.limits.iter().enumerate();
        limits
            .filter(|(_, limit)| limit.states.contains(&state))
            .map(|(number, limit)| self.place(number, limit))
            .collect()
    }

    /// The places that the object holds or waits for, if this status is stored. Only a stored ask is granted, and only
    /// by the process that it names: a late entry by another process fails, because it is for an earlier version.
    pub fn claim(&self, stored: Option<&MachineStatus>, now: Now) -> Claim {
        let at = self.at.map(|at| self.places_in(at));
        let stored_state = stored.and_then(|stored| self.graph.find(stored.state.as_deref()?));
        let ask = stored.and_then(|stored| stored.ask.as_ref());
        let asked = ask.and_then(|ask| Some((ask, self.graph.find(&ask.to)?)));
        // An ask that names another process may have been granted by that process.
        let foreign = asked.filter(|(ask, _)| ask.leader.as_ref() != Some(&leader(now)));
        let states = stored_state.into_iter().chain(foreign.map(|(_, to)| to));
        let mut holds = at.unwrap_or_default();
        holds.extend(states.flat_map(|state| self.places_in(state)));
        holds.sort_unstable();
        holds.dedup();
        let is_stored = stored.is_some_and(|stored| stored.entry == Some(self.entry()));
        let wish = asked.filter(|(ask, to)| is_stored && self.could_enter(ask, *to, now));
        let wish = wish.map(|(_, to)| Wish {
            places: self
                .needed(to)
                .map(|(number, limit)| self.place(number, limit))
                .collect(),
            since: self.stay.entered_at,
        });
        Claim { holds, wish }
    }

    /// Whether a grant for the state has become invalid: the stored status shows that another process has
    /// renewed or dropped the ask.
    pub fn has_lost_grant(&self, stored: &MachineStatus, now: Now) -> bool {
        let ask = stored.ask.as_ref();
        let is_ours = ask.is_some_and(|ask| ask.leader.as_ref() == Some(&leader(now)));
        self.stay.by_grant && stored.entry != Some(self.entry()) && !is_ours
    }

    /// Whether the object would enter the state that it asks for if the limits had places.
    fn could_enter(&self, ask: &Ask, to: StateId, now: Now) -> bool {
        let policy = self.policy();
        let is_written = policy.is_some_and(|policy| policy.written);
        let by_handler = self.stay.asking.filter(|_| is_written && self.stay.attempts == 0);
        let wishes = by_handler.or_else(|| self.ended_timeout(now));
        let is_free = !self.deleting && self.leave.is_none() && !self.finished && !self.pausing;
        is_free
            && wishes.is_some_and(|asking| asking.to == to)
            && ask.leader.as_ref() == Some(&leader(now))
            && self.stay.not_before <= now.elapsed
            && self.is_in_window(to, now)
            && self.is_approved(to, now)
            && self.needed(to).next().is_some()
    }
}

#[cfg(test)]
mod tests;
