use super::*;
use crate::resource::Owner;
use k8s_openapi::{
    api::core::v1::{ConfigMap, Namespace},
    apimachinery::pkg::apis::meta::v1::OwnerReference,
};
use kube::{
    Api,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, Preconditions},
};
use serde_json::{Value, json};

const LABEL: &str = "example.com/owners";

fn api() -> (Arc<InMemoryApi>, Api<ConfigMap>) {
    let api = Arc::new(InMemoryApi::default());
    let maps = Api::namespaced(api.client(), "default");
    (api, maps)
}

fn map(name: &str, data: &Value) -> ConfigMap {
    let map = json!({"metadata": {"name": name, "labels": {"name": name}}, "data": data});
    serde_json::from_value(map).expect("a ConfigMap")
}

fn code_of<T: std::fmt::Debug>(answer: kube::Result<T>) -> u16 {
    match answer {
        Err(kube::Error::Api(status)) => status.code,
        other => panic!("no refusal: {other:?}"),
    }
}

#[tokio::test]
async fn an_object_is_created_read_changed_and_deleted() {
    let (api, maps) = api();
    let made = maps
        .create(&PostParams::default(), &map("one", &json!({"a": "1"})))
        .await;
    let made = made.expect("a new object");
    assert_eq!(made.metadata.generation, Some(1));
    assert_eq!(made.namespace().as_deref(), Some("default"));
    assert!(made.uid().is_some() && made.metadata.creation_timestamp.is_some());
    let again = maps.create(&PostParams::default(), &map("one", &json!({}))).await;
    assert_eq!(code_of(again), 409);
    assert_eq!(maps.get("one").await.expect("an object"), made);
    assert_eq!(code_of(maps.get("two").await), 404);

    let patch = json!({"data": {"a": null, "b": "2"}, "metadata": {"uid": "forged"}});
    let changed = maps
        .patch("one", &PatchParams::default(), &Patch::Merge(patch))
        .await;
    let changed = changed.expect("an object");
    assert_eq!(json!(changed.data), json!({"b": "2"}));
    assert_eq!(
        (changed.uid(), changed.metadata.generation),
        (made.uid(), Some(2))
    );
    let stale = maps.replace("one", &PostParams::default(), &made).await;
    assert_eq!(code_of(stale), 409);

    maps.create(&PostParams::default(), &map("two", &json!({})))
        .await
        .expect("a new object");
    let named = |list: kube::core::ObjectList<ConfigMap>| {
        list.items.iter().map(|map| map.name_any()).collect::<Vec<_>>()
    };
    let listed = async |params| named(maps.list(&params).await.expect("a list"));
    assert_eq!(listed(ListParams::default()).await, ["one", "two"]);
    assert_eq!(
        listed(ListParams::default().labels("name in (two,three)")).await,
        ["two"]
    );
    let elsewhere: Api<ConfigMap> = Api::namespaced(api.client(), "other");
    assert_eq!(
        named(elsewhere.list(&ListParams::default()).await.expect("a list")),
        [""; 0]
    );

    let of_another = DeleteParams {
        preconditions: Some(Preconditions {
            uid: Some("another".to_owned()),
            resource_version: None,
        }),
        ..DeleteParams::default()
    };
    assert_eq!(code_of(maps.delete("one", &of_another).await.map(|_| ())), 409);
    maps.delete("one", &DeleteParams::default())
        .await
        .expect("an object");
    assert_eq!(listed(ListParams::default()).await, ["two"]);
}

#[tokio::test]
async fn an_object_with_a_finalizer_is_there_until_it_is_removed() {
    let (_api, maps) = api();
    let mut held = map("held", &json!({}));
    held.metadata.finalizers = Some(vec!["example.com/holds".to_owned()]);
    maps.create(&PostParams::default(), &held)
        .await
        .expect("a new object");
    maps.delete("held", &DeleteParams::default())
        .await
        .expect("an object");
    let held = maps.get("held").await.expect("its finalizer holds it");
    assert!(held.metadata.deletion_timestamp.is_some());
    let release = json!({"metadata": {"finalizers": null}});
    maps.patch("held", &PatchParams::default(), &Patch::Merge(release))
        .await
        .expect("an object");
    assert_eq!(code_of(maps.get("held").await), 404);
}

