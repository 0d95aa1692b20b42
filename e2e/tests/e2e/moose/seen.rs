//! The events and log lines for transitions, and the report about a state that the operator does not have.

use super::faults::replaced;
use super::fixture::{Fixture, Variant, names};
use super::history::states;
use crate::cluster::watch::Event;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Moose whose states change within seconds, so that the same events are repeated, with an objective for sleep.
pub const QUICK: Variant = Variant {
    name: "moose-quick",
    description: |description| {
        let times = [
            ("wait: {poll: 2s}", "wait: {poll: 200ms}"),
            ("wait: {poll: 5s}", "wait: {poll: 200ms}"),
            ("after: 20s, to: Roam", "after: 1s, to: Roam"),
        ];
        times.iter().fold(description.to_owned(), |text, (long, short)| {
            replaced(&text, long, short)
        }) + "slo: {from: Tagged, to: Sleep, within: 10m, objective: 99}\n"
    },
    edit: |_| (),
};

/// The number of transitions: by the name of the moose, and both states.
type Transitions = BTreeMap<(String, Option<String>, String), u64>;

/// The transitions according to the stored states.
fn stored(events: &[Event], names: &[String]) -> Transitions {
    let mut transitions = Transitions::new();
    for name in names {
        let mut from = None;
        for to in states(events, name) {
            let transition = (name.clone(), from.replace(to).map(str::to_owned), to.to_owned());
            *transitions.entry(transition).or_default() += 1;
        }
    }
    transitions
}

/// The transitions according to the events.
fn told(events: &[Value]) -> Transitions {
    let mut transitions = Transitions::new();
    for event in events {
        let note = event["note"].as_str().expect("a note");
        let states = note.split_once(':').map_or(note, |(states, _)| states);
        let words: Vec<&str> = states.split_whitespace().collect();
        let (to, from) = match words[..] {
            ["entered", to] => (to, None),
            ["entered", to, "from", from] => (to, Some(from.to_owned())),
            _ => panic!("{note}"),
        };
        let name = event["regarding"]["name"].as_str().expect("a name").to_owned();
        let count = event["series"]["count"].as_u64().unwrap_or(1);
        *transitions.entry((name, from, to.to_owned())).or_default() += count;
    }
    transitions
}

/// The transitions according to the log, which is JSON.
fn logged(log: &str) -> Transitions {
    let mut transitions = Transitions::new();
    let lines = log
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    for line in lines.filter(|line| line["fields"]["message"] == "transition") {
        let fields = &line["fields"];
        for key in [
            "group",
            "kind",
            "namespace",
            "name",
            "state",
            "to",
            "cause",
            "entry",
        ] {
            assert!(
                fields[key].as_str().is_some_and(|text| !text.is_empty()),
                "{key}: {line}"
            );
        }
        let text = |key: &str| fields[key].as_str().map(str::to_owned);
        let transition = (
            text("name").expect("checked"),
            text("from"),
            text("to").expect("checked"),
        );
        *transitions.entry(transition).or_default() += 1;
    }
    transitions
}

fn events(fixture: &Fixture) -> Vec<Value> {
    let list = fixture.kubectl(&["get", "events.events.k8s.io", "--output=json"]);
    let mut list: Value = serde_json::from_str(&list).expect("kubectl writes JSON");
    list["items"].as_array_mut().map(std::mem::take).expect("a list")
}

#[test]
fn each_stored_transition_is_in_an_event_and_in_the_log_once() {
    let Some(mut fixture) = Fixture::new("events", &QUICK) else {
        return;
    };
    let names = names(3);
    fixture.create(&names);
    fixture.start(&["--log-format", "json"]);
    fixture.wait("each moose has slept five times", |events| {
        let sleeps = |name| {
            states(events, name)
                .iter()
                .filter(|state| **state == "Sleep")
                .count()
        };
        names.iter().all(|name| sleeps(name) >= 5)
    });
    assert_eq!(fixture.terminate().code(), Some(0), "a stop is no failure");
    // After the creation of a later object, the watch has seen all earlier writes.
    fixture.create(&["last".to_owned()]);

    let stored = stored(&fixture.watch.events(), &names);
    let events = events(&fixture);
    assert_eq!(told(&events), stored);
    let log = fixture.log();
    assert_eq!(logged(&log), stored);
    let notes: BTreeSet<_> = events
        .iter()
        .map(|event| (event["regarding"]["uid"].to_string(), event["note"].to_string()))
        .collect();
    assert_eq!(notes.len(), events.len(), "repeats are one event");
    for event in &events {
        assert_eq!(
            (&event["action"], &event["type"]),
            (&json!("Transition"), &json!("Normal"))
        );
        assert_eq!(event["reportingController"], "moose-tracker");
        let note = event["note"].as_str().expect("a note");
        let reason = event["reason"].as_str().expect("a reason");
        let expected = match note {
            "entered Roam from Sleep: Gahrooo! (timed out after 1s in Sleep)" => "TimedOut",
            "entered Tagged" => "Tagged",
            "entered Roam from Tagged: Gahrooo!" => "Roam",
            "entered Eat from Roam: *munch*" => "Eat",
            "entered Sleep from Eat: zzzzzz" => "Sleep",
            other => panic!("{other}"),
        };
        assert_eq!(reason, expected);
    }
    let requests = fixture.cluster.requests(&fixture.namespace);
    let made = requests
        .iter()
        .filter(|request| request.verb == "create" && request.uri.contains("/events"));
    assert_eq!(made.count(), events.len());
    let started = log
        .lines()
        .find(|line| line.contains("\"started\""))
        .expect("it has started");
    let started: Value = serde_json::from_str(started).expect("JSON");
    assert_eq!(started["fields"]["version"], "0.1.0");
    assert_eq!(started["fields"]["runtime"], env!("CARGO_PKG_VERSION"));
    assert_eq!(fixture.forbidden(), [""; 0]);
}

