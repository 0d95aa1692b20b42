//! The readiness of objects, compared with the answers of kstatus.
//!
//! The cases are the objects in kstatus's own tests and variants of each with one field changed. `tools/kstatus` writes
//! them together with kstatus's answers; the objects are copyright The Kubernetes Authors, under the Apache License 2.0.
#![cfg(feature = "kube")]

use k8s_openapi::{api::apps::v1::Deployment, jiff::Timestamp};
use krator_runtime::Readiness;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Removes the field at a JSON pointer, or sets it. Maps on the way are created.
fn set(object: &mut Value, pointer: &str, to: Option<&Value>) {
    let (parent, field) = pointer.rsplit_once('/').expect("a pointer");
    let mut place = object;
    for key in parent.split('/').skip(1) {
        place = match key.parse::<usize>() {
            Ok(at) if place.is_array() => &mut place[at],
            _ => &mut place[key],
        };
    }
    match (place, to) {
        (Value::Array(items), Some(to)) => items[field.parse::<usize>().expect("an index")] = to.clone(),
        (Value::Array(items), None) => drop(items.remove(field.parse().expect("an index"))),
        (map, Some(to)) => map[field] = to.clone(),
        (Value::Object(map), None) => drop(map.remove(field)),
        (_, None) => {}
    }
}

/// The answer where kstatus has none, with the reason.
fn without_an_answer(message: &str) -> (&'static str, String) {
    match message.strip_prefix("unknown phase ") {
        // `Unknown` is a phase of Kubernetes: the node does not respond, and the pod may go on running.
        Some(phase) => ("InProgress", format!("Pod is in the {phase} phase")),
        None => panic!("kstatus fails for another reason: {message}"),
    }
}

#[test]
fn objects_are_as_ready_as_kstatus_says() {
    let now: Timestamp = "2026-06-01T00:00:00Z".parse().expect("a time");
    let mut objects: BTreeMap<String, Value> = BTreeMap::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for line in include_str!("cases.jsonl").lines() {
        let case: Value = serde_json::from_str(line).expect("a case");
        let text = |key: &str| case[key].as_str().unwrap_or_default().to_owned();
        let object = match case.get("object") {
            Some(object) => {
                objects.insert(text("name"), object.clone());
                object.clone()
            }
            None => {
                let mut variant = objects[&text("of")].clone();
                set(&mut variant, &text("at"), case.get("to"));
                variant
            }
        };
        let (status, message) = match text("status").as_str() {
            "error" => without_an_answer(&text("message")),
            "Current" => ("Current", text("message")),
            "InProgress" => ("InProgress", text("message")),
            "Failed" => ("Failed", text("message")),
            "Terminating" => ("Terminating", text("message")),
            other => panic!("not an answer of kstatus: {other}"),
        };
        let readiness = Readiness::of(&object, now);
        let name = match readiness {
            Readiness::Current(_) => "Current",
            Readiness::InProgress(_) => "InProgress",
            Readiness::Failed(_) => "Failed",
            Readiness::Terminating(_) => "Terminating",
        };
        assert_eq!(
            (name, readiness.message()),
            (status, &*message),
            "{line}\n{object:#}"
        );
        *counts.entry(status.to_owned()).or_default() += 1;
    }
    assert_eq!(objects.len(), 56, "objects of kstatus");
    let each: Vec<&str> = counts.keys().map(String::as_str).collect();
    assert_eq!(each, ["Current", "Failed", "InProgress", "Terminating"]);
}

#[test]
fn a_typed_object_is_read_like_its_manifest() {
    let deployment: Deployment = serde_json::from_value(json!({
        "metadata": {"generation": 2},
        "spec": {"replicas": 3, "selector": {}, "template": {}},
        "status": {"observedGeneration": 2, "replicas": 3, "updatedReplicas": 3, "availableReplicas": 1, "readyReplicas": 1},
    }))
    .expect("a Deployment");
    let readiness = Readiness::of(&deployment, Timestamp::UNIX_EPOCH);
    assert_eq!(readiness, Readiness::InProgress("Available: 1/3".to_owned()));
}
