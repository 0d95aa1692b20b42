//! Two operators that work on the same objects by mistake, one of which is frozen in the middle of a handler. When it
//! goes on, it does not know what has happened in the meantime, and must not undo it.

use super::crash::resource;
use super::session::Session;
use crate::cluster::until;
use crate::operator::{OperatorProcess, run};
use crate::scripted_operator::prepared;
use serde_json::json;
use std::process::Command;

/// How many handlers an operator starts in each part of the test.
const STARTS: usize = 60;

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
    let Some(scripted) = &prepared() else { return };
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
    let mut second = session.start(&none);
    acts(&session, &second);
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
    acts(&session, &second);
    signal(&first, "CONT");
    for operator in [&first, &second] {
        acts(&session, operator);
    }
    assert!(first.is_running() && second.is_running());

    for operator in [first, second] {
        assert_eq!(operator.terminate().code(), Some(0));
    }
    let totals = session.judge();
    assert!(
        totals.objects == objects.len() && totals.entries > totals.objects,
        "{totals:?}"
    );
}

/// Waits until an operator has started as many handlers as it starts in one part of the test.
fn acts(session: &Session, operator: &OperatorProcess) {
    let before = session.files.starts_of(operator.id());
    until("an operator starts handlers", || {
        (session.files.starts_of(operator.id()) >= before + STARTS).then_some(())
    });
}

/// Sends a signal to an operator.
pub fn signal(operator: &OperatorProcess, signal: &str) {
    run(Command::new("kill").args([&format!("-{signal}"), &operator.id().to_string()]));
}
