//! `kubectl wait` and kstatus for objects that no operator has handled, for objects in each kind of state, and after an
//! unhandled change.

use super::kstatus::{Reading, reading};
use super::session::{Session, resource};
use crate::cluster::until;
use crate::scripted_operator::prepared;
use serde_json::{Value, json};

#[test]
fn kubectl_and_kstatus_read_objects_correctly_from_their_creation_on() {
    let Some(scripted) = &prepared() else { return };
    let kind = scripted.kind("Backup");
    let mut session = Session::new(scripted, "wait", &[kind]);
    let objects = [
        ("ready", "InProgress>Finalizing,"),
        ("failed", "New>FailedValidation,"),
        ("working", "Queued>hang,"),
        ("deleted", "Deleting>hang,"),
    ];
    let create = objects.map(|(name, script)| {
        scripted
            .program
            .object(kind, &session.namespace, name, Some(script))
    });
    scripted.create(&create);
    let all: Vec<String> = objects.iter().map(|(name, _)| resource(kind, name)).collect();
    let [ready, failed, working, deleted] = &all[..] else {
        panic!("four objects")
    };
    let conditions = ["Ready", "Stalled", "Reconciling"];
    let for_ = |condition: &str| format!("--for=condition={condition}");

    // Before an operator handles the objects, they are neither ready nor failed, and `kubectl wait` waits.
    for object in &all {
        assert_eq!(read(&session, object), Reading::InProgress, "{object}");
    }
    for condition in conditions {
        assert_waits(&session, ready, &for_(condition));
    }

    let operator = session.start(&json!({}));
    let wait = |object: &str, for_: &str| {
        let waited = session.kubectl(&["wait", for_, object, "--timeout=60s"]);
        waited.unwrap_or_else(|error| panic!("{object} {for_}: {error}"));
    };
    let expected = [
        (ready, "Ready"),
        (failed, "Stalled"),
        (working, "Reconciling"),
        (deleted, "Ready"),
    ];
    for (object, holds) in expected {
        wait(object, &for_(holds));
        for other in conditions.iter().filter(|other| **other != holds) {
            wait(object, &format!("--for=condition={other}=False"));
        }
    }
    assert_eq!(read(&session, ready), Reading::Current);
    assert_eq!(read(&session, failed), Reading::Failed);
    assert_eq!(read(&session, working), Reading::InProgress);

    // A deleted object stays until its deletion path has ended.
    session
        .kubectl(&["delete", "--wait=false", deleted])
        .expect("it is there");
    wait(deleted, "--for=jsonpath={.status.state}=Deleting");
    assert_eq!(read(&session, deleted), Reading::Terminating);
    assert_waits(&session, deleted, "--for=delete");
    session
        .kubectl(&["delete", ready])
        .expect("kubectl waits for the end");
    wait(ready, "--for=delete");

    // After an unhandled change, the object is in progress. (The operator is killed, because SIGTERM would wait for the
    // handlers that hang.)
    operator.kill();
    let change = scripted.program.change(kind, 7).expect("its spec may change");
    let patch = ["patch", failed, "--type=merge", "--patch", &change];
    session.kubectl(&patch).expect("it is there");
    assert_eq!(read(&session, failed), Reading::InProgress);
    assert_waits(&session, failed, &for_("Stalled"));
    let operator = session.start(&json!({}));
    let again = session.kubectl(&["wait", &for_("Stalled"), failed, "--timeout=60s"]);
    again.expect("after the change it fails again");
    operator.kill();
    session.judge();
}

fn read(session: &Session, object: &str) -> Reading {
    let text = session
        .kubectl(&["get", object, "--output=json"])
        .expect("it is there");
    reading(&serde_json::from_str::<Value>(&text).expect("kubectl writes JSON"))
}

/// Panics unless `kubectl wait` waits.
fn assert_waits(session: &Session, object: &str, for_: &str) {
    until("kubectl looks at the object and waits", || {
        let waited = session.kubectl(&["wait", for_, object, "--timeout=1s"]);
        let error = waited.expect_err("what is waited for has not happened");
        // On a busy machine the timeout of one second may end before kubectl has read the object; then kubectl runs
        // again.
        let has_looked = !error.contains("context deadline exceeded");
        assert!(
            !has_looked || error.contains("timed out"),
            "{object} {for_}: {error}"
        );
        has_looked.then_some(())
    });
}
