//! `krator why` and `krator graph --live`.

use super::{Zoo, k8s_time, text};
use serde_json::{Value, json};

fn stalled(reason: &str) -> Value {
    let time = "2026-01-01T00:00:00Z";
    json!({"conditions": [{
        "type": "Stalled", "status": "True", "reason": reason, "message": "in words", "lastTransitionTime": time,
    }]})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twelve_objects_say_why_they_wait() {
    let zoo = Zoo::open().await;
    // A pod of the operator holds the Lease.
    let now = k8s_time();
    zoo.apply(&json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "zoo", "namespace": "zoo-system"},
        "spec": {"holderIdentity": "zoo-1_0", "leaseDurationSeconds": 3600, "renewTime": now},
    }))
    .await;
    let none = || json!({});
    let annotated =
        |key: &str, value: &str| json!({"annotations": {format!("zoo.example.com/{key}"): value}});
    let finalizers = json!({"finalizers": ["vet.example.com/checked", "zoo.example.com/moose"]});
    // Objects, each with the reasons for its wait, and a part of the message for the first one.
    let objects = [
        (
            "new",
            "",
            none(),
            none(),
            "operator",
            "no operator has seen it yet",
        ),
        ("timer", "Roam", none(), none(), "timer", "every 30s"),
        (
            "late",
            "Eat",
            none(),
            none(),
            "timeout, handler",
            "Eat may last 10m; then the object goes to Lost",
        ),
        (
            "failing",
            "Eat",
            none(),
            json!({"attempts": 2}),
            "timeout, retry",
            "Eat may last 10m",
        ),
        (
            "child",
            "Grow",
            none(),
            none(),
            "child",
            "its ConfigMap food is not ready: Resource scheduled for deletion",
        ),
        (
            "secret",
            "Visit",
            none(),
            none(),
            "watched",
            "the Secret hay, which does not exist",
        ),
        (
            "content",
            "Rest",
            none(),
            none(),
            "nothing",
            "as its spec requests, and stays in Rest until it is deleted",
        ),
        (
            "paused",
            "Roam",
            annotated("paused", "true"),
            none(),
            "pause",
            "kubectl annotate moose paused -n default",
        ),
        (
            "lost",
            "Lost",
            none(),
            none(),
            "exhausted",
            "stays in Lost until its spec changes, when it goes to Eat",
        ),
        (
            "stub",
            "Roam",
            none(),
            stalled("NotWritten"),
            "notWritten",
            "src/moose/states/roam.rs",
        ),
        (
            "leaving",
            "Leave",
            finalizers,
            none(),
            "finalizers, deletionPath, handler",
            "vet.example.com/checked",
        ),
        (
            "parked",
            "Swim",
            none(),
            stalled("UnknownState"),
            "unknownState",
            "has no state Swim",
        ),
        (
            "asked",
            "Roam",
            annotated("requestedAt", "now"),
            none(),
            "request, timer",
            "zoo.example.com/requestedAt",
        ),
    ];
    for (name, state, metadata, status, ..) in &objects {
        let made = zoo.moose(name, state, metadata.clone(), status.clone()).await;
        let uid = &made["metadata"]["uid"];
        if *name == "child" {
            zoo.apply(&json!({
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {
                    "name": "food", "namespace": "default", "finalizers": ["example.com/held"],
                    "ownerReferences": [{
                        "apiVersion": "zoo.example.com/v1", "kind": "Moose", "name": name, "uid": uid, "controller": true,
                    }],
                },
            }))
            .await;
            delete(&zoo, "/api/v1/namespaces/default/configmaps/food").await;
        }
        if *name == "lost" {
            zoo.apply(&json!({
                "apiVersion": "events.k8s.io/v1",
                "kind": "Event",
                "metadata": {"name": "lost.1", "namespace": "default"},
                "regarding": {"apiVersion": "zoo.example.com/v1", "kind": "Moose", "name": name, "namespace": "default", "uid": uid},
                "action": "Transition", "reason": "RetriesExhausted", "type": "Warning",
                "note": "entered Lost from Eat: gave up after 6 failures: no grass",
                "eventTime": now, "reportingController": "zoo", "reportingInstance": "zoo-1",
            }))
            .await;
        }
        if *name == "leaving" {
            delete(&zoo, "/apis/zoo.example.com/v1/namespaces/default/moose/leaving").await;
        }
    }
    for (name, state, _, _, reasons, words) in &objects {
        let why = zoo.json(&["why", "--json", &format!("moose/{name}")]);
        let waits = why["waits"].as_array().expect("a list");
        let told: Vec<&str> = waits
            .iter()
            .filter_map(|waiting| waiting["reason"].as_str())
            .collect();
        assert_eq!(told.join(", "), *reasons, "{name}: {why:#}");
        assert!(
            waits[0]["text"].as_str().is_some_and(|text| text.contains(words)),
            "{name}: {why:#}"
        );
        assert_eq!(why["state"].as_str().unwrap_or_default(), *state);
    }
    let lost = text(&zoo.krator(&["why", "Moose", "lost"]).stdout);
    assert!(lost.starts_with("Moose default/lost is in Lost for "), "{lost}");
    assert!(
        lost.contains("RetriesExhausted  entered Lost from Eat: gave up after 6 failures: no grass"),
        "{lost}"
    );

    let missing = zoo.krator(&["why", "moose/nobody", "-n=elsewhere"]);
    assert_eq!(missing.status.code(), Some(2));
    assert_eq!(
        text(&missing.stderr),
        "error: there is no moose.zoo.example.com `nobody` in the namespace `elsewhere`\n"
    );
    let unknown = text(&zoo.krator(&["why", "elk/nobody"]).stderr);
    assert_eq!(unknown, "error: krator.yaml has no kind `elk`; it has Moose\n");

    let table = text(&zoo.krator(&["graph", "--live"]).stdout);
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let row = |state: &str| {
        rows.iter()
            .find(|row| row[1] == state)
            .map(|row| (row[2], row[4]))
    };
    assert_eq!(row("Roam").map(|(count, _)| count), Some("4"), "{table}");
    assert_eq!(row("Grow"), Some(("1", "default/child")), "{table}");
    let dot = text(&zoo.krator(&["graph", "--live", "--dot"]).stdout);
    assert!(dot.contains("label=\"Grow\\n1 object, oldest "), "{dot}");
}

async fn delete(zoo: &Zoo, path: &str) {
    let request = http::Request::delete(path)
        .body(String::new())
        .expect("a path of our own");
    let answer = zoo.server.answer(request).await;
    assert!(answer.status().is_success(), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_is_named_with_its_kind_or_alone_in_a_crate_of_one_kind() {
    let zoo = Zoo::open().await;
    zoo.moose("a", "Rest", json!({}), json!({})).await;
    for args in [&["why", "moose/a"][..], &["why", "moose", "a"], &["why", "a"]] {
        let output = zoo.krator(args);
        let said = text(&output.stdout);
        assert!(
            said.starts_with("Moose default/a is in Rest"),
            "{args:?}: {said}{}",
            text(&output.stderr)
        );
    }
    for args in [
        &["why", "moose/"][..],
        &["why", "moose", ""],
        &["why", ""],
        &["why", "moose/a/status"],
        &["why", "moose/?a"],
    ] {
        let output = zoo.krator(args);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{args:?}: {}",
            text(&output.stdout)
        );
        let said = text(&output.stderr);
        assert!(said.contains("is not the name of an object"), "{args:?}: {said}");
    }
}
