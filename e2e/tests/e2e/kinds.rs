//! Every builtin kind of the server can be created, applied, watched and deleted.

use futures::StreamExt as _;
use krator_apiserver::{Server, builtin};
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, WatchEvent, WatchParams};
use kube::core::GroupVersionKind;
use serde::Deserialize as _;

/// Small valid objects, which a real server accepts.
fn samples() -> Vec<DynamicObject> {
    let documents = serde_yaml::Deserializer::from_str(include_str!(
        "../../../crates/krator-apiserver/testdata/samples.yaml"
    ));
    documents
        .map(|document| DynamicObject::deserialize(document).expect("an object"))
        .collect()
}

/// The client for the objects of a kind.
fn api(server: &Server, kind: &builtin::ServedKind) -> Api<DynamicObject> {
    let gvk = GroupVersionKind::gvk(&kind.group, &kind.version, &kind.kind);
    let resource = ApiResource::from_gvk_with_plural(&gvk, &kind.resource);
    let client = kube::Client::new(server.clone(), "default");
    match kind.namespaced {
        true => Api::default_namespaced_with(client, &resource),
        false => Api::all_with(client, &resource),
    }
}

fn kind_of(sample: &DynamicObject) -> &'static builtin::ServedKind {
    let types = sample.types.as_ref().expect("a sample says its kind");
    let version = |kind: &builtin::ServedKind| match kind.group.as_str() {
        "" => kind.version.clone(),
        group => format!("{group}/{}", kind.version),
    };
    let mut kinds = builtin::kinds().iter();
    let found = kinds.find(|kind| kind.kind == types.kind && version(kind) == types.api_version);
    found.unwrap_or_else(|| panic!("{types:?} is not served"))
}

#[tokio::test]
async fn each_kind_can_be_created_applied_watched_and_deleted() {
    let server = Server::start();
    for sample in samples() {
        let kind = kind_of(&sample);
        let api = api(&server, kind);
        let name = sample.metadata.name.clone().expect("a sample has a name");
        let events = api.watch(&WatchParams::default(), "0").await.expect("a watch");
        let created = api.create(&Default::default(), &sample).await;
        let created = created.unwrap_or_else(|error| panic!("{} {name}: {error}", kind.kind));
        let apply = PatchParams::apply("test").force();
        let mut change = sample.clone();
        change.metadata.labels = Some([("changed".to_owned(), "yes".to_owned())].into());
        let applied = api.patch(&name, &apply, &Patch::Apply(&change)).await;
        let applied = applied.unwrap_or_else(|error| panic!("{} {name}: {error}", kind.kind));
        assert_eq!(
            applied
                .metadata
                .labels
                .as_ref()
                .and_then(|labels| labels.get("changed"))
                .map(String::as_str),
            Some("yes")
        );
        let deleted = api.delete(&name, &DeleteParams::default()).await;
        deleted.unwrap_or_else(|error| panic!("{} {name}: {error}", kind.kind));
        let mut events = std::pin::pin!(events);
        let mut seen = Vec::new();
        while seen.len() < 2 {
            match events.next().await.expect("the watch goes on").expect("an event") {
                WatchEvent::Added(object) if object.metadata.name.as_ref() == Some(&name) => {
                    assert_eq!(object.metadata.uid, created.metadata.uid);
                    seen.push("added");
                }
                WatchEvent::Modified(object) if object.metadata.name.as_ref() == Some(&name) => {
                    seen.push("modified");
                }
                _ => {}
            }
        }
        assert_eq!(seen, ["added", "modified"], "{}", kind.kind);
    }
}

#[tokio::test]
async fn pods_have_the_priority_of_their_class() {
    let server = Server::start();
    let object = |text: &str| serde_yaml::from_str(text).expect("YAML");
    let class = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 7}";
    server.apply(&object(class), "test").await.expect("a class");
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default}, spec: {priorityClassName: high, containers: [{name: a, image: a}]}}";
    let pod = server.apply(&object(pod), "test").await.expect("a pod");
    assert_eq!(pod["spec"]["priority"], 7);
}

#[tokio::test]
async fn an_older_autoscaler_is_a_newer_one() {
    let server = Server::start();
    let older = samples()
        .into_iter()
        .find(|sample| sample.metadata.name.as_deref() == Some("older"));
    let older = serde_json::to_value(older.expect("a sample")).expect("JSON");
    let applied = server.apply(&older, "test").await.expect("it is valid");
    assert_eq!(applied["spec"]["targetCPUUtilizationPercentage"], 50);
    let [stored] = &server.objects("autoscaling", "horizontalpodautoscalers")[..] else {
        panic!("there is one autoscaler");
    };
    assert_eq!(stored["apiVersion"], "autoscaling/v2");
    assert_eq!(
        stored["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"],
        50
    );
}

#[test]
fn each_kind_has_a_sample() {
    let sampled = samples();
    let is_of = |kind: &builtin::ServedKind, sample: &DynamicObject| std::ptr::eq(kind_of(sample), kind);
    for kind in builtin::kinds() {
        let is_stored = kind.verbs.iter().any(|verb| verb == "create") && kind.verbs.len() > 1;
        assert!(
            !is_stored || sampled.iter().any(|sample| is_of(kind, sample)),
            "{} has no sample",
            kind.kind
        );
    }
}
