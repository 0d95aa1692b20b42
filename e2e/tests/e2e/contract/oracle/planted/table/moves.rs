//! Defects in the moves of an object between states.

use super::{Planted, edited, failing, from_on, instead, resumed};
use crate::cluster::watch::Event;
use crate::contract::oracle::planted::thing;
use serde_json::json;

pub const PLANTED: &[Planted] = &[
    (
        "a state with once effects that fails leads to the state that it resumes in",
        |kind, events| instead(kind, events, "Look", 3),
        "",
    ),
    (
        "a change of the spec leads where its field says",
        |kind, events| edited(kind, events, "size"),
        "",
    ),
    (
        "a change of a field that is ignored leads on",
        |kind, events| edited(kind, events, "level"),
        "cannot have led from Running to Begin",
    ),
    (
        "failures up to the limit lead on",
        |kind, events| failing(kind, events, 2),
        "",
    ),
    (
        "fewer failures than the limit lead on",
        |kind, events| failing(kind, events, 1),
        "from Look to Broken, where no edge led it",
    ),
    (
        "another attempt after the last one",
        |kind, events| failing(kind, events, 3),
        "tried again after 2 failures",
    ),
    (
        "an edge that the graph lacks",
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
        "a timeout edge before the time is over",
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
        "a timeout edge after the time is over",
        |kind, events| {
            instead(kind, events, "Look", 3);
            events.truncate(5);
            events.push(Event {
                deleted: false,
                object: thing(kind, "Broken", "9", 9),
            });
            let late = json!("2026-01-01T01:00:03Z");
            from_on(events, 5, "/status/stateEnteredTime", &late);
            from_on(events, 5, "/metadata/managedFields/0/time", &late);
        },
        "",
    ),
    (
        "the edge of a limit that was not passed",
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
        "the edge of a limit that was passed",
        |kind, events| {
            events.truncate(5);
            for (count, event) in (1..).zip(&mut events[3..]) {
                event.object["status"]["entries"] = json!([{"state": "Again", "count": count}]);
            }
            let mut broken = thing(kind, "Broken", "9", 9);
            broken["status"]["entries"] = json!([{"state": "Again", "count": 3}]);
            events.push(Event {
                deleted: false,
                object: broken,
            });
        },
        "",
    ),
    (
        "an entry is counted twice",
        |_, events| {
            for event in &mut events[3..] {
                event.object["status"]["entries"] = json!([{"state": "Again", "count": 2}]);
            }
        },
        "Again is counted 2 times more than it was entered",
    ),
    (
        "the edge of a spec change without a change",
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
        "a resume without a restart",
        resumed,
        "from Again to Look, where no edge led it",
    ),
    (
        "a state of the deletion path that was not written",
        |_, events| drop(events.remove(6)),
        "",
    ),
    (
        "the deletion path without a deletion",
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
];
