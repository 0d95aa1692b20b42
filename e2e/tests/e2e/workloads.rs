//! Workloads that become ready or fail after a time, on a paused clock, so waiting takes no time.

use krator_apiserver::{Server, WorkloadSimulator as Workload};
use kube::{
    Client,
    api::{Api, ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams},
};
use serde_json::{Value as Json, json};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The setting of the builder for children without an annotation.
const READY_AFTER: Duration = Duration::from_secs(60);
/// Longer than any wait here. The clock is paused, so it passes at once.
const LONG: Duration = Duration::from_secs(600);

fn api(client: &Client, group: &str, kind: &str) -> Api<DynamicObject> {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, "v1", kind));
    Api::namespaced_with(client.clone(), "default", &resource)
}

fn template() -> Json {
    json!({"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "a", "image": "busybox"}]}})
}

/// The specs of the kinds, and the group of each.
fn specs() -> [(&'static str, &'static str, Json); 5] {
    let selector = json!({"matchLabels": {"app": "a"}});
    let mut once = template();
    once["spec"]["restartPolicy"] = "Never".into();
    [
        (
            "apps",
            "Deployment",
            json!({"replicas": 3, "selector": selector, "template": template()}),
        ),
        (
            "apps",
            "StatefulSet",
            json!({"replicas": 2, "serviceName": "a", "selector": selector, "template": template()}),
        ),
        (
            "apps",
            "DaemonSet",
            json!({"selector": selector, "template": template()}),
        ),
        ("batch", "Job", json!({"completions": 2, "template": once})),
        ("", "Pod", template()["spec"].clone()),
    ]
}

fn object(group: &str, kind: &str, name: &str, annotations: &Json, spec: &Json) -> DynamicObject {
    let api_version = if group.is_empty() {
        "v1".to_owned()
    } else {
        format!("{group}/v1")
    };
    let object = json!({
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "annotations": annotations},
        "spec": spec,
    });
    serde_json::from_value(object).expect("an object")
}

/// The status of a condition.
fn condition(object: &DynamicObject, type_: &str) -> String {
    let conditions = object.data["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten();
    let mut found = conditions
        .filter(|it| it["type"] == type_)
        .map(|it| it["status"].as_str());
    found.next_back().flatten().unwrap_or("none").to_owned()
}

/// Whether the status of a kind shows that the object is ready.
fn is_ready(kind: &str, object: &DynamicObject) -> bool {
    let status = &object.data["status"];
    let is_observed = status["observedGeneration"].as_i64() == object.metadata.generation;
    match kind {
        "Deployment" => {
            is_observed && condition(object, "Available") == "True" && status["readyReplicas"] == 3
        }
        "StatefulSet" => is_observed && status["readyReplicas"] == 2,
        "DaemonSet" => is_observed && status["numberReady"] == 1,
        "Job" => condition(object, "Complete") == "True" && status["succeeded"] == 2,
        _ => condition(object, "Ready") == "True" && status["phase"] == "Running",
    }
}

/// Whether the status of a kind shows that the object has failed.
fn has_failed(kind: &str, object: &DynamicObject) -> bool {
    let status = &object.data["status"];
    match kind {
        "Deployment" => condition(object, "Progressing") == "False",
        "Job" => condition(object, "Failed") == "True" && status["failed"] == 7,
        "Pod" => status["phase"] == "Failed",
        // The status of these kinds has no failure.
        _ => {
            status["replicas"]
                .as_i64()
                .or(status["desiredNumberScheduled"].as_i64())
                > Some(0)
                && !is_ready(kind, object)
        }
    }
}

/// Waits until a condition is true for an object, and returns the seconds on the paused clock.
async fn seconds_until(api: &Api<DynamicObject>, name: &str, is: impl Fn(&DynamicObject) -> bool) -> u64 {
    let start = Instant::now();
    loop {
        let object = api.get(name).await.expect("the object is there");
        if is(&object) {
            return start.elapsed().as_secs();
        }
        assert!(start.elapsed() < LONG, "{}", json!(object.data));
        sleep(Duration::from_millis(100)).await;
    }
}

fn client(simulator: Workload) -> Client {
    Client::new(Server::builder().workloads(simulator).start(), "default")
}

#[tokio::test(start_paused = true)]
async fn workloads_become_ready_when_the_builder_says() {
    let client = client(Workload::ready_after(READY_AFTER));
    for (group, kind, spec) in specs() {
        let api = api(&client, group, kind);
        let made = object(group, kind, "one", &json!({}), &spec);
        api.create(&PostParams::default(), &made)
            .await
            .expect("a good object");
        sleep(Duration::from_millis(100)).await;
        let begun = api.get("one").await.expect("it is there");
        assert!(!is_ready(kind, &begun), "{kind}: {}", json!(begun.data));
        assert!(begun.data["status"].is_object(), "{kind} has begun");
        let after = seconds_until(&api, "one", |it| is_ready(kind, it)).await;
        assert!((59..=60).contains(&after), "{kind} after {after} s");
    }
}

#[tokio::test(start_paused = true)]
async fn an_annotation_is_stronger_than_the_builder() {
    let client = client(Workload::ready_after(LONG));
    for (group, kind, spec) in specs() {
        let api = api(&client, group, kind);
        let soon = object(group, kind, "soon", &json!({Workload::READY_AFTER: "5s"}), &spec);
        let annotations = json!({Workload::READY_AFTER: "1s", Workload::FAIL_AFTER: "3s"});
        let failing = object(group, kind, "failing", &annotations, &spec);
        for made in [soon, failing] {
            api.create(&PostParams::default(), &made)
                .await
                .expect("a good object");
        }
        let after = seconds_until(&api, "failing", |it| has_failed(kind, it)).await;
        assert!(after <= 3, "{kind} after {after} s");
        let after = after + seconds_until(&api, "soon", |it| is_ready(kind, it)).await;
        assert!((4..=5).contains(&after), "{kind} after {after} s");
    }
}

#[tokio::test(start_paused = true)]
async fn a_changed_deployment_begins_again() {
    let client = client(Workload::ready_after(READY_AFTER));
    let (group, kind, spec) = specs()[0].clone();
    let api = api(&client, group, kind);
    let made = object(group, kind, "one", &json!({}), &spec);
    api.create(&PostParams::default(), &made)
        .await
        .expect("a good object");
    seconds_until(&api, "one", |it| is_ready(kind, it)).await;
    let change =
        json!({"spec": {"template": {"spec": {"containers": [{"name": "a", "image": "busybox:2"}]}}}});
    api.patch("one", &PatchParams::default(), &Patch::Strategic(change))
        .await
        .expect("a good change");
    sleep(Duration::from_millis(100)).await;
    let again = api.get("one").await.expect("it is there");
    assert!(!is_ready(kind, &again), "{}", json!(again.data));
    let after = seconds_until(&api, "one", |it| is_ready(kind, it)).await;
    assert!((59..=60).contains(&after), "after {after} s");
}

#[tokio::test(start_paused = true)]
async fn nothing_becomes_of_children_that_nobody_asked_for() {
    let client = client(Workload::annotated());
    for (group, kind, spec) in specs() {
        let api = api(&client, group, kind);
        let made = object(group, kind, "one", &json!({Workload::READY_AFTER: "soon"}), &spec);
        let made = api
            .create(&PostParams::default(), &made)
            .await
            .expect("a good object");
        sleep(LONG).await;
        let later = api.get("one").await.expect("it is there");
        assert_eq!(
            later.metadata.resource_version, made.metadata.resource_version,
            "{kind}"
        );
    }
}
