//! The explanation as JSON, as `krator why --json` prints it. Times are in RFC 3339.

use schemars::JsonSchema;
use serde::Serialize;

use super::report::word;
use super::{Child, Event, Waiting, Why};

/// Why an object is in its state.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WhyReport<'a> {
    /// The kind of the object.
    kind: &'a str,
    /// Its namespace, unless it is in none.
    namespace: Option<&'a str>,
    /// Its name.
    name: &'a str,
    /// When it was looked at, by the clock of the API server.
    time: String,
    /// The stored state, unless no operator has seen the object.
    state: Option<&'a str>,
    /// When it entered the state.
    since: Option<String>,
    /// The message in its status.
    message: &'a str,
    /// The reasons for its wait; never empty.
    waits: Vec<WaitReport<'a>>,
    /// The last error of its handler.
    error: Option<ErrorReport<'a>>,
    /// Its children.
    children: Vec<ChildReport<'a>>,
    /// The last events about it, the latest first.
    events: Vec<EventReport<'a>>,
}

/// Something that an object waits for.
#[derive(Debug, Serialize, JsonSchema)]
struct WaitReport<'a> {
    /// A word that never changes.
    reason: &'a str,
    /// A sentence for people.
    text: &'a str,
    /// When it is due, if that is known.
    due: Option<String>,
}

/// The last error of a handler.
#[derive(Debug, Serialize, JsonSchema)]
struct ErrorReport<'a> {
    /// How often it has failed in a row, unless it is not retried.
    attempts: Option<u64>,
    /// Its message.
    message: &'a str,
}

/// A child.
#[derive(Debug, Serialize, JsonSchema)]
struct ChildReport<'a> {
    /// Its kind.
    kind: &'a str,
    /// Its name.
    name: &'a str,
    /// Whether it is ready, in a word of kstatus: `Current`, `InProgress`, `Failed` or `Terminating`.
    readiness: &'a str,
    /// Why.
    message: &'a str,
}

/// An event.
#[derive(Debug, Serialize, JsonSchema)]
struct EventReport<'a> {
    /// When it happened last.
    time: Option<String>,
    /// Whether it is about an entry into a state.
    transition: bool,
    /// Its reason.
    reason: &'a str,
    /// Its message.
    note: &'a str,
    /// How often it has happened.
    count: u64,
    /// Whether it is a warning.
    warning: bool,
}

impl Why {
    /// The explanation as JSON.
    pub(crate) fn report(&self) -> WhyReport<'_> {
        WhyReport {
            kind: &self.kind,
            namespace: self.namespace.as_deref(),
            name: &self.name,
            time: self.now.to_string(),
            state: self.state.as_deref(),
            since: self.since.map(|since| since.to_string()),
            message: &self.message,
            waits: self.waits.iter().map(Waiting::report).collect(),
            error: self.error.as_ref().map(|error| ErrorReport {
                attempts: error.attempts,
                message: &error.message,
            }),
            children: self.children.iter().map(Child::report).collect(),
            events: self.events.iter().map(Event::report).collect(),
        }
    }
}

impl Waiting {
    fn report(&self) -> WaitReport<'_> {
        WaitReport {
            reason: self.reason,
            text: &self.text,
            due: self.due.map(|due| due.to_string()),
        }
    }
}

impl Child {
    fn report(&self) -> ChildReport<'_> {
        ChildReport {
            kind: &self.kind,
            name: &self.name,
            readiness: word(&self.readiness),
            message: self.readiness.message(),
        }
    }
}

impl Event {
    fn report(&self) -> EventReport<'_> {
        EventReport {
            time: self.time.map(|time| time.to_string()),
            transition: self.is_transition,
            reason: &self.reason,
            note: &self.note,
            count: self.count,
            warning: self.is_warning,
        }
    }
}
