//! What all moose have in common, judged from everything that was written to them.

use crate::cluster::watch::Event;
use std::collections::BTreeMap;

/// What happens to a moose whose handlers are as generated.
const WALK: [(&str, &str); 5] = [
    ("", "Tagged"),
    ("Tagged", "Roam"),
    ("Roam", "Eat"),
    ("Eat", "Sleep"),
    ("Sleep", "Roam"),
];

/// The states that a moose went through, from the first one on; a state that is entered anew counts again.
pub fn states<'a>(events: &'a [Event], name: &str) -> Vec<&'a str> {
    let mut entered: Vec<(&str, &str)> = vec![("", "")];
    for event in events.iter().filter(|event| event.name() == name) {
        let state = (event.text("/status/state"), event.text("/status/entry"));
        if entered.last() != Some(&state) {
            entered.push(state);
        }
    }
    entered.into_iter().skip(1).map(|(state, _)| state).collect()
}

/// Panics unless each moose only ever went along the edges of the graph: those of ordinary life, to `Released` when it
/// was deleted, and `more`.
pub fn assert_walked(events: &[Event], more: &[(&str, &str)]) {
    events.iter().for_each(assert_status);
    let mut last: BTreeMap<&str, &Event> = BTreeMap::new();
    for event in events {
        let before = last.insert(event.name(), event);
        let entry = |event: &Event| event.text("/status/entry").to_owned();
        if before.map(entry).unwrap_or_default() == entry(event) {
            let unchanged = before.is_none_or(|b| b.text("/status/state") == event.text("/status/state"));
            assert!(unchanged, "{} changed its state without an entry", event.name());
            continue;
        }
        let from = before.map_or("", |event| event.text("/status/state"));
        let to = event.text("/status/state");
        let deleted = !event.text("/metadata/deletionTimestamp").is_empty();
        let released = deleted && to == "Released" && from != "Released";
        let allowed = released || WALK.iter().chain(more).any(|edge| *edge == (from, to));
        assert!(
            allowed,
            "{} went from {from:?} to {to:?}: {:?}",
            event.name(),
            states(events, event.name())
        );
    }
}

/// Panics unless the parts of the status say the same, as the language has it.
fn assert_status(event: &Event) {
    let state = event.text("/status/state");
    if state.is_empty() {
        return;
    }
    let phase = match state {
        "Tagged" | "Roam" => "Roaming",
        "Eat" => "Hungry",
        "Sleep" => "Asleep",
        other => other,
    };
    assert_eq!(event.text("/status/phase"), phase, "{}", event.object);

    let failing = event
        .object
        .pointer("/status/attempts")
        .is_some_and(|attempts| *attempts != 0);
    let expected = match state {
        "Lost" => ["False", "False", "True"],
        "Sleep" if !failing => ["True", "False", "False"],
        _ => ["False", "True", "False"],
    };
    let reason = if failing && state != "Lost" {
        "Retrying"
    } else {
        state
    };
    let conditions = event.object["status"]["conditions"]
        .as_array()
        .expect("conditions, from the first state on");
    assert_eq!(conditions.len(), 3, "{}", event.object);
    for (kind, status) in ["Ready", "Reconciling", "Stalled"].into_iter().zip(expected) {
        let condition = conditions
            .iter()
            .find(|c| c["type"] == kind)
            .expect("all three are always there");
        assert_eq!(condition["status"], status, "{kind}: {}", event.object);
        assert_eq!(condition["reason"], reason, "{kind}: {}", event.object);
    }
}
