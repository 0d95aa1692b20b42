//! A test of the oracle: a good history, in which it finds nothing, and the same with one thing wrong at a time.
#![cfg(test)]

mod table;

use super::Oracle;
use crate::cluster::watch::Event;
use krator::model::{Kind, Ready};
use serde_json::{Value, json};
use table::{PLANTED, resumed};

const DESCRIPTION: &str = "\
krator: 1
resource: {group: example.com, version: v1, kind: Thing}
spec: {size: int32}
machine: {initial: Begin, deletion: Deleting}
states:
  Begin: {next: [Work]}
  Work: {next: [Running, Look], effects: once, resume: Look, phase: Busy, onDelete: wait, timeout: {after: 1h, to: Look}}
  Look: {next: [Running], wait: {poll: 1s}, timeout: {after: 1h, to: Broken}, retry: {limit: 2, then: Broken}}
  Running: {kind: ready, next: [Again], message: Fine., onSpecChange: Begin}
  Again: {next: [Running], resume: Look, limit: {times: 2, then: Broken}, conditions: {Fresh: \"False\"}}
  Broken: {kind: failed, next: [Look]}
  Deleting: {next: [Deleted], wait: {poll: 1s}, retry: {limit: 2, then: Deleted}}
  Deleted: {kind: final}
";

fn kind() -> Kind {
    let checked = krator::check("krator.yaml", DESCRIPTION.as_bytes());
    let description = checked.description.expect("a description");
    let errors: Vec<_> = checked.findings.iter().map(|finding| &finding.message).collect();
    assert_eq!(description.kinds.len(), 1, "{errors:?}");
    description.kinds[0].clone()
}

/// An object in a state, entered at that second, as it has to be written.
fn thing(kind: &Kind, state: &str, entry: &str, second: u32) -> Value {
    let policy = kind.state(kind.state_named(state).expect("a state"));
    let message = policy
        .message
        .as_ref()
        .map_or("", |message| message.value.as_str());
    let time = format!("2026-01-01T00:00:{second:02}Z");
    let core = &policy.standard_conditions;
    let word = |holds: bool| if holds { "True" } else { "False" };
    let condition = |name: &str, status: &str, reason: &str, message: &str| {
        json!({
            "type": name, "status": status, "reason": reason, "message": message,
            // Each has its own since: none of them moves with another's.
            "lastTransitionTime": format!("2026-01-01T00:00:00Z#{name}{status}"), "observedGeneration": 1,
        })
    };
    json!({
        "metadata": {
            "name": "thing", "uid": "uid", "generation": 1, "creationTimestamp": "2026-01-01T00:00:00Z",
            "finalizers": ["example.com/things"], "managedFields": [{"time": time}],
        },
        "status": {
            "state": state, "phase": policy.phase.value, "message": message, "entry": entry,
            "stateEnteredAt": time, "attempts": 0, "observedGeneration": 1,
            "conditions": [
                condition("Ready", word(core.ready == Ready::True), state, message),
                condition("Reconciling", word(core.reconciling), state, message),
                condition("Stalled", word(core.stalled), state, message),
                condition("Fresh", "Unknown", "Unset", ""),
            ],
        },
    })
}

/// A life without a fault: created, made to work, ready, deleted.
fn life(kind: &Kind) -> Vec<Event> {
    let mut created = thing(kind, "Begin", "", 0);
    created["status"] = json!({"observedGeneration": -1});
    let held = created.clone();
    created["metadata"]["finalizers"] = json!([]);
    let mut life = vec![created, held];
    life.push(thing(kind, "Begin", "1", 1));
    life.push(thing(kind, "Work", "2", 2));
    life.push(thing(kind, "Running", "3", 3));
    life.push(thing(kind, "Running", "3", 3));
    life.push(thing(kind, "Deleting", "4", 5));
    life.push(thing(kind, "Deleted", "5", 6));
    life.push(thing(kind, "Deleted", "5", 6));
    for object in &mut life[5..] {
        object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:04Z");
    }
    let mut events: Vec<Event> = life
        .into_iter()
        .map(|object| Event {
            deleted: false,
            object,
        })
        .collect();
    let end = events.last_mut().expect("just made");
    end.deleted = true;
    end.object["metadata"]["finalizers"] = json!([]);
    events
}

fn findings(events: &[Event], starts: &str) -> Vec<String> {
    let mut oracle = Oracle::new(&kind());
    events.iter().for_each(|event| oracle.see(event));
    oracle.hear(starts);
    oracle.findings().to_vec()
}

#[test]
fn each_planted_fault_is_found_and_nothing_in_good_lives() {
    for (name, plant, expected) in PLANTED {
        let kind = kind();
        let mut events = life(&kind);
        plant(&kind, &mut events);
        let found = findings(&events, "");
        if expected.is_empty() {
            assert!(found.is_empty(), "{name}: {found:#?}");
        } else {
            assert!(
                found.iter().any(|found| found.contains(expected)),
                "{name}: {found:#?}"
            );
        }
    }
}

#[test]
fn starts_of_handlers_are_held_to_what_was_written() {
    let events = life(&kind());
    assert_eq!(
        findings(&events, "1 Begin uid 7\n2 Work uid 7\n1 Begin uid 8\n"),
        [""; 0]
    );
    // A status that could not be written stops nothing on the deletion path.
    let mut early = events.clone();
    early.remove(7);
    let end = early[6].object.clone();
    early[7].object["status"] = end["status"].clone();
    assert_eq!(findings(&early, "5 Deleted uid 7\n"), [""; 0]);
    assert_eq!(findings(&early, "4 Deleting uid 7\n").len(), 1);
    for (starts, expected) in [
        (
            "2 Work uid 7\n2 Work uid 8\n",
            "that may run once has run 2 times for the entry 2",
        ),
        ("6 Begin uid 7\n", "for an entry that was never written"),
        ("1 Work uid 7\n", "for an entry that was never written"),
        ("1 Nowhere uid 7\n", "of an unknown state"),
        ("1\n", "cannot be read"),
    ] {
        let found = findings(&events, starts);
        assert!(
            found.iter().any(|found| found.contains(expected)),
            "{starts}: {found:?}"
        );
    }
}

#[test]
fn a_restart_explains_what_else_would_not_be() {
    let kind = kind();
    let mut events = life(&kind);
    resumed(&kind, &mut events);
    let mut oracle = Oracle::new(&kind);
    oracle.operator_starts("2026-01-01T00:00:09Z".parse().expect("a time"));
    events.iter().for_each(|event| oracle.see(event));
    oracle.assert_clean();
}
