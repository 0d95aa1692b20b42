//! Places in sets of states: what an object takes of the limits of its kind, and what it waits for. Whether there is a place is
//! known to the [ledger](crate::ledger) of all objects; the engine is told.
use super::{Engine, Now};
use crate::{
    field_value::FieldValue,
    graph::{Limit, StateId},
    status::{Ask, MachineStatus},
};
use jiff::Timestamp;

/// A place that a limit has for an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The number of the limit.
    pub limit: u16,
    /// The value of the field that it counts apart, empty if there is none. `None` if nobody knows it: that place counts for each
    /// value.
    pub of: Option<Box<str>>,
}

/// What an object takes of the limits of its kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// The places that it has, or may have although this process does not know it.
    pub holds: Vec<Place>,
    /// What it waits for; `None` if it could not go on although there were places.
    pub wish: Option<Wish>,
}

/// What an object waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// All that it needs.
    pub places: Vec<Place>,
    /// When it entered its state: the object that has waited there longest is first.
    pub since: Timestamp,
}

/// What identifies a process in [`Ask::leader`].
pub(super) fn leader(now: Now) -> String {
    format!("{:016x}", now.leader)
}

impl Engine<'_> {
    /// Says whether the limits have places for the object in the state that it asks for.
    pub fn grant(&mut self, is_granted: bool) {
        self.stay.is_granted = is_granted;
    }

    /// The limits that count objects in this state, and not in that of the object.
    pub(super) fn needed(&self, to: StateId) -> impl Iterator<Item = (usize, &Limit<'_>)> {
        let limits = self.graph.limits.iter().enumerate();
        limits.filter(move |(_, limit)| limit.is_entered(self.at, to))
    }

    /// What an object waits for, for people. It says nothing of who has the places: all who wait would be written at each change.
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

    /// Whether the object needs no place to enter a state, or has what it needs. The deletion of an object waits for nothing.
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
        // A graph has fewer limits than that.
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

    /// What the object takes of the limits, and what it waits for, if this status is stored. Only what is stored is granted, by the
    /// process that it names: an entry that another process has sent cannot come after that, because it is of an earlier version.
    pub fn claim(&self, stored: Option<&MachineStatus>, now: Now) -> Claim {
        let at = self.at.map(|at| self.places_in(at));
        let stored_state = stored.and_then(|stored| self.graph.find(stored.state.as_deref()?));
        let ask = stored.and_then(|stored| stored.ask.as_ref());
        let asked = ask.and_then(|ask| Some((ask, self.graph.find(&ask.to)?)));
        // Another process may have granted this.
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

    /// Whether the object has come into its state by a grant that does not hold for this status, which is stored by now: another
    /// process has renewed or dropped the ask.
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
