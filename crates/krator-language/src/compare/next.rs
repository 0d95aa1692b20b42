//! The effect of an edit on the stored objects of a kind: the number of objects that the operators of both descriptions
//! treat in the same way, and the actions for the others.

use k8s_openapi::jiff::Timestamp;
use krator_machine::engine::{Cause, Place};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;
use std::collections::BTreeMap;

use super::forecast::{First, Machine};
use super::objects::{name, named};
use crate::model::Kind;
use crate::text::printable;

/// The forecast for the objects of a kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Next {
    /// The number of objects for which both operators have the same first action.
    pub as_before: usize,
    /// The names of the other objects, by the stored state and by the first action of the new operator.
    pub moved: BTreeMap<(String, First), Vec<String>>,
    /// The names of objects that cannot enter a state again after the edit, by that state and by the state that they
    /// enter instead.
    pub used_up: BTreeMap<(String, String), Vec<String>>,
    /// The number of objects in the states of each limit, by its name, the value by which it counts separately, and its
    /// maximum.
    held: BTreeMap<(String, String, u32), usize>,
}

impl Next {
    /// Adds objects in the form that the API server has stored, and at a time by its clock.
    pub(super) fn add(
        &mut self,
        (old, new): (&Machine<'_>, &Machine<'_>),
        kind: &Kind,
        objects: &[Json],
        now: Timestamp,
    ) {
        for object in objects {
            let (before, after) = (old.forecast(object, now), new.forecast(object, now));
            for place in &after.holds {
                self.hold(kind, place);
            }
            let mut used_up = after.used_up;
            for (state, then) in &before.used_up {
                let known = (new.called(state), new.called(then));
                used_up.retain(|used_up| *used_up != known);
            }
            for used_up in used_up {
                self.used_up.entry(used_up).or_default().push(name(object));
            }
            if before.first.in_names_of(new) == after.first {
                self.as_before += 1;
                continue;
            }
            let state = object["status"]["state"].as_str().unwrap_or_default().to_owned();
            let group = self.moved.entry((state, after.first)).or_default();
            group.push(name(object));
        }
    }

    fn hold(&mut self, kind: &Kind, place: &Place) {
        let limit = kind.limits.get(usize::from(place.limit));
        if let (Some(limit), Some(value)) = (limit, &place.of) {
            let key = (limit.name.value.clone(), value.to_string(), limit.at_most.value);
            *self.held.entry(key).or_default() += 1;
        }
    }

    /// The number of objects for which the new operator has another first action.
    pub fn moves(&self) -> usize {
        self.moved.values().map(Vec::len).sum()
    }

    /// The limits in whose states there are more objects than their maximum.
    fn overfull(&self) -> impl Iterator<Item = (&(String, String, u32), usize)> {
        let held = self.held.iter().map(|(limit, objects)| (limit, *objects));
        held.filter(|((.., most), objects)| *objects > *most as usize)
    }

    /// The text for users, with at most `most` names of each group.
    pub(super) fn to_text(&self, most: usize) -> String {
        let mut out = format!(
            "    {}\n",
            counted(self.as_before, "continues as before", "continue as before")
        );
        let mut add = |line: String, names: &[String]| {
            out.push_str(&format!("    {line}\n      {}\n", named(names, most)));
        };
        for ((state, first), names) in &self.moved {
            let place = match state.as_str() {
                "" => "without a state".to_owned(),
                state => format!("in {}", printable(state)),
            };
            let each = if names.len() > 1 { "each " } else { "" };
            add(
                format!("{} {place}: {each}{}", names.len(), sentence(first)),
                names,
            );
        }
        for ((state, then), names) in &self.used_up {
            let entered = counted(names.len(), "has", "have");
            add(
                format!(
                    "{entered} entered {state} as often as its limit allows: the next entry goes to {then} instead"
                ),
                names,
            );
        }
        for ((limit, value, most), objects) in self.overfull() {
            let of = match value.as_str() {
                "" => String::new(),
                value => format!(" for `{}`", printable(value)),
            };
            out.push_str(&format!(
                "    {objects} are in the states of the limit `{limit}`{of}, which allows {most}: no object can \
                 enter them until enough objects have left\n"
            ));
        }
        out
    }

