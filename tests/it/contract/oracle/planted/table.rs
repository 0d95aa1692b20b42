//! What is planted into a good life, and what the oracle has to say of it.

use super::thing;
use crate::cluster::watch::Event;
use krator::model::Kind;
use serde_json::{Value, json};

/// An edit of a good life, and what has to be found then, if anything.
pub type Planted = (&'static str, fn(&Kind, &mut Vec<Event>), &'static str);

/// Sets a value of one event and of all that follow.
fn from_on(events: &mut [Event], at: usize, pointer: &str, value: &Value) {
    for event in &mut events[at..] {
        *event.object.pointer_mut(pointer).expect("a value is there") = value.clone();
    }
}

/// The life goes to this state instead of `Running`, and from there to its deletion.
fn instead(kind: &Kind, events: &mut [Event], state: &str, second: u32) {
    for event in &mut events[4..6] {
        let deleted = event.object["metadata"]["deletionTimestamp"].clone();
        event.object = thing(kind, state, "3", second);
        event.object["metadata"]["deletionTimestamp"] = deleted;
    }
}

/// A life that stays in `Look` and fails there so often, and is then broken.
fn failing(kind: &Kind, events: &mut Vec<Event>, times: i64) {
    instead(kind, events, "Look", 3);
    let look = events[4].object.clone();
    events.truncate(5);
    for attempts in 1..=times {
        let mut failed = look.clone();
        failed["status"]["attempts"] = json!(attempts);
        failed["status"]["message"] = json!("no");
        for condition in failed["status"]["conditions"]
            .as_array_mut()
            .expect("a list")
            .iter_mut()
            .take(3)
        {
            condition["reason"] = json!("Retrying");
            condition["message"] = json!("no");
        }
        events.push(Event {
            deleted: false,
            object: failed,
        });
    }
    events.push(Event {
        deleted: false,
        object: thing(kind, "Broken", "9", 9),
    });
}

/// A life that is met in `Again` by a new operator, which has to look.
pub fn resumed(kind: &Kind, events: &mut Vec<Event>) {
    events.truncate(5);
    for (state, entry) in [("Again", "9"), ("Look", "10")] {
        let mut object = thing(kind, state, entry, 9);
        object["status"]["conditions"][3]["status"] = json!("False");
        events.push(Event {
            deleted: false,
            object,
        });
    }
}

