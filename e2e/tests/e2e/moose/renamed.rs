//! A state is renamed while moose are in it.

use super::DESCRIPTION;
use super::fixture::{Fixture, Variant, names};
use super::history::states;
use crate::operator::Crate;
use crate::regenerate::generate;
use std::fs;
use std::path::Path;

/// The description with a long poll in `Roam`, so that the operator can be stopped while moose are in this state.
fn former(description: &str) -> String {
    let patient = description.replace("poll: 2s", "poll: 1h");
    assert_ne!(patient, description);
    patient
}

/// Writes files into the crate that contain the name of the state in its handler, in a test, in comments and in
/// strings.
fn write(folder: &Path) {
    let case = krator_tests::root().join("testdata/rename/state");
    for path in ["src/moose/states/roam.rs", "tests/moose.rs"] {
        fs::copy(case.join(path), folder.join(path)).expect("a file of the repository");
    }
}

/// Writes these files, then renames the state with `krator gen`.
fn rename(folder: &Path) {
    write(folder);
    let renamed = krator_tests::root().join("testdata/rename/state/spec.yaml");
    fs::copy(renamed, folder.join("krator.yaml")).expect("a file of the repository");
    let output = generate(folder, &[]);
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}");
    for left in ["in a comment", "in a string"] {
        assert!(
            printed.contains(&format!("`Roam` is now `Wander`, but was left {left}")),
            "{printed}"
        );
    }
    let handler = fs::read_to_string(folder.join("src/moose/states/wander.rs")).expect("it was moved");
    assert!(handler.contains("impl State for Wander"), "{handler}");
}

const ROAM: Variant = Variant {
    name: "roam",
    description: former,
    edit: write,
};

const WANDER: Variant = Variant {
    name: "wander",
    description: former,
    edit: rename,
};

#[test]
fn moose_in_a_renamed_state_go_on_from_there() {
    let Some(mut fixture) = Fixture::new("renamed", &ROAM) else {
        return;
    };
    let krate = Crate::generate(&former(DESCRIPTION), rename);
    assert!(krate.errors().is_empty(), "{:?}", krate.errors());

    let names = names(5);
    fixture.create(&names);
    fixture.start(&[]);
    fixture.wait("each moose roams", |events| {
        names
            .iter()
            .all(|name| states(events, name).last() == Some(&"Roam"))
    });
    fixture.kill();

    fixture.run_from_now_on(&WANDER);
    fixture.start(&[]);
    let events = fixture.wait("each moose goes on", |events| {
        names.iter().all(|name| states(events, name).contains(&"Sleep"))
    });
    for name in &names {
        let mut states = states(&events, name);
        // The stored name changes with the next write, which may come after the moose has left the state.
        states.retain(|state| *state != "Wander");
        assert!(
            states.starts_with(&["Tagged", "Roam", "Eat", "Sleep"]),
            "{name}: {states:?}"
        );
    }
}
