//! The defects that are planted into a correct history, and the expected findings of the oracle.

mod lifecycle;
mod moves;
mod status;

use super::thing;
use crate::cluster::watch::Event;
use krator::model::Kind;
use serde_json::{Value, json};

/// A name, an edit of the correct history, and a part of the expected finding; empty if none is expected.
pub type Planted = (&'static str, fn(&Kind, &mut Vec<Event>), &'static str);

/// Sets a value in one event and in all later events.
fn from_on(events: &mut [Event], at: usize, pointer: &str, value: &Value) {
    for event in &mut events[at..] {
        *event.object.pointer_mut(pointer).expect("a value is there") = value.clone();
    }
}

/// The object enters this state instead of `Running`, and is deleted in it.
fn instead(kind: &Kind, events: &mut [Event], state: &str, second: u32) {
    for event in &mut events[4..6] {
        let deleted = event.object["metadata"]["deletionTimestamp"].clone();
        event.object = thing(kind, state, "3", second);
        event.object["metadata"]["deletionTimestamp"] = deleted;
    }
}

/// A field of the spec of the running object is changed, and the object goes to `Begin`.
fn edited(kind: &Kind, events: &mut Vec<Event>, field: &str) {
    events.truncate(5);
    for event in &mut *events {
        event.object["spec"] = json!({"size": 1, "level": "low"});
    }
    let mut edited = events[4].object.clone();
    edited["metadata"]["generation"] = json!(2);
    edited["spec"][field] = json!("another");
    let mut next = thing(kind, "Begin", "9", 9);
    next["spec"] = edited["spec"].clone();
    next["metadata"]["generation"] = json!(2);
    next["status"]["conditions"][1]["observedGeneration"] = json!(2);
    events.extend([edited, next].map(|object| Event {
        deleted: false,
        object,
    }));
}

/// The object stays in `Look`, fails there this number of times, and then goes to `Broken`.
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

/// The object is in `Again`, and then in `Look`, in which a restarted operator resumes.
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

/// All planted defects, after the correct history itself.
pub fn planted() -> impl Iterator<Item = &'static Planted> {
    const NOTHING: &[Planted] = &[("a correct history", |_, _| (), "")];
    [NOTHING, moves::PLANTED, lifecycle::PLANTED, status::PLANTED]
        .into_iter()
        .flatten()
}