#[test]
fn a_moose_in_an_unknown_state_is_parked_until_an_operator_knows_the_state() {
    let Some(mut fixture) = Fixture::new("parked", &QUICK) else {
        return;
    };
    fixture.create(&names(1));
    fixture.start(&[]);
    fixture.wait("it goes round", |events| {
        states(events, "moose-1").contains(&"Sleep")
    });
    fixture.terminate();
    let get = |fixture: &Fixture| -> Value {
        let args = ["get", "moose/moose-1", "--output=json", "--show-managed-fields"];
        serde_json::from_str(&fixture.kubectl(&args)).expect("kubectl writes JSON")
    };
    // Writes a state as a newer version of the operator would.
    let apply = |fixture: &Fixture, state: &str| {
        let mut status = get(fixture)["status"].take();
        status["state"] = json!(state);
        let object = json!({
            "apiVersion": "animals.com/v1",
            "kind": "Moose",
            "metadata": {"name": "moose-1", "namespace": fixture.namespace},
            "status": status,
        });
        let manager = ["--field-manager=moose-tracker", "--force-conflicts"];
        let applied = fixture.cluster.try_apply_status(&object.to_string(), &manager);
        applied.unwrap_or_else(|error| panic!("{error}"));
    };
    apply(&fixture, "Migrate");
    let before = get(&fixture)["status"].take();

    fixture.start(&[]);
    let wait = |fixture: &Fixture, what: &str| {
        drop(fixture.kubectl(&["wait", what, "moose/moose-1", "--timeout=60s"]))
    };
    wait(&fixture, "--for=condition=Stalled");
    fixture.terminate();
    let mut parked = get(&fixture);
    let managers = parked["metadata"]["managedFields"].as_array().expect("a list");
    let own = managers
        .iter()
        .find(|entry| entry["manager"] == "moose-tracker-conditions");
    let own = &own.expect("a field manager of its own")["fieldsV1"];
    let owned =
        |fields: &Value| -> Vec<String> { fields.as_object().expect("fields").keys().cloned().collect() };
    assert_eq!(owned(own), ["f:status"]);
    assert_eq!(owned(&own["f:status"]), ["f:conditions"]);
    assert_eq!(
        owned(&own["f:status"]["f:conditions"]),
        ["k:{\"type\":\"Stalled\"}"]
    );
    let without_stalled = |status: &mut Value| {
        let conditions = status["conditions"].as_array_mut().expect("conditions");
        let at = conditions
            .iter()
            .position(|condition| condition["type"] == "Stalled");
        let stalled = conditions.remove(at.expect("always there"));
        (stalled, status.take())
    };
    let (stalled, after) = without_stalled(&mut parked["status"]);
    assert_eq!(
        (&stalled["status"], &stalled["reason"]),
        (&json!("True"), &json!("UnknownState"))
    );
    assert_eq!(after, without_stalled(&mut before.clone()).1, "the rest stays");
    let unknown = events(&fixture)
        .into_iter()
        .filter(|event| event["reason"] == "UnknownState");
    assert_eq!(
        unknown.map(|event| event["type"].clone()).collect::<Vec<_>>(),
        ["Warning"]
    );

    apply(&fixture, "Roam");
    fixture.start(&[]);
    wait(&fixture, "--for=condition=Stalled=false");
    wait(&fixture, "--for=condition=Ready");
    let (stalled, _) = without_stalled(&mut get(&fixture)["status"]);
    assert_ne!(stalled["reason"], "UnknownState", "{stalled}");
    assert!(fixture.is_running());
}
