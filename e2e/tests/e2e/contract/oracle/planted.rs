//! A test of the oracle: it has no findings in a correct history, and finds each defect that is planted into that
//! history.
#![cfg(test)]

mod table;

use super::Oracle;
use crate::cluster::watch::Event;
use krator::model::{Kind, Ready};
use serde_json::{Value, json};
use table::{planted, resumed};

const DESCRIPTION: &str = "\
krator: 1
resource: {group: example.com, version: v1, kind: Thing}
spec: {size: int32, level: optional string}
machine: {initial: Begin, deletion: Deleting}
states:
  Begin: {next: [Work]}
  Work: {next: [Running, Look], effects: once, resume: Look, phase: Busy, onDelete: wait, timeout: {after: 1h, to: Look}}
  Look: {next: [Running], wait: {poll: 1s}, timeout: {after: 1h, to: Broken}, retry: {limit: 2, then: Broken}}
  Running: {kind: ready, next: [Again], message: Fine., onSpecChange: [{of: .spec.level, to: ignore}, Begin]}
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

/// A correct object in a state that was entered at this second.
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
            // Each condition has a time of its own, so that the test detects a time that is taken from another
            // condition.
            "lastTransitionTime": format!("2026-01-01T00:00:00Z#{name}{status}"), "observedGeneration": 1,
        })
    };
    json!({
        "metadata": {
            "name": "thing", "uid": "uid", "generation": 1, "creationTimestamp": "2026-01-01T00:00:00Z",
            "finalizers": ["example.com/things"], "managedFields": [{"time": time}],
        },
        "status": {
            "state": state, "phase": policy.shown_phase(), "message": message, "entry": entry,
            "stateEnteredTime": time, "attempts": 0, "observedGeneration": 1,
            "conditions": [
                condition("Ready", word(core.ready == Ready::True), state, message),
                condition("Reconciling", word(core.reconciling), state, message),
                condition("Stalled", word(core.stalled), state, message),
                condition("Fresh", "Unknown", "Unset", ""),
            ],
        },
    })
}

/// A correct history of one object: it is created, works, becomes ready and is deleted.
fn correct_history(kind: &Kind) -> Vec<Event> {
    let mut created = thing(kind, "Begin", "", 0);
    created["status"] = json!({"observedGeneration": -1});
    let held = created.clone();
    created["metadata"]["finalizers"] = json!([]);
    let mut objects = vec![created, held];
    objects.push(thing(kind, "Begin", "1", 1));
    objects.push(thing(kind, "Work", "2", 2));
    objects.push(thing(kind, "Running", "3", 3));
    objects.push(thing(kind, "Running", "3", 3));
    objects.push(thing(kind, "Deleting", "4", 5));
    objects.push(thing(kind, "Deleted", "5", 6));
    objects.push(thing(kind, "Deleted", "5", 6));
    for object in &mut objects[5..] {
        object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:04Z");
    }
    let mut events: Vec<Event> = objects
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
    oracle.check_handler_starts(starts);
    oracle.findings().to_vec()
}

#[test]
fn each_planted_defect_is_found_and_nothing_in_correct_histories() {
    for (name, plant, expected) in planted() {
        let kind = kind();
        let mut events = correct_history(&kind);
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
    let events = correct_history(&kind());
    assert_eq!(
        findings(&events, "1 Begin uid 7\n2 Work uid 7\n1 Begin uid 8\n"),
        [""; 0]
    );
    // On the deletion path the runtime continues after a failed write of the status, so handlers of unwritten entries
    // may run.
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
fn a_restart_explains_a_move_that_nothing_else_does() {
    let kind = kind();
    let mut events = correct_history(&kind);
    resumed(&kind, &mut events);
    let mut oracle = Oracle::new(&kind);
    oracle.operator_starts("2026-01-01T00:00:09Z".parse().expect("a time"));
    events.iter().for_each(|event| oracle.see(event));
    oracle.assert_clean();
}
