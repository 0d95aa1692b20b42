//! Moose whose handlers fail or panic.

use super::fixture::{Fixture, Variant};
use super::history::states;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A handler that fails or panics for moose with certain names.
const EAT: &str = r#"use super::{Eat, Sleep};
use crate::moose::prelude::*;

impl State for Eat {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let moose = cx.manifest();
        let name = moose.metadata.name.as_deref().unwrap_or_default();
        if name.starts_with("sick") {
            return Err(std::io::Error::other("no appetite").into());
        }
        assert!(!name.starts_with("wild"), "a wild moose");
        Ok(Transition::to(Sleep)) // full
    }
}
"#;

const FAULTY: Variant = Variant {
    name: "moose-faulty",
    description: |description| {
        replaced(
            description,
            "retry: {limit: 5, initial: 1s,",
            "retry: {limit: 5, initial: 100ms,",
        )
    },
    edit: |krate: &Path| fs::write(krate.join("src/moose/states/eat.rs"), EAT).expect("a crate of our own"),
};

/// The text with `from`, which it must contain, replaced.
pub fn replaced(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "no {from:?} in the description any more");
    text.replace(from, to)
}

#[test]
fn a_moose_whose_handler_fails_backs_off_and_is_lost() {
    let Some(mut fixture) = Fixture::new("sick", &FAULTY) else {
        return;
    };
    only_this_one_is_lost(&mut fixture, "sick", "no appetite");
}

#[test]
fn a_panic_affects_no_other_moose() {
    let Some(mut fixture) = Fixture::new("wild", &FAULTY) else {
        return;
    };
    only_this_one_is_lost(&mut fixture, "wild", "a wild moose");
}

/// Asserts that the moose of this name fails with this message until it is lost, while another one sleeps and roams
/// again.
fn only_this_one_is_lost(fixture: &mut Fixture, name: &str, message: &str) {
    fixture.create(&[name.to_owned(), "healthy".to_owned()]);
    fixture.start(&[]);

    let events = fixture.wait("one is lost, one has slept", |events| {
        states(events, name).contains(&"Lost") && states(events, "healthy").len() > 4
    });

    let retries: Vec<_> = events
        .iter()
        .filter(|event| event.name() == name && event.text("/status/state") == "Eat")
        .map(|event| {
            // The field is omitted if it is zero.
            let attempts = event.object.pointer("/status/attempts").and_then(Value::as_u64);
            (attempts.unwrap_or(0), event)
        })
        .collect();
    let mut attempts: Vec<u64> = retries.iter().map(|(attempt, _)| *attempt).collect();
    attempts.dedup();
    assert_eq!(
        attempts,
        [0, 1, 2, 3, 4, 5],
        "each failure is written before its backoff"
    );
    let (_, failed) = retries.last().expect("just seen");
    let conditions = failed.object["status"]["conditions"]
        .as_array()
        .expect("conditions");
    let ready = conditions
        .iter()
        .find(|condition| condition["type"] == "Ready")
        .expect("always there");
    assert!(
        ready["message"]
            .as_str()
            .is_some_and(|shown| shown.contains(message)),
        "{ready}"
    );

    let lost = events
        .iter()
        .rfind(|event| event.name() == name)
        .expect("just seen");
    assert_eq!(lost.text("/status/state"), "Lost");
    let table = fixture.kubectl(&[
        "wait",
        "--for=condition=Stalled",
        &format!("moose/{name}"),
        "--timeout=60s",
    ]);
    assert!(table.contains("condition met"), "{table}");
    fixture.judge(&events);
    assert_eq!(states(&events, name), ["Tagged", "Roam", "Eat", "Lost"]);
    assert!(!states(&events, "healthy").contains(&"Lost"));
    assert!(fixture.is_running(), "the operator has survived");
}
