//! What `kubectl wait` and kstatus make of objects: before an operator has seen them, in every kind of state, and of a
//! change that nobody has dealt with yet.

use super::court::Court;
use super::crash::resource;
use super::five::prepared;
use super::kstatus::{Reading, reading};
use serde_json::{Value, json};

#[test]
fn kubectl_and_kstatus_read_objects_right_from_their_first_moment() {
    let Some(five) = prepared() else { return };
    let kind = five.kind("Backup");
    let mut court = Court::new(five, "wait", &[kind], false);
    let objects = [
        ("ready", "InProgress>Finalizing,"),
        ("failed", "New>FailedValidation,"),
        ("working", "Queued>hang,"),
        ("deleted", "Deleting>hang,"),
    ];
    let create = objects.map(|(name, script)| five.object(kind, &court.namespace, name, Some(script)));
    five.create(&create);
    let all: Vec<String> = objects.iter().map(|(name, _)| resource(kind, name)).collect();
    let [ready, failed, working, deleted] = &all[..] else {
        panic!("four objects")
    };
    let conditions = ["Ready", "Stalled", "Reconciling"];
    let for_ = |condition: &str| format!("--for=condition={condition}");

    // Nobody has seen them: they are neither ready nor failed, and whoever waits goes on waiting.
    for object in &all {
        assert_eq!(read(&court, object), Reading::InProgress, "{object}");
    }
    for condition in conditions {
        assert_waits(&court, ready, &for_(condition));
    }

    let operator = court.start(&json!({}));
    let wait = |object: &str, for_: &str| {
        let waited = court.kubectl(&["wait", for_, object, "--timeout=60s"]);
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
    assert_eq!(read(&court, ready), Reading::Current);
    assert_eq!(read(&court, failed), Reading::Failed);
    assert_eq!(read(&court, working), Reading::InProgress);

    // Deleted, and held until its path has ended.
    court
        .kubectl(&["delete", "--wait=false", deleted])
        .expect("it is there");
    wait(deleted, "--for=jsonpath={.status.state}=Deleting");
    assert_eq!(read(&court, deleted), Reading::Terminating);
    assert_waits(&court, deleted, "--for=delete");
    court
        .kubectl(&["delete", ready])
        .expect("kubectl waits for the end");
    wait(ready, "--for=delete");

    // A change that no operator has seen is nobody's to be ready for. (SIGTERM would wait for the handlers that hang.)
    operator.kill();
    let change = five.change(kind, 7).expect("its spec may change");
    let patch = ["patch", failed, "--type=merge", "--patch", &change];
    court.kubectl(&patch).expect("it is there");
    assert_eq!(read(&court, failed), Reading::InProgress);
    assert_waits(&court, failed, &for_("Stalled"));
    let operator = court.start(&json!({}));
    let again = court.kubectl(&["wait", &for_("Stalled"), failed, "--timeout=60s"]);
    again.expect("the change leads it where it was");
    operator.kill();
    court.judge();
}

fn read(court: &Court, object: &str) -> Reading {
    let text = court
        .kubectl(&["get", object, "--output=json"])
        .expect("it is there");
    reading(&serde_json::from_str::<Value>(&text).expect("kubectl writes JSON"))
}

/// Panics unless `kubectl wait` goes on waiting.
fn assert_waits(court: &Court, object: &str, for_: &str) {
    let waited = court.kubectl(&["wait", for_, object, "--timeout=1s"]);
    let error = waited.expect_err("there is nothing of the kind to be seen");
    assert!(error.contains("timed out"), "{object} {for_}: {error}");
}
