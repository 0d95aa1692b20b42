//! The history of a moose, from all writes to it.

use crate::cluster::watch::Event;

/// The states of a moose, in order. A state that is entered again is listed again.
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
