//! The number of objects in each state, and the object that has been there longest. This module is pure: the objects
//! are read elsewhere.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use crate::model::{Description, Kind, KindId};
use crate::observed::{between, name, rounded, text, time};
use crate::render::diagram::Notes;
use crate::text::printable;

/// The objects of all kinds, by their states.
#[derive(Debug)]
pub(crate) struct Population {
    /// The time by the API server's clock.
    now: Timestamp,
    /// In the order of the kinds: the objects in each state, by its name in the description. Objects in an unknown
    /// state are under its stored name, which is empty if no operator has seen the object.
    kinds: Vec<BTreeMap<String, Group>>,
}

/// The objects in a state.
#[derive(Debug, Default)]
struct Group {
    count: usize,
    /// The object that entered the state first, and the time.
    oldest: Option<(Timestamp, String)>,
}

impl Population {
    /// Counts objects, which are given in the order of the kinds.
    pub(crate) fn of(description: &Description, now: Timestamp, objects: &[Vec<Json>]) -> Self {
        let kinds = description.kinds.iter().zip(objects);
        let kinds = kinds.map(|(kind, objects)| {
            let mut groups: BTreeMap<String, Group> = BTreeMap::new();
            for object in objects {
                let stored = text(object, "/status/state");
                let state = kind
                    .states
                    .iter()
                    .find(|state| state.names().any(|name| name == stored));
                let state = state.map_or(stored, |state| state.name.as_str());
                groups.entry(state.to_owned()).or_default().add(object);
            }
            groups
        });
        Population {
            now,
            kinds: kinds.collect(),
        }
    }

    fn group(&self, at: usize, state: &str) -> Option<&Group> {
        self.kinds.get(at)?.get(state)
    }

    /// The notes of diagrams beside each state.
    pub(crate) fn notes(&self, description: &Description) -> Notes {
        let mut notes = Notes::default();
        for (at, kind) in description.kinds.iter().enumerate() {
            for (id, state) in kind.state_ids() {
                if let Some(group) = self.group(at, state.name.as_str()) {
                    notes.add(KindId(at), id, self.in_words(group));
                }
            }
        }
        notes
    }

    /// The text for a group, such as `3 objects, oldest 2h: default/bullwinkle`.
    fn in_words(&self, group: &Group) -> String {
        let count = match group.count {
            1 => "1 object".to_owned(),
            count => format!("{count} objects"),
        };
        match &group.oldest {
            Some((since, name)) => format!("{count}, oldest {}: {name}", rounded(between(*since, self.now))),
            None => count,
        }
    }

    /// The objects as a table with all states.
    pub(crate) fn to_table(&self, description: &Description) -> String {
        let mut rows = vec![["KIND", "STATE", "OBJECTS", "OLDEST", "OBJECT"].map(str::to_owned)];
        for (at, kind) in description.kinds.iter().enumerate() {
            for state in self.states(at, kind) {
                let group = self.group(at, state);
                let oldest = group.and_then(|group| group.oldest.as_ref());
                rows.push([
                    kind.resource.kind.to_string(),
                    self.shown(kind, state),
                    group.map_or(0, |group| group.count).to_string(),
                    oldest.map_or("-".to_owned(), |(since, _)| rounded(between(*since, self.now))),
                    oldest.map_or("-".to_owned(), |(_, name)| printable(name)),
                ]);
            }
        }
        let widths = [0, 1, 2, 3].map(|at| rows.iter().map(|row| row[at].len()).max().unwrap_or(0));
        let lines = rows.iter().map(|row| {
            let cells = widths
                .iter()
                .zip(row)
                .map(|(width, cell)| format!("{cell:<width$}  "));
            format!("{}{}\n", cells.collect::<String>(), row[4])
        });
        lines.collect()
    }

    /// The states of the description, followed by other states with objects.
    fn states<'a>(&'a self, at: usize, kind: &'a Kind) -> impl Iterator<Item = &'a str> {
        let known = kind.states.iter().map(|state| state.name.as_str());
        let others = self
            .kinds
            .get(at)
            .into_iter()
            .flat_map(BTreeMap::keys)
            .map(String::as_str);
        known.chain(others.filter(|state| kind.state_named(state).is_none()))
    }

    fn shown(&self, kind: &Kind, state: &str) -> String {
        match state {
            "" => "(none yet)".to_owned(),
            state if kind.state_named(state).is_none() => format!("{} (unknown)", printable(state)),
            state => state.to_owned(),
        }
    }

