//! Descriptions with names at the limits of what the language allows.

use crate::hostile_texts::text_of;
use serde_json::{Map, Value, json};

/// A kind with these states in a row.
pub fn kind(name: &str, states: &[&str]) -> Value {
    let mut all = Map::new();
    for (at, state) in states.iter().enumerate() {
        let wait = if at % 2 == 0 {
            json!({"poll": "1s"})
        } else {
            json!({"watch": "self"})
        };
        let value = match states.get(at + 1) {
            Some(next) => json!({"next": [{"to": next, "when": "so it is"}], "wait": wait}),
            None => json!({"kind": "ready"}),
        };
        all.insert((*state).to_owned(), value);
    }
    all.insert("Gone".to_owned(), json!({"kind": "final"}));
    json!({
        "krator": 1,
        "resource": {"group": "edge.example.com", "version": "v1", "kind": name},
        "spec": {},
        "machine": {"initial": states[0], "deletion": "Gone"},
        "states": all,
    })
}

/// The description of an operator of this name with these kinds.
pub fn named(operator: &str, kinds: Vec<Value>) -> String {
    let mut kinds = kinds.into_iter();
    let first = kinds.next().expect("a kind");
    // The first document has the name of the operator.
    let mut text = json!({"krator": 1, "operator": operator});
    let fields = text.as_object_mut().expect("an object");
    fields.extend(first.as_object().expect("an object").clone());
    let rest = kinds.map(|kind| format!("\n---\n{}", text_of(&kind)));
    text_of(&text) + &rest.collect::<String>()
}

/// A name with this number of letters.
pub fn long(first: char, letters: usize) -> String {
    std::iter::once(first)
        .chain("wordy".chars().cycle())
        .take(letters)
        .collect()
}