pub const PLANTED: &[Planted] = &[
    ("a good life", |_, _| (), ""),
    (
        "a once state that failed is looked after",
        |kind, events| instead(kind, events, "Look", 3),
        "",
    ),
    ("enough failures", |kind, events| failing(kind, events, 2), ""),
    (
        "too few failures",
        |kind, events| failing(kind, events, 1),
        "from Look to Broken, where no edge led it",
    ),
    (
        "one failure too many",
        |kind, events| failing(kind, events, 3),
        "tried again after 2 failures",
    ),
    (
        "an edge that is not there",
        |kind, events| instead(kind, events, "Again", 3),
        "from Work to Again, where no edge",
    ),
    (
        "an edge taken twice",
        |kind, events| {
            let again = Event {
                deleted: false,
                object: thing(kind, "Work", "2b", 2),
            };
            events.insert(4, again);
        },
        "from Work to Work, where no edge",
    ),
    (
        "a timeout that has not run out",
        |kind, events| {
            instead(kind, events, "Look", 3);
            events.truncate(5);
            events.push(Event {
                deleted: false,
                object: thing(kind, "Broken", "9", 9),
            });
        },
        "from Look to Broken, where no edge led it",
    ),
    (
        "a timeout that has",
        |kind, events| {
            instead(kind, events, "Look", 3);
            events.truncate(5);
            events.push(Event {
                deleted: false,
                object: thing(kind, "Broken", "9", 9),
            });
            let late = json!("2026-01-01T01:00:03Z");
            from_on(events, 5, "/status/stateEnteredAt", &late);
            from_on(events, 5, "/metadata/managedFields/0/time", &late);
        },
        "",
    ),
    (
        "a limit that was not passed",
        |kind, events| {
            events.truncate(5);
            events.push(Event {
                deleted: false,
                object: thing(kind, "Broken", "9", 9),
            });
        },
        "from Running to Broken, where no edge led it",
    ),
    (
        "a limit that was",
        |kind, events| {
            events.truncate(5);
            let mut broken = thing(kind, "Broken", "9", 9);
            broken["status"]["entries"] = json!({"Again": 3});
            events.push(Event {
                deleted: false,
                object: broken,
            });
        },
        "",
    ),
    (
        "a spec change that was not",
        |kind, events| {
            events.truncate(5);
            events.push(Event {
                deleted: false,
                object: thing(kind, "Begin", "9", 9),
            });
        },
        "from Running to Begin, where no edge led it",
    ),
    (
        "a spec change",
        |kind, events| {
            events.truncate(5);
            events.push(Event {
                deleted: false,
                object: thing(kind, "Begin", "9", 9),
            });
            from_on(events, 5, "/metadata/generation", &json!(2));
        },
        "",
    ),
    (
        "a restart that was not",
        resumed,
        "from Again to Look, where no edge led it",
    ),
    (
        "a state of the deletion path that could not be written",
        |_, events| drop(events.remove(6)),
        "",
    ),
    (
        "deletion without one",
        |kind, events| {
            events.truncate(5);
            events.push(Event {
                deleted: false,
                object: thing(kind, "Deleting", "9", 9),
            });
        },
        "from Running to Deleting, where no edge led it",
    ),
    (
        "an ordinary edge of a deleted object",
        |kind, events| {
            let mut other = thing(kind, "Again", "3b", 4);
            other["metadata"]["deletionTimestamp"] =
                events[6].object["metadata"]["deletionTimestamp"].clone();
            other["status"]["conditions"][3]["status"] = json!("False");
            events.insert(
                6,
                Event {
                    deleted: false,
                    object: other,
                },
            );
        },
        "from Running to Again, where no edge led it",
    ),
    (
        "a state without an entry",
        |_, events| events[2].object["status"]["entry"] = json!(""),
        "without an entry",
    ),
    (
        "another state, the same entry",
        |_, events| from_on(events, 3, "/status/entry", &json!("1")),
        "without a new entry",
    ),
    (
        "an older state after a newer one",
        |_, events| {
            let old = events[2].clone();
            events.insert(4, old);
        },
        "an older state has replaced a newer one",
    ),
    (
        "a state that is not in the graph",
        |_, events| from_on(events, 4, "/status/state", &json!("Lost")),
        "no state Lost",
    ),
    (
        "a status that is lost",
        |_, events| events[4].object["status"] = json!({"observedGeneration": -1}),
        "its state is lost",
    ),
    (
        "a handler without a finalizer",
        |_, events| from_on(events, 1, "/metadata/finalizers", &json!([])),
        "no finalizer",
    ),
    (
        "a lost finalizer",
        |_, events| from_on(events, 6, "/metadata/finalizers", &json!([])),
        "the finalizer was lost",
    ),
    (
        "a finalizer that is lost while it lives",
        |_, events| {
            events.truncate(5);
            events[4].object["metadata"]["finalizers"] = json!([]);
        },
        "from an object that lives",
    ),
    (
        "an end before the end",
        |_, events| {
            events[5].deleted = true;
            events.truncate(6);
        },
        "the finalizer was lost",
    ),
    (
        "a finalizer for the dead",
        |_, events| {
            for event in &mut events[0..2] {
                event.object["metadata"]["finalizers"] = json!([]);
                event.object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            }
        },
        "added while it was being deleted",
    ),
    (
        "a write after the end",
        |_, events| {
            let end = events.last().expect("an end").clone();
            events.push(end);
        },
        "written after its end",
    ),
    (
        "a time that moves",
        |_, events| {
            from_on(
                events,
                5,
                "/status/stateEnteredAt",
                &json!("2026-01-01T00:00:59Z"),
            )
        },
        "changed without an entry",
    ),
    (
        "a time that goes back",
        |_, events| {
            from_on(
                events,
                4,
                "/status/stateEnteredAt",
                &json!("2025-01-01T00:00:00Z"),
            )
        },
        "went back",
    ),
    (
        "a time to come",
        |_, events| {
            from_on(
                events,
                4,
                "/status/stateEnteredAt",
                &json!("2027-01-01T00:00:00Z"),
            )
        },
        "in the future",
    ),
    (
        "attempts that jump",
        |_, events| from_on(events, 5, "/status/attempts", &json!(2)),
        "attempts went from 0 to 2",
    ),
    (
        "attempts from the start",
        |_, events| from_on(events, 4, "/status/attempts", &json!(1)),
        "just entered",
    ),
    (
        "a generation that is not there",
        |_, events| from_on(events, 4, "/status/observedGeneration", &json!(7)),
        "observedGeneration speaks",
    ),
    (
        "a generation that goes back",
        |_, events| from_on(events, 4, "/status/observedGeneration", &json!(0)),
        "observedGeneration went back",
    ),
    (
        "another phase",
        |_, events| from_on(events, 3, "/status/phase", &json!("Idle")),
        "its phase",
    ),
    (
        "another message",
        |_, events| from_on(events, 4, "/status/message", &json!("Bad.")),
        "its message",
    ),
    (
        "a failure without a word",
        |kind, events| {
            failing(kind, events, 1);
            events[5].object["status"]["message"] = json!("");
        },
        "what failed",
    ),
    (
        "Ready before it is",
        |_, events| events[3].object["status"]["conditions"][0]["status"] = json!("True"),
        "Ready should be False",
    ),
    (
        "a missing condition",
        |_, events| {
            let conditions = events[3].object["status"]["conditions"].as_array_mut();
            conditions.expect("a list").remove(2);
        },
        "Stalled is missing",
    ),
    (
        "a reason of another state",
        |_, events| events[4].object["status"]["conditions"][0]["reason"] = json!("Work"),
        "for Running",
    ),
    (
        "a condition's own message",
        |_, events| events[4].object["status"]["conditions"][0]["message"] = json!(""),
        "another message",
    ),
    (
        "a condition of the future",
        |_, events| events[4].object["status"]["conditions"][0]["observedGeneration"] = json!(2),
        "not there",
    ),
    (
        "a condition's time that moves",
        |_, events| {
            events[5].object["status"]["conditions"][0]["lastTransitionTime"] = json!("2026-01-01T00:00:09Z");
        },
        "moved without the status",
    ),
    (
        "a state's own condition",
        |_, events| from_on(events, 4, "/status/conditions/3/status", &json!("True")),
        "Fresh should be Unknown",
    ),
    (
        "kstatus misled",
        |_, events| events[4].object["status"]["conditions"][1]["status"] = json!("True"),
        "kstatus reads InProgress, and it is Current",
    ),
    (
        "ready before an operator ran",
        |_, events| events[0].object["status"] = json!({}),
        "before an operator has seen it",
    ),
];
