//! Forecasts the first action of a description's operator for a stored object, before a handler runs or without one. It
//! uses the engine of the operator itself.

use k8s_openapi::jiff::Timestamp;
use krator_machine::engine::{Cause, Decision, Engine, Moved, Now, Outcome, Place};
use krator_machine::graph::{Exit, Graph, StateId};
use krator_machine::status::MachineStatus;
use krator_machine::versions::Versions;
use serde::Deserialize as _;
use serde_json::Value as Json;
use std::time::Duration;

use crate::machine::{Digests, field_values, spec_schema, with_graph};
use crate::model::{Description, Kind};
use crate::versions;

/// The first action of an operator for a stored object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum First {
    /// Its handler runs in the stored state, or the object rests there.
    Stays,
    /// The object enters these states before a handler runs, each for this cause.
    Enters(Vec<(String, Cause)>),
    /// Its handler runs once more. Unless the handler chooses another state, the timeout then leads to this state.
    TimesOut(String),
    /// Its handler runs, and the object still waits for the gate of this state.
    Waits(String),
    /// An annotation pauses the object.
    Paused,
    /// The operator ignores the object, because no state has the stored name.
    Parked,
    /// The operator ignores the object, because its status cannot be read.
    Unreadable,
    /// The object is being deleted, and the machine does not prevent this, because the machine has no deletion states
    /// or the object has no finalizer.
    Released,
}

impl First {
    /// The same action, with the names of states in another machine.
    pub(super) fn in_names_of(self, machine: &Machine<'_>) -> Self {
        let called = |name: String| machine.called(&name);
        match self {
            First::Enters(entries) => {
                let entries = entries.into_iter();
                First::Enters(entries.map(|(to, cause)| (called(to), cause)).collect())
            }
            First::TimesOut(to) => First::TimesOut(called(to)),
            First::Waits(of) => First::Waits(called(of)),
            other => other,
        }
    }
}

/// The actions of an operator for a stored object.
#[derive(Debug)]
pub(super) struct Forecast {
    pub first: First,
    /// The states whose limits are exhausted, with the states that objects enter instead.
    pub used_up: Vec<(String, String)>,
    /// The places that the object holds of the limits of the kind.
    pub holds: Vec<Place>,
}

/// The machine of a kind, as in its operator.
pub(super) struct Machine<'a> {
    kind: &'a Kind,
    graph: &'a Graph<'a>,
    digests: Option<Digests<'a>>,
    versions: Option<Versions>,
}