#[tokio::test]
async fn a_status_begins_with_the_default_of_its_kind_and_is_written_apart() {
    let (api, _) = api();
    let namespaces: Api<Namespace> = Api::all(api.client());
    api.serves(collection::<Namespace>(), r#"{"phase": "Active"}"#);
    let mut made: Namespace =
        serde_json::from_value(json!({"metadata": {"name": "park"}})).expect("a Namespace");
    made.status = serde_json::from_value(json!({"phase": "forged"})).expect("a status");
    let made = namespaces
        .create(&PostParams::default(), &made)
        .await
        .expect("a new object");
    assert_eq!(json!(made.status), json!({"phase": "Active"}));
    let patch = Patch::Merge(json!({"status": {"phase": "Terminating"}, "metadata": {"labels": {"a": "b"}}}));
    let params = PatchParams::default();
    let main = namespaces
        .patch("park", &params, &patch)
        .await
        .expect("an object");
    assert_eq!(json!(main.status), json!({"phase": "Active"}));
    let patch = Patch::Merge(json!({"status": {"phase": "Terminating"}}));
    let status = namespaces
        .patch_status("park", &params, &patch)
        .await
        .expect("an object");
    assert_eq!(json!(status.status), json!({"phase": "Terminating"}));
    assert_eq!(json!(status.labels()), json!({"a": "b"}));
}

#[tokio::test]
async fn what_only_a_cluster_does_is_refused_by_name() {
    let (_api, maps) = api();
    let one = PatchParams::default();
    let refusals = [
        maps.patch("one", &one, &Patch::Strategic(json!({})))
            .await
            .map(|_| ()),
        maps.list(&ListParams::default().fields("metadata.name=one"))
            .await
            .map(|_| ()),
        maps.delete_collection(&DeleteParams::default(), &ListParams::default())
            .await
            .map(|_| ()),
        maps.create(
            &PostParams {
                dry_run: true,
                ..PostParams::default()
            },
            &map("one", &json!({})),
        )
        .await
        .map(|_| ()),
        maps.get_subresource("scale", "one").await.map(|_| ()),
    ];
    for refusal in refusals {
        let Err(kube::Error::Api(status)) = refusal else {
            panic!("no refusal: {refusal:?}");
        };
        assert!(
            status
                .message
                .contains("the API server of tests does not support "),
            "{status:?}"
        );
        assert_eq!(status.code, 405);
    }
}

#[tokio::test]
async fn applying_sets_its_fields_and_keeps_those_of_others() {
    let (api, maps) = api();
    let apply = async |manager: &str, data: Value| {
        let params = PatchParams::apply(manager).force();
        maps.patch(
            "one",
            &params,
            &Patch::Apply(json!({"apiVersion": "v1", "kind": "ConfigMap", "data": data})),
        )
        .await
    };
    apply("me", json!({"mine": "a", "left-out": "a"}))
        .await
        .expect("new");
    let shared = apply("other", json!({"theirs": "b"})).await.expect("an object");
    assert_eq!(
        json!(shared.data),
        json!({"left-out": "a", "mine": "a", "theirs": "b"})
    );
    let again = apply("me", json!({"mine": "c"})).await.expect("an object");
    assert_eq!(json!(again.data), json!({"mine": "c", "theirs": "b"}));
    let same = apply("me", json!({"mine": "c"})).await.expect("an object");
    assert_eq!(same, again, "nothing is written if nothing differs");
    assert_eq!(api.applied::<ConfigMap>().len(), 2);
    api.remove(&*Arc::new(same));
    assert!(api.all::<ConfigMap>().is_empty() && api.applied::<ConfigMap>().is_empty());
}

#[test]
fn children_that_outlive_the_deletion_path_end_with_it_as_their_kind_says() {
    let owner = Owner {
        reference: OwnerReference {
            name: "main".to_owned(),
            uid: "1".to_owned(),
            controller: Some(true),
            ..OwnerReference::default()
        },
        label: LABEL,
    };
    for (deletion, left) in [
        (ChildDeletion::Owner, Some(json!({}))),
        (ChildDeletion::Last, None),
        (
            ChildDeletion::Keep,
            Some(json!({"example.com/released-from": "owners"})),
        ),
    ] {
        let api = InMemoryApi::default();
        api.owns(collection::<ConfigMap>(), deletion);
        let mut metadata = json!({"name": "one"});
        owner.mark(&mut metadata, deletion);
        let child = json!({"metadata": metadata});
        api.put(&serde_json::from_value::<ConfigMap>(child).expect("a ConfigMap"))
            .expect("JSON");
        assert_eq!(api.end_children(LABEL, ("other", "2")), [""; 0]);
        let kept = api.end_children(LABEL, ("main", "1"));
        assert_eq!(kept.len(), usize::from(deletion == ChildDeletion::Keep));
        let all = api.all::<ConfigMap>();
        assert_eq!(
            all.first().map(|child| json!(child.labels())),
            left,
            "{deletion:?}"
        );
    }
}