    /// The objects as JSON.
    pub(crate) fn report<'a>(&'a self, description: &'a Description) -> Vec<StateObjects<'a>> {
        let kinds = description.kinds.iter().enumerate().flat_map(|(at, kind)| {
            self.states(at, kind).map(move |state| {
                let group = self.group(at, state);
                let oldest = group.and_then(|group| group.oldest.as_ref());
                StateObjects {
                    kind: kind.resource.kind.as_str(),
                    state,
                    known: kind.state_named(state).is_some(),
                    objects: group.map_or(0, |group| group.count),
                    oldest: oldest.map(|(since, name)| OldestObject {
                        object: name,
                        since: since.to_string(),
                    }),
                }
            })
        });
        kinds.collect()
    }
}

/// The objects in a state, as `krator graph --live --json` prints them.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StateObjects<'a> {
    /// The kind.
    kind: &'a str,
    /// The stored state; empty for objects that no operator has seen yet.
    state: &'a str,
    /// Whether the description has the state.
    known: bool,
    /// How many objects are in it.
    objects: usize,
    /// The object that is in it for the longest time.
    oldest: Option<OldestObject<'a>>,
}

/// The object that is in a state for the longest time.
#[derive(Debug, Serialize, JsonSchema)]
struct OldestObject<'a> {
    /// Its name, with its namespace.
    object: &'a str,
    /// When it entered the state, as RFC 3339 has it.
    since: String,
}

impl Group {
    fn add(&mut self, object: &Json) {
        self.count += 1;
        let entered =
            time(object, "/status/stateEnteredTime").or_else(|| time(object, "/metadata/creationTimestamp"));
        let Some(entered) = entered else { return };
        if self.oldest.as_ref().is_none_or(|(oldest, _)| entered < *oldest) {
            let namespace = text(object, "/metadata/namespace");
            let joint = if namespace.is_empty() { "" } else { "/" };
            self.oldest = Some((entered, format!("{namespace}{joint}{}", name(object))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::diagram;
    use serde_json::json;

    const DESCRIPTION: &str = "
krator: 1
resource: {group: example.com, version: v1, kind: Moose, plural: moose}
spec: {a: string}
machine: {initial: Roam}
states: {Roam: {next: [Rest], renamedFrom: Walk}, Rest: {kind: ready}}
";

    fn moose(name: &str, state: &str, entered: &str) -> Json {
        json!({"metadata": {"name": name, "namespace": "park"}, "status": {"state": state, "stateEnteredTime": entered}})
    }

    #[test]
    fn objects_are_counted_by_their_states_also_in_diagrams() {
        let description = crate::check("krator.yaml", DESCRIPTION.as_bytes()).description;
        let description = description.expect("it has no errors");
        let objects = vec![
            moose("a", "Roam", "2026-01-01T00:50:00Z"),
            moose("b", "Walk", "2026-01-01T00:30:00Z"),
            moose("c", "Swim", "2026-01-01T00:00:00Z"),
            json!({"metadata": {"name": "d", "namespace": "park", "creationTimestamp": "2026-01-01T00:59:55Z"}}),
        ];
        let now = "2026-01-01T01:00:00Z".parse().expect("a time");
        let population = Population::of(&description, now, &[objects]);
        assert_eq!(
            population.to_table(&description),
            "KIND   STATE           OBJECTS  OLDEST  OBJECT\n\
             Moose  Roam            2        30m     park/b\n\
             Moose  Rest            0        -       -\n\
             Moose  (none yet)      1        5s      park/d\n\
             Moose  Swim (unknown)  1        1h      park/c\n"
        );
        let notes = population.notes(&description);
        let dot = diagram::dot_with(&description, &notes);
        assert!(
            dot.contains(r#""Moose.Roam" [label="Roam\n2 objects, oldest 30m: park/b"]"#),
            "{dot}"
        );
        let mermaid = diagram::mermaid_with(&description, &notes);
        assert!(
            mermaid.contains("state \"Roam (2 objects, oldest 30m#58; park/b)\" as Moose_Roam"),
            "{mermaid}"
        );
        let ascii = diagram::ascii_with(&description, &notes);
        assert!(
            ascii.contains("  Roam  [initial, 2 objects, oldest 30m: park/b]\n"),
            "{ascii}"
        );
        let oldest = population.report(&description).remove(3).oldest;
        assert_eq!(oldest.expect("an object").object, "park/c");
    }
}
