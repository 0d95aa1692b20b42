//! Two operators on the same objects, by mistake, and one of them frozen in the middle of a handler: when it goes on, it
//! knows nothing of what has happened, and must not undo it.

use super::court::Court;
use super::crash::resource;
use super::five::prepared;
use crate::cluster::until;
use crate::operator::{Operator, run};
use serde_json::json;
use std::process::Command;
use std::time::Duration;

/// How long one of them is frozen.
const FROZEN: Duration = Duration::from_secs(30);
/// How long both run then.
const THAWED: Duration = Duration::from_secs(8);

/// Each kind with a way into a handler that takes its time; some of them may run once only.
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
fn an_operator_that_was_frozen_undoes_nothing_of_anothers() {
    let Some(five) = prepared() else { return };
    let kinds = SLOW.map(|(kind, ..)| five.kind(kind));
    let mut court = Court::new(five, "twins", &kinds, true);
    let mut objects = Vec::new();
    for (kind, (_, script, _)) in kinds.iter().zip(SLOW) {
        for number in 0..5 {
            objects.push(five.object(kind, &court.namespace, &format!("slow-{number}"), Some(script)));
            objects.push(five.object(kind, &court.namespace, &format!("free-{number}"), None));
        }
    }
    five.create(&objects);
    let none = json!({});
    let mut first = court.start(&none);
    // In a handler of each kind, as they themselves tell. A moment is left for those that began with them.
    until("handlers run", || {
        assert!(first.is_running());
        let told = court.files.told();
        let runs = |state: &str| told.lines().any(|line| line.split(' ').nth(1) == Some(state));
        SLOW.iter().all(|(.., state)| runs(state)).then_some(())
    });
    signal(&first, "STOP");
    let frozen = court.files.told();
    let mut second = court.start(&none);
    std::thread::sleep(FROZEN / 2);
    // What the frozen one knows gets older.
    for (number, kind) in kinds.iter().enumerate() {
        if let Some(change) = five.change(kind, 77) {
            let patch = [
                "patch",
                &resource(kind, "slow-0"),
                "--type=merge",
                "--patch",
                &change,
            ];
            court.kubectl(&patch).expect("it is there");
        }
        let victim = resource(kind, &format!("slow-{}", 1 + number % 4));
        court
            .kubectl(&["delete", "--wait=false", &victim])
            .expect("it is there");
    }
    std::thread::sleep(FROZEN / 2);
    signal(&first, "CONT");
    std::thread::sleep(THAWED);
    assert!(first.is_running() && second.is_running());

    let told = court.files.told();
    for operator in [&first, &second] {
        let id = operator.id().to_string();
        let ran = told[frozen.len()..]
            .lines()
            .any(|line| line.ends_with(&format!(" {id}")));
        assert!(ran, "both have worked after the frost");
    }
    for operator in [first, second] {
        assert_eq!(operator.terminate().code(), Some(0));
    }
    let (seen, entries) = court.judge();
    assert!(
        seen == objects.len() && entries > seen,
        "{entries} entries of {seen} objects"
    );
}

fn signal(operator: &Operator, signal: &str) {
    run(Command::new("kill").args([&format!("-{signal}"), &operator.id().to_string()]));
}
