//! Moose whose handlers never fail, while their operator is killed, stopped and restarted.

use super::fixture::{Fixture, UNTOUCHED, names};
use super::history::states;
use crate::cluster::watch::Event;
use serde_json::Value;

/// Whether the moose of this name was in this phase at any time.
fn was(events: &[Event], name: &str, phase: &str) -> bool {
    events
        .iter()
        .any(|event| event.name() == name && event.text("/status/phase") == phase)
}

#[test]
fn every_moose_is_seen_roaming_hungry_and_asleep() {
    let Some(mut fixture) = Fixture::new("phases", &UNTOUCHED) else {
        return;
    };
    let names = names(25);
    fixture.create(&names);
    fixture.start(&[]);

    fixture.kubectl(&[
        "wait",
        "--for=condition=Ready",
        "moose",
        "--all",
        "--timeout=180s",
    ]);
    let events = fixture.wait("each moose seen in each phase", |events| {
        names.iter().all(|name| {
            ["Roaming", "Hungry", "Asleep"]
                .iter()
                .all(|phase| was(events, name, phase))
        })
    });

    fixture.judge(&events);
    for name in &names {
        let states = states(&events, name);
        assert!(
            states.starts_with(&["Tagged", "Roam", "Eat", "Sleep"]),
            "{name}: {states:?}"
        );
    }
    let table = fixture.kubectl(&["get", "moose"]);
    let mut rows = table
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    let header = ["NAME", "WEIGHT", "STATE", "READY", "MESSAGE", "AGE"];
    assert_eq!(rows.next(), Some(header.to_vec()));
    let row = rows.next().expect("a row for each moose");
    assert_eq!((row.len(), row[1]), (6, "450.5"), "{table}");
    assert!(["Roam", "Eat", "Sleep"].contains(&row[2]), "{table}");
    assert!(["True", "False"].contains(&row[3]), "{table}");

    assert_eq!(
        fixture.terminate().code(),
        Some(0),
        "an operator that was told to end has not failed"
    );
    assert_eq!(fixture.forbidden(), [""; 0], "the generated role is enough");
}

#[test]
fn every_moose_goes_on_from_its_stored_state_after_a_kill() {
    let Some(mut fixture) = Fixture::new("kill", &UNTOUCHED) else {
        return;
    };
    let names = names(25);
    fixture.create(&names);
    let mut before = 0;
    for phase in ["Roaming", "Hungry", "Asleep"] {
        fixture.start(&[]);
        // The operator is killed when the first moose is in this phase: the others are in various states, and writes
        // are in flight.
        let events = fixture.wait(&format!("a moose becomes {phase}"), |events| {
            events[before..]
                .iter()
                .any(|event| event.text("/status/phase") == phase)
        });
        fixture.kill();
        before = events.len();
    }
    fixture.start(&[]);
    let entries = |events: &[Event], name: &str| states(events, name).len();
    let seen = fixture.watch.events();
    fixture.wait("each moose goes on after the kills", |events| {
        names
            .iter()
            .all(|name| entries(events, name) > entries(&seen, name))
    });

    assert_eq!(fixture.terminate().code(), Some(0));
    let seen = fixture.watch.events();
    fixture.start(&[]);
    let events = fixture.wait("each moose goes on after SIGTERM", |events| {
        names
            .iter()
            .all(|name| entries(events, name) > entries(&seen, name))
    });

    // No edge leads to Tagged, so this also proves that no moose went back to the initial state.
    fixture.judge(&events);
}

#[test]
fn a_deleted_moose_is_released_and_then_gone() {
    let Some(mut fixture) = Fixture::new("delete", &UNTOUCHED) else {
        return;
    };
    fixture.create(&names(3));
    fixture.start(&[]);
    fixture.wait("the moose walk", |events| was(events, "moose-2", "Hungry"));

    fixture.kubectl(&["delete", "moose", "moose-2", "--timeout=120s"]);

    let events = fixture.wait("the moose is gone", |events| {
        events.iter().any(|event| event.deleted)
    });
    assert_eq!(states(&events, "moose-2").last(), Some(&"Released"));
    let end = events.iter().find(|event| event.deleted).expect("just seen");
    assert_eq!((end.name(), end.text("/status/message")), ("moose-2", "Bye!"));
    fixture.judge(&events);
    assert_eq!(
        fixture
            .kubectl(&["get", "moose", "--output=name"])
            .lines()
            .count(),
        2
    );
}

#[test]
fn a_moose_deleted_while_no_operator_runs_is_released_after_the_start() {
    let Some(mut fixture) = Fixture::new("delete-down", &UNTOUCHED) else {
        return;
    };
    fixture.create(&names(3));
    fixture.start(&[]);
    fixture.wait("all moose walk", |events| {
        names(3).iter().all(|name| was(events, name, "Hungry"))
    });
    fixture.kill();

    fixture.kubectl(&["delete", "moose", "moose-1", "moose-2", "--wait=false"]);
    let held = fixture.kubectl(&["get", "moose", "moose-1", "--output=json"]);
    let held: Value = serde_json::from_str(&held).expect("kubectl writes JSON");
    assert_eq!(
        held["metadata"]["finalizers"],
        serde_json::json!(["animals.com/moose"])
    );
    assert!(
        held["metadata"]["deletionTimestamp"].is_string(),
        "deleted, and held by the finalizer"
    );

    fixture.start(&[]);
    let events = fixture.wait("both moose are gone", |events| {
        events.iter().filter(|e| e.deleted).count() == 2
    });
    for name in ["moose-1", "moose-2"] {
        assert_eq!(states(&events, name).last(), Some(&"Released"), "{name}");
    }
    fixture.judge(&events);
}

#[test]
fn the_operator_keeps_to_its_selector_and_logs_json() {
    let Some(mut fixture) = Fixture::new("selector", &UNTOUCHED) else {
        return;
    };
    fixture.create(&names(2));
    fixture.start(&["--selector", "name=moose-2", "--log-format", "json"]);

    fixture.wait("the selected moose walks", |events| {
        was(events, "moose-2", "Hungry")
    });

    assert_eq!(fixture.terminate().code(), Some(0));
    assert_eq!(
        states(&fixture.watch.events(), "moose-1"),
        [""; 0],
        "not selected"
    );
    let log = fixture.log();
    assert!(!log.is_empty(), "it says that it runs");
    for line in log.lines() {
        serde_json::from_str::<Value>(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    }
}