    /// The report for programs.
    pub(super) fn report(&self) -> NextReport<'_> {
        let moved = self.moved.iter().map(|((state, first), objects)| MovedObjects {
            state,
            first: FirstStep::of(first),
            through: match first {
                First::Enters(entries) => entries.iter().map(|(to, _)| to.as_str()).collect(),
                First::TimesOut(to) | First::Waits(to) => vec![to.as_str()],
                _ => Vec::new(),
            },
            text: sentence(first),
            objects,
        });
        let used_up = self
            .used_up
            .iter()
            .map(|((state, then), objects)| UsedUp { state, then, objects });
        let overfull = self
            .overfull()
            .map(|((limit, value, at_most), objects)| Overfull {
                limit,
                value,
                at_most: *at_most,
                objects,
            });
        NextReport {
            as_before: self.as_before,
            moved: moved.collect(),
            used_up: used_up.collect(),
            overfull: overfull.collect(),
        }
    }
}

fn counted(count: usize, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

/// The first action of an operator for an object, in words.
fn sentence(first: &First) -> String {
    match first {
        First::Stays => "stays there instead of leaving".to_owned(),
        First::Enters(entries) => {
            let through: Vec<&str> = entries.iter().map(|(to, _)| to.as_str()).collect();
            let why = entries.first().map_or("", |(_, cause)| why(*cause));
            format!("goes to {}, because {why}", through.join(" and then to "))
        }
        First::TimesOut(to) => {
            format!("goes to {to} after one more run of its handler, because its timeout has expired")
        }
        First::Waits(of) => format!("waits for the gate of {of}"),
        First::Paused => "stays paused".to_owned(),
        First::Parked => "is not handled, because no state has this name".to_owned(),
        First::Unreadable => "is not handled, because its status cannot be read".to_owned(),
        First::Released => {
            "is released without a handler run, because it has no deletion path or no finalizer".to_owned()
        }
    }
}

fn why(cause: Cause) -> &'static str {
    match cause {
        Cause::Created => "it is new",
        Cause::TimedOut => "its timeout has expired",
        Cause::LimitReached => "the limit of the next state is used up",
        Cause::SpecChanged => "its spec has changed",
        Cause::Deleted => "it is being deleted",
        Cause::Restarted => "it continues there after a restart",
        // These causes need a handler that runs.
        Cause::Handler | Cause::RetriesExhausted | Cause::Interrupted | Cause::Failed | Cause::ByHand => {
            "its handler chose that"
        }
    }
}

/// The forecast for the stored objects of a kind, as `krator diff --against cluster --format json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NextReport<'a> {
    /// The number of objects that go on as they would without the edit.
    as_before: usize,
    /// The others.
    moved: Vec<MovedObjects<'a>>,
    /// Objects that have entered a state as often as its limit allows now.
    used_up: Vec<UsedUp<'a>>,
    /// Limits in whose states there are more objects than they allow.
    overfull: Vec<Overfull<'a>>,
}

/// Objects with which the operator does something else first than before the edit.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MovedObjects<'a> {
    /// The state that is stored; empty for objects that no operator has seen.
    state: &'a str,
    /// The first action of the operator.
    first: FirstStep,
    /// The states that the object enters, or whose gate it waits for.
    through: Vec<&'a str>,
    /// The same for people.
    text: String,
    /// The names of the objects, with their namespaces.
    objects: &'a [String],
}

/// The first action of an operator for an object.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the variants are documented in `First`")]
pub enum FirstStep {
    Stays,
    Enters,
    TimesOut,
    Waits,
    Paused,
    Parked,
    Unreadable,
    Released,
}

impl FirstStep {
    fn of(first: &First) -> Self {
        match first {
            First::Stays => Self::Stays,
            First::Enters(_) => Self::Enters,
            First::TimesOut(_) => Self::TimesOut,
            First::Waits(_) => Self::Waits,
            First::Paused => Self::Paused,
            First::Parked => Self::Parked,
            First::Unreadable => Self::Unreadable,
            First::Released => Self::Released,
        }
    }
}

/// Objects that have entered a state as often as its limit allows.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UsedUp<'a> {
    /// The state.
    state: &'a str,
    /// Where its next entry leads.
    then: &'a str,
    /// The names of the objects, with their namespaces.
    objects: &'a [String],
}

/// A limit in whose states there are more objects than it allows.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Overfull<'a> {
    /// The name of the limit.
    limit: &'a str,
    /// The value of the field that it counts apart; empty without one.
    value: &'a str,
    /// How many objects it allows.
    at_most: u32,
    /// How many there are.
    objects: usize,
}
