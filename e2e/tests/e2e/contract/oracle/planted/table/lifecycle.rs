//! Defects in the life of an object from its creation to its end: its entries, its finalizer, its deletion.

use super::{Planted, from_on};
use serde_json::json;

pub const PLANTED: &[Planted] = &[
    (
        "a state without an entry",
        |_, events| events[2].object["status"]["entry"] = json!(""),
        "without an entry",
    ),
    (
        "another state with the same entry",
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
        "a state that the graph lacks",
        |_, events| from_on(events, 4, "/status/state", &json!("Lost")),
        "no state Lost",
    ),
    (
        "a status without its state",
        |_, events| events[4].object["status"] = json!({"observedGeneration": -1}),
        "its state is lost",
    ),
    (
        "a state without a finalizer",
        |_, events| from_on(events, 1, "/metadata/finalizers", &json!([])),
        "no finalizer",
    ),
    (
        "a finalizer that is lost on the deletion path",
        |_, events| from_on(events, 6, "/metadata/finalizers", &json!([])),
        "the finalizer was lost",
    ),
    (
        "a finalizer that is removed without a deletion",
        |_, events| {
            events.truncate(5);
            events[4].object["metadata"]["finalizers"] = json!([]);
        },
        "from an object that is not deleted",
    ),
    (
        "an object that goes while it gets its finalizer",
        |_, events| {
            events[1].deleted = true;
            events.truncate(2);
        },
        "",
    ),
    (
        "an object with a state that goes in spite of its finalizer",
        |_, events| {
            events[2].deleted = true;
            events.truncate(3);
        },
        "from an object that is not deleted",
    ),
    (
        "an object that is gone before its deletion path has ended",
        |_, events| {
            events[5].deleted = true;
            events.truncate(6);
        },
        "the finalizer was lost",
    ),
    (
        "a finalizer added after the deletion",
        |_, events| {
            for event in &mut events[0..2] {
                event.object["metadata"]["finalizers"] = json!([]);
                event.object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            }
        },
        "added while it was being deleted",
    ),
    (
        "a write after the object is gone",
        |_, events| {
            let end = events.last().expect("an end").clone();
            events.push(end);
        },
        "written after its end",
    ),
];