/// Calls a function with the machine of a kind.
pub(super) fn with_machine<T>(
    description: &Description,
    kind: &Kind,
    does: impl FnOnce(&Machine<'_>) -> T,
) -> T {
    let schema = spec_schema(description, kind);
    with_graph(kind, |graph| {
        does(&Machine {
            kind,
            graph,
            digests: Digests::of(kind, &schema),
            versions: versions::of(description, kind),
        })
    })
}

/// Forecasts the first action of the operator of a description for an object of a kind in the form that the API server
/// has stored. `now` is the time by the API server's clock.
pub fn first_step(description: &Description, kind: &Kind, object: &Json, now: Timestamp) -> First {
    with_machine(description, kind, |machine| machine.forecast(object, now).first)
}

impl Machine<'_> {
    /// Forecasts the actions of the operator for an object in any version that the operator supports. `now` is the time
    /// by the API server's clock.
    pub fn forecast(&self, object: &Json, now: Timestamp) -> Forecast {
        let newest = format!(
            "{}/{}",
            self.kind.resource.group.value, self.kind.resource.version.value
        );
        // Values with custom conversions stay unconverted, because their code is not available.
        let converted = self.versions.as_ref().and_then(|versions| {
            versions
                .convert(object.clone(), &newest, &|_, _, value| Ok(value))
                .ok()
        });
        let object = converted.as_ref().unwrap_or(object);
        let status = object.get("status").filter(|status| !status.is_null());
        let status = status.map(MachineStatus::deserialize);
        let Ok(status) = status.transpose() else {
            return Forecast {
                first: First::Unreadable,
                used_up: Vec::new(),
                holds: Vec::new(),
            };
        };
        let present = present(now);
        let mut engine = self.found(object, status.as_ref(), present);
        let states = self.graph.states.iter().zip((0..).map(StateId));
        let used_up = states
            .filter_map(|(policy, state)| Some((policy.name.to_owned(), self.name(engine.diverts(state)?))));
        let used_up = used_up.collect();
        let holds = engine.at().map_or_else(Vec::new, |at| engine.places_in(at));
        let is_deleted = is_deleted(object);
        let first = if is_deleted && (self.graph.deletion.is_none() || !self.has_finalizer(object)) {
            First::Released
        } else if !is_deleted && self.annotation(object, "paused") == Some("true") {
            First::Paused
        } else {
            first(&mut engine, present)
        };
        Forecast {
            first,
            used_up,
            holds,
        }
    }

    /// The name in this machine of a state of another description.
    pub fn called(&self, state: &str) -> String {
        let found = self.graph.find(state);
        found.map_or_else(|| state.to_owned(), |state| self.name(state))
    }

    fn name(&self, state: StateId) -> String {
        self.graph.state(state).name.to_owned()
    }

    /// The engine for an object that the operator lists.
    fn found(&self, object: &Json, status: Option<&MachineStatus>, now: Now) -> Engine<'_> {
        let generation = object["metadata"]["generation"].as_i64().unwrap_or_default();
        let mut engine = Engine::new(
            self.graph,
            status,
            generation,
            field_values(self.kind, object),
            now,
        );
        if let Some(digests) = &self.digests {
            engine.found_spec(status, None, digests.of_spec(&object["spec"]));
        }
        if is_deleted(object) {
            engine.saw_deletion();
        }
        engine.saw_request(self.annotation(object, "requestedAt"));
        engine.saw_approval(self.annotation(object, "approve"));
        engine
    }

    fn annotation<'o>(&self, object: &'o Json, name: &str) -> Option<&'o str> {
        let annotations = &object["metadata"]["annotations"];
        annotations[format!("{}/{name}", self.graph.group())].as_str()
    }

    fn has_finalizer(&self, object: &Json) -> bool {
        let finalizers = object["metadata"]["finalizers"].as_array();
        finalizers.is_some_and(|finalizers| finalizers.iter().any(|name| name == self.graph.finalizer))
    }
}

fn is_deleted(object: &Json) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

/// The present of an operator that has just started.
fn present(time: Timestamp) -> Now {
    // These numbers only have to differ from stored ones; none is shown.
    Now {
        elapsed: Duration::ZERO,
        time,
        random: 0,
        leader: 0,
    }
}

/// Runs an engine until it needs a handler, or until it rests.
fn first(engine: &mut Engine<'_>, now: Now) -> First {
    let decision = decide(engine, now);
    let moves = engine.take_moves();
    if !moves.is_empty() {
        let entries = moves.iter().map(|moved| (moved.to.name.to_owned(), moved.cause));
        return First::Enters(entries.collect());
    }
    if engine.at().is_none() {
        return First::Parked;
    }
    if let Some((to, _)) = engine.asks(now) {
        return First::Waits(engine.graph().state(to).name.to_owned());
    }
    if decision == Decision::Run {
        engine.begin();
        engine.ended(Outcome::Exit(Exit::Stay), now);
        decide(engine, now);
        if let Some(Moved {
            to,
            cause: Cause::TimedOut,
            ..
        }) = engine.take_moves().first()
        {
            return First::TimesOut(to.name.to_owned());
        }
    }
    First::Stays
}

/// Takes the edges that need no handler. The engine itself limits the number of entries, so a cycle of such edges ends.
fn decide(engine: &mut Engine<'_>, now: Now) -> Decision {
    loop {
        match engine.decide(now) {
            Decision::Entered => {}
            decision => return decision,
        }
    }
}
