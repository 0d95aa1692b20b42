//! Two operators that work on the same objects by mistake, one of which is frozen in the middle of a handler. When it
//! goes on, it does not know what has happened in the meantime, and must not undo it.

use super::crash::resource;
use super::session::Session;
use crate::cluster::until;
use crate::operator::{OperatorProcess, run};
use crate::scripted_operator::prepared;
use serde_json::json;
use std::process::Command;
use std::time::Duration;

/// How long one of them is frozen.
const FROZEN: Duration = Duration::from_secs(30);
/// How long both run after that.
const THAWED: Duration = Duration::from_secs(8);

/// Each kind with a script that leads into a slow handler, and the state of that handler. Some of these handlers may run
/// only once.
const SLOW: [(&str, &str, &str); 5] = [
    ("Moose", "Tagged>Roam,Roam>Eat,Eat>slow,", "Eat"),
    ("Backup", "InProgress>slow,", "InProgress"),
    ("Postgresql", "Creating>slow,", "Creating"),
    ("Order", "New>Ready,Ready>slow,", "Ready"),
    (
        "HelmRelease",
        "Preparing>Determining,Determining>Installing,Installing>slow,",
        "Installing",
    ),
];

#[test]
fn an_operator_that_was_frozen_undoes_nothing_that_another_one_did() {
    let Some(scripted) = prepared() else { return };
    let kinds = SLOW.map(|(kind, ..)| scripted.kind(kind));
    let mut session = Session::new(scripted, "two-operators", &kinds, true);
    let mut objects = Vec::new();
    for (kind, (_, script, _)) in kinds.iter().zip(SLOW) {
        for number in 0..5 {
            objects.push(scripted.program.object(
                kind,
                &session.namespace,
                &format!("slow-{number}"),
                Some(script),
            ));
            objects.push(
                scripted
                    .program
                    .object(kind, &session.namespace, &format!("free-{number}"), None),
            );
        }
    }
    scripted.create(&objects);
    let none = json!({});
    let mut first = session.start(&none);
    // The first operator is frozen once a slow handler of each kind has recorded its start.
    until("handlers run", || {
        assert!(first.is_running());
        let starts = session.files.handler_starts();
        let runs = |state: &str| starts.lines().any(|line| line.split(' ').nth(1) == Some(state));
        SLOW.iter().all(|(.., state)| runs(state)).then_some(())
    });
    signal(&first, "STOP");
    let at_freeze = session.files.handler_starts();
    let mut second = session.start(&none);
    std::thread::sleep(FROZEN / 2);
    // What the frozen operator has cached becomes stale.
    for (number, kind) in kinds.iter().enumerate() {
        if let Some(change) = scripted.program.change(kind, 77) {
            let patch = [
                "patch",
                &resource(kind, "slow-0"),
                "--type=merge",
                "--patch",
                &change,
            ];
            session.kubectl(&patch).expect("it is there");
        }
        let victim = resource(kind, &format!("slow-{}", 1 + number % 4));
        session
            .kubectl(&["delete", "--wait=false", &victim])
            .expect("it is there");
    }
    std::thread::sleep(FROZEN / 2);
    signal(&first, "CONT");
    std::thread::sleep(THAWED);
    assert!(first.is_running() && second.is_running());

    let starts = session.files.handler_starts();
    for operator in [&first, &second] {
        let id = operator.id().to_string();
        let ran = starts[at_freeze.len()..]
            .lines()
            .any(|line| line.ends_with(&format!(" {id}")));
        assert!(ran, "both have run handlers since the first one was frozen");
    }
    for operator in [first, second] {
        assert_eq!(operator.terminate().code(), Some(0));
    }
    let totals = session.judge();
    assert!(
        totals.objects == objects.len() && totals.entries > totals.objects,
        "{totals:?}"
    );
}

/// Sends a signal to an operator.
pub fn signal(operator: &OperatorProcess, signal: &str) {
    run(Command::new("kill").args([&format!("-{signal}"), &operator.id().to_string()]));
}
