//! Obstacles before a state: its window, an approval, and objects that hold the places of its limits.

use krator_machine::FieldValue;
use krator_machine::engine::opens;
use krator_machine::graph::{Limit, StateId};
use krator_machine::status::Ask;
use serde::Deserialize as _;
use serde_json::Value as Json;

use super::Waits;
use crate::machine;
use crate::observed::{approval, rounded, text};

/// The maximum number of named objects that hold a place.
const MOST_HOLDERS: usize = 5;

impl Waits<'_> {
    /// The gate of another state.
    pub(super) fn gate(&mut self) {
        let Ok(ask) = Ask::deserialize(&self.facts.object["status"]["ask"]) else {
            return;
        };
        let Some(id) = self.graph.find(&ask.to) else {
            return;
        };
        let to = self.graph.state(id);
        let since = self.facts.now.duration_since(ask.since);
        let since = rounded(since.try_into().unwrap_or_default());
        let limits = self.limits(id);
        let (says, due) = match opens(to, &self.field_values, self.facts.now) {
            Ok(due @ Some(_)) => (String::new(), due),
            Ok(None) => (", which does not open within the next years".to_owned(), None),
            Err(wrong) => (format!(", which is closed: {wrong}"), None),
        };
        let id = ask.id.as_deref();
        let is_approved = id.is_some_and(|id| approval(self.kind, &self.facts.object, id).is_some());
        let (says, due) = match to.needs_approval && !is_approved {
            true => (
                format!("{says}: approve it with `krator approve`"),
                due.filter(|due| *due > self.facts.now),
            ),
            false => (says, due),
        };
        let (says, due) = match limits.is_empty() {
            true => (says, due),
            // The order in which objects enter depends on all of them.
            false => (
                format!(
                    "{says}: {}; the objects that have been in their state longest go first",
                    limits.join(", and ")
                ),
                due.filter(|due| *due > self.facts.now),
            ),
        };
        self.add(
            "gate",
            format!("it has waited for the gate of {} for {since}{says}", to.name),
            due,
        );
    }

    /// The limits that must have a place for the object before it enters a state, in words.
    pub(super) fn limits(&self, to: StateId) -> Vec<String> {
        let at = self.facts.object["status"]["state"].as_str();
        let at = at.and_then(|at| self.graph.find(at));
        let needed = self.graph.limits.iter().filter(|limit| limit.is_entered(at, to));
        needed
            .map(|limit| {
                let says = format!("the limit {} allows {}", limit.name, limit.at_most);
                match &self.holders(limit)[..] {
                    [] => says,
                    holders => format!("{says} (now {})", holders.join(", ")),
                }
            })
            .collect()
    }

    /// The objects that a limit counts besides this one, up to the number that is shown.
    fn holders(&self, limit: &Limit<'_>) -> Vec<String> {
        let per = |values: &[Option<FieldValue>]| values.get(usize::from(limit.per?)).cloned();
        let of_this = per(&self.field_values);
        let all = self.facts.counted.object().and_then(|all| all.as_array());
        let holds = |object: &&Json| {
            let state = object["status"]["state"].as_str();
            state
                .and_then(|state| self.graph.find(state))
                .is_some_and(|state| limit.states.contains(&state))
                && per(&machine::field_values(self.kind, object)) == of_this
        };
        let holders = all.into_iter().flatten().filter(holds);
        let mut names: Vec<String> = holders
            .map(|object| {
                let name = text(object, "/metadata/name");
                match text(object, "/metadata/namespace") {
                    "" => name.to_owned(),
                    namespace => format!("{namespace}/{name}"),
                }
            })
            .collect();
        if names.len() > MOST_HOLDERS {
            let more = names.len() - MOST_HOLDERS;
            names.truncate(MOST_HOLDERS);
            names.push(format!("and {more} more"));
        }
        names
    }
}
