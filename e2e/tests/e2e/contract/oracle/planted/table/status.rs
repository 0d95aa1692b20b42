//! Defects in the fields of the status.

use super::{Planted, failing, from_on};
use serde_json::json;

pub const PLANTED: &[Planted] = &[
    (
        "a time of entry that changes without an entry",
        |_, events| {
            from_on(
                events,
                5,
                "/status/stateEnteredTime",
                &json!("2026-01-01T00:00:59Z"),
            )
        },
        "changed without an entry",
    ),
    (
        "a time of entry that goes back",
        |_, events| {
            from_on(
                events,
                4,
                "/status/stateEnteredTime",
                &json!("2025-01-01T00:00:00Z"),
            )
        },
        "went back",
    ),
    (
        "a time of entry in the future",
        |_, events| {
            from_on(
                events,
                4,
                "/status/stateEnteredTime",
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
        "attempts in a state that was just entered",
        |_, events| from_on(events, 4, "/status/attempts", &json!(1)),
        "just entered",
    ),
    (
        "an observed generation that does not exist",
        |_, events| from_on(events, 4, "/status/observedGeneration", &json!(7)),
        "observedGeneration is of",
    ),
    (
        "an observed generation that goes back",
        |_, events| from_on(events, 4, "/status/observedGeneration", &json!(0)),
        "observedGeneration went back",
    ),
    (
        "the phase of another state",
        |_, events| from_on(events, 3, "/status/phase", &json!("Idle")),
        "its phase",
    ),
    (
        "the message of another state",
        |_, events| from_on(events, 4, "/status/message", &json!("Bad.")),
        "its message",
    ),
    (
        "a failure without a message",
        |kind, events| {
            failing(kind, events, 1);
            events[5].object["status"]["message"] = json!("");
        },
        "what failed",
    ),
    (
        "the condition Ready in a state that is not ready",
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
        "a condition with another message than the status",
        |_, events| events[4].object["status"]["conditions"][0]["message"] = json!(""),
        "another message",
    ),
    (
        "a condition of a generation that does not exist",
        |_, events| events[4].object["status"]["conditions"][0]["observedGeneration"] = json!(2),
        "does not exist",
    ),
    (
        "a transition time that changes without the status of the condition",
        |_, events| {
            events[5].object["status"]["conditions"][0]["lastTransitionTime"] = json!("2026-01-01T00:00:09Z");
        },
        "moved without the status",
    ),
    (
        "a condition of the description with a status that no state has set",
        |_, events| from_on(events, 4, "/status/conditions/3/status", &json!("True")),
        "Fresh should be Unknown",
    ),
    (
        "conditions that kstatus reads as another state",
        |_, events| events[4].object["status"]["conditions"][1]["status"] = json!("True"),
        "kstatus reads InProgress, and it is Current",
    ),
    (
        "an object that kstatus takes for ready before an operator has seen it",
        |_, events| events[0].object["status"] = json!({}),
        "before an operator has seen it",
    ),
];
