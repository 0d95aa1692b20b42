//! Why an object is in its state, what it waits for, and when that is due. This module is pure: it judges an object,
//! its children and its events as they were read, at a time by the API server's clock.

mod json;
mod report;
mod waits;

pub(crate) use json::WhyReport;

use jiff::Timestamp;
use krator_runtime::Readiness;
use serde_json::Value as Json;

use crate::model::{Description, Kind, ObjectKind};
use crate::observed::development::Development;
use crate::observed::{Lookup, items, name, text, time};

/// An object and the related objects, as read from the cluster.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    /// The time by the API server's clock.
    pub now: Timestamp,
    pub object: Json,
    /// The events about it, in the format of `core/v1`.
    pub events: Lookup,
    /// The objects of each kind in `owns`, in that order, that may be its children.
    pub owned: Vec<Lookup>,
    /// The objects of other kinds that it refers to: each by its kind and its name.
    pub watched: Vec<(ObjectKind, String, Lookup)>,
    /// All objects of its kind, if it waits for a limit that counts them.
    pub counted: Lookup,
    /// The `krator dev` that runs this API server, if any.
    pub development: Option<Development>,
    /// The Lease of its operator, and the Lease a moment later.
    pub lease: Lookup,
    pub lease_later: Option<Json>,
}

/// Why an object is as it is.
#[derive(Debug)]
pub(crate) struct Why {
    pub kind: String,
    pub namespace: Option<String>,
    pub name: String,
    /// The time at which it was read.
    pub now: Timestamp,
    /// The stored state; none before an operator has seen the object.
    pub state: Option<String>,
    pub since: Option<Timestamp>,
    pub message: String,
    /// The reasons for its wait; never empty.
    pub waits: Vec<Waiting>,
    /// The last error of its handler.
    pub error: Option<Failure>,
    pub children: Vec<Child>,
    /// The last events about it, the latest first.
    pub events: Vec<Event>,
}

/// Something that an object waits for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// A fixed word, for programs.
    pub reason: &'static str,
    /// A sentence, for people.
    pub text: String,
    /// When it is due, if that is known.
    pub due: Option<Timestamp>,
}

/// The failures of a handler that is retried, or was given up.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The number of failures in a row; none if it is not retried.
    pub attempts: Option<u64>,
    pub message: String,
}

/// A child.
#[derive(Debug)]
pub(crate) struct Child {
    pub kind: String,
    pub name: String,
    pub readiness: Readiness,
}

/// An event.
#[derive(Debug)]
pub(crate) struct Event {
    pub time: Option<Timestamp>,
    /// Whether it is about an entry into a state.
    pub is_transition: bool,
    /// The state that was entered, or the cause if that was not its handler.
    pub reason: String,
    pub note: String,
    /// The number of occurrences.
    pub count: u64,
    pub is_warning: bool,
}

/// The maximum number of events that are shown.
const MOST_EVENTS: usize = 10;

/// The kind of an object, by any of the names that kubectl takes.
pub(crate) fn kind_named<'a>(description: &'a Description, given: &str) -> Option<&'a Kind> {
    let given = given.to_lowercase();
    description.kinds.iter().find(|kind| {
        let resource = &kind.resource;
        let short = resource.short_names.iter().map(|name| name.as_str());
        let mut names = [
            resource.kind.as_str(),
            resource.plural.as_str(),
            resource.singular.as_str(),
        ]
        .into_iter()
        .chain(short);
        names.any(|name| name.to_lowercase() == given) || resource.definition() == given
    })
}

/// Explains the state of an object of a kind.
pub(crate) fn explain(description: &Description, kind: &Kind, facts: &Facts) -> Why {
    let object = &facts.object;
    let children = children(kind, facts);
    let events = events(&facts.events);
    let state = Some(text(object, "/status/state")).filter(|state| !state.is_empty());
    let message = text(object, "/status/message").to_owned();
    let attempts = object["status"]["attempts"]
        .as_u64()
        .filter(|attempts| *attempts > 0);
    let gave_up = || {
        events
            .iter()
            .find(|event| event.is_transition)
            .is_some_and(|last| last.reason == EXHAUSTED)
    };
    let error = (attempts.is_some() || gave_up()).then(|| Failure {
        attempts,
        message: message.clone(),
    });
    let mut why = Why {
        kind: kind.resource.kind.to_string(),
        namespace: object["metadata"]["namespace"].as_str().map(str::to_owned),
        name: name(object).to_owned(),
        now: facts.now,
        state: state.map(str::to_owned),
        since: time(object, "/status/stateEnteredTime"),
        message,
        waits: Vec::new(),
        error,
        children,
        events,
    };
    why.waits = waits::of(description, kind, facts, &why);
    why
}

/// The reason of the event of an object whose handler has failed too often.
const EXHAUSTED: &str = "RetriesExhausted";

/// The children of an object: those with an owner reference to it as their controller, or with a label instead of one.
fn children(kind: &Kind, facts: &Facts) -> Vec<Child> {
    let uid = &facts.object["metadata"]["uid"];
    let label = crate::machine::finalizer(kind);
    let is_ours = |child: &Json| {
        let mut owners = items(child, "/metadata/ownerReferences").iter();
        let controller = owners.find(|owner| owner["controller"] == true);
        match controller {
            Some(controller) => controller["uid"] == *uid,
            None => child["metadata"]["labels"]
                .get(&label)
                .is_some_and(|owner| owner == uid),
        }
    };
    let owned = kind.owns.iter().zip(&facts.owned);
    owned
        .flat_map(|(owned, found)| found.objects().iter().map(move |child| (owned, child)))
        .filter(|(_, child)| is_ours(child))
        .map(|(owned, child)| Child {
            kind: owned.kind.kind.to_string(),
            name: name(child).to_owned(),
            readiness: Readiness::of(child, facts.now),
        })
        .collect()
}

/// The last events, the latest first.
fn events(found: &Lookup) -> Vec<Event> {
    let mut events: Vec<Event> = found
        .objects()
        .iter()
        .map(|event| {
            let counts = ["/series/count", "/count"];
            let times = [
                "/series/lastObservedTime",
                "/lastTimestamp",
                "/eventTime",
                "/metadata/creationTimestamp",
            ];
            Event {
                time: times.iter().find_map(|pointer| time(event, pointer)),
                is_transition: event["action"] == "Transition",
                reason: text(event, "/reason").to_owned(),
                note: text(event, "/message").to_owned(),
                count: counts
                    .iter()
                    .find_map(|pointer| event.pointer(pointer)?.as_u64())
                    .unwrap_or(1),
                is_warning: event["type"] == "Warning",
            }
        })
        .collect();
    events.sort_by_key(|event| std::cmp::Reverse(event.time));
    events.truncate(MOST_EVENTS);
    events
}

#[cfg(test)]
mod tests;
