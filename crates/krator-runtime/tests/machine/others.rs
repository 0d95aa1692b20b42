//! Objects of other kinds in tests: which of them concern the object under test, and what controllers report of them.

use crate::thing::{Memory, Thing, Work, local_of, states, thing};
use k8s_openapi::api::{
    apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet},
    batch::v1::Job,
    core::v1::{ConfigMap, PersistentVolumeClaim, Pod, Secret, Service, ServiceAccount},
};
use krator_runtime::{
    Child, Concerns, Context, Dispatch, Fixture, Grants, Graph, Link, Linked, Local, LookIn, Machine,
    MayStay, Node, Object as _, Owns, Policy, Result, State, StateId, StateKind, Transition, Watch, Watches,
    dispatch,
};
use serde_json::{Value, json};
use std::sync::Arc;

states!(Look = 0);
static GRAPH: Graph = Graph::new(&STATES, Look::ID, None, "example.com/things");
static STATES: [Policy; 1] = [Policy::new("Look")
    .kind(StateKind::Ready)
    .watch(&[Watch::Owned, Watch::Watched])];
impl MayStay for Look {}

impl Linked for M {
    fn links() -> Vec<Link<M>> {
        let secrets = |_: &Thing| vec!["second".to_owned(), "first".to_owned()];
        vec![
            Link::owned::<Deployment>("apps/v1.Deployment"),
            Link::watched::<Secret>("core/v1.Secret", Concerns::Named(secrets, LookIn::Own)),
            Link::watched::<ConfigMap>("core/v1.ConfigMap", Concerns::Label("example.com/thing")),
            Link::watched::<ServiceAccount>("core/v1.ServiceAccount", Concerns::All),
        ]
    }
}
impl Grants<Deployment> for M {}
impl Owns<Deployment> for M {}
impl Grants<Secret> for M {}
impl Watches<Secret> for M {}
impl Grants<ConfigMap> for M {}
impl Watches<ConfigMap> for M {}
impl Grants<ServiceAccount> for M {}
impl Watches<ServiceAccount> for M {}

impl State for Look {
    async fn next(self, cx: &mut Context<'_, M>) -> Result<Transition<Self>> {
        let child = object::<Deployment>(
            "web",
            &json!({"spec": {"replicas": 2, "selector": {}, "template": {}}}),
        );
        let child = cx.apply(&child).await?;
        let ready = child.status.as_ref().and_then(|status| status.ready_replicas);
        let secrets = cx.all_watched::<Secret>();
        let secrets: Vec<&str> = secrets
            .iter()
            .filter_map(|s| s.metadata.name.as_deref())
            .collect();
        let (maps, accounts) = (cx.all_watched::<ConfigMap>(), cx.all_watched::<ServiceAccount>());
        cx.status_mut().runs += 1;
        cx.message(format!("{ready:?} {secrets:?} {} {}", maps.len(), accounts.len()));
        Ok(Transition::stay())
    }
}

fn object<K: Child>(name: &str, with: &Value) -> K {
    let mut body = with.clone();
    body["metadata"]["name"] = json!(name);
    serde_json::from_value(body).expect("an object of the kind")
}

/// What the last run of the handler has seen, and how many runs there were.
async fn seen(one: &mut Local<M>) -> (String, u32) {
    one.run_until_idle().await;
    let status = one.manifest().status.clone().unwrap_or_default();
    (status.machine.message.unwrap_or_default(), status.runs)
}

#[tokio::test(start_paused = true)]
async fn a_watched_object_concerns_those_whose_watch_says_so() {
    let mut one: Local<M> = local_of(thing(Work::Succeed));
    let world = one.handle();
    assert_eq!(seen(&mut one).await, ("None [] 0 0".to_owned(), 1));

    world.put(&object::<Secret>("other", &json!({}))).expect("JSON");
    let elsewhere = json!({"metadata": {"namespace": "elsewhere"}});
    world.put(&object::<Secret>("second", &elsewhere)).expect("JSON");
    world.put(&object::<ConfigMap>("map", &json!({}))).expect("JSON");
    let of_another = json!({"metadata": {"labels": {"example.com/thing": "another"}}});
    world.put(&object::<ConfigMap>("map", &of_another)).expect("JSON");
    assert_eq!(seen(&mut one).await.1, 1, "none of them concerns it");

    world.put(&object::<Secret>("first", &json!({}))).expect("JSON");
    assert_eq!(seen(&mut one).await, ("None [\"first\"] 0 0".to_owned(), 2));
    let here = json!({"metadata": {"namespace": "default"}});
    world.put(&object::<Secret>("second", &here)).expect("JSON");
    let both = "None [\"second\", \"first\"] 0 0".to_owned();
    assert_eq!(seen(&mut one).await, (both, 3), "in the order of the field");
    let labelled = json!({"metadata": {"labels": {"example.com/thing": "thing"}}});
    world.put(&object::<ConfigMap>("map", &labelled)).expect("JSON");
    world
        .put(&object::<ServiceAccount>("any", &json!({})))
        .expect("JSON");
    let all = "None [\"second\", \"first\"] 1 1".to_owned();
    assert_eq!(seen(&mut one).await, (all, 4));
    world.remove(&object::<Secret>("other", &json!({})));
    assert_eq!(seen(&mut one).await.1, 4, "it never concerned the object");
}

#[tokio::test(start_paused = true)]
async fn a_test_reports_what_controllers_would() {
    let mut one: Local<M> = local_of(thing(Work::Succeed));
    let world = one.handle();
    one.run_until_idle().await;
    world.make_ready::<Deployment>();
    assert_eq!(seen(&mut one).await, ("Some(2) [] 0 0".to_owned(), 2));
    world.fail::<Deployment>();
    assert_eq!(seen(&mut one).await, ("Some(0) [] 0 0".to_owned(), 3));
    let [applied] = &world.applied::<Deployment>()[..] else {
        panic!("one child was applied");
    };
    assert_eq!(applied.status, None, "handlers do not write it");
    assert_eq!(world.all::<Deployment>().len(), 1);
}

#[tokio::test]
async fn a_fixture_returns_what_the_handler_applied() {
    let mut one = Fixture::<M>::new(thing(Work::Succeed), Memory, Arc::default());
    assert_eq!(one.next(Look).await.expect("no error"), Transition::stay());
    assert_eq!(one.message.as_deref(), Some("None [] 0 0"));
    one.make_ready::<Deployment>();
    assert_eq!(one.next(Look).await.expect("no error"), Transition::stay());
    assert_eq!(one.message.as_deref(), Some("Some(2) [] 0 0"));
    let applied = one.applied::<Deployment>();
    assert_eq!(applied.len(), 1);
    let owners = applied[0]
        .metadata
        .owner_references
        .as_deref()
        .unwrap_or_default();
    assert_eq!(owners[0].uid, thing(Work::Succeed).uid());
}

#[tokio::test]
#[should_panic(expected = "there is no Job")]
async fn nothing_cannot_become_ready() {
    Fixture::<M>::new(thing(Work::Succeed), Memory, Arc::default()).make_ready::<Job>();
}

/// The status of an object of a kind after its controller succeeded, and after it failed.
fn reported<K: Child>(with: &Value) -> [Value; 2] {
    let one = Fixture::<M>::new(thing(Work::Succeed), Memory, Arc::default());
    one.put(&object::<K>("one", with)).expect("JSON");
    let status = || serde_json::to_value(&*one.all::<K>()[0]).expect("JSON")["status"].clone();
    one.make_ready::<K>();
    let ready = status();
    one.fail::<K>();
    [ready, status()]
}

fn condition(status: &Value, kind: &str) -> Value {
    let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
    let found = conditions.into_iter().find(|condition| condition["type"] == kind);
    found.map_or(Value::Null, |found| found["status"].clone())
}

#[test]
fn each_kind_is_reported_as_its_controller_does() {
    let workload = json!({"metadata": {"generation": 3}, "spec": {"replicas": 2, "selector": {}, "template": {}, "serviceName": ""}});
    for [ready, failed] in [
        reported::<Deployment>(&workload),
        reported::<StatefulSet>(&workload),
        reported::<ReplicaSet>(&workload),
    ] {
        assert_eq!(
            (&ready["readyReplicas"], &ready["observedGeneration"]),
            (&json!(2), &json!(3))
        );
        assert_eq!(failed["readyReplicas"], json!(0), "{failed}");
    }
    let [ready, failed] = reported::<DaemonSet>(&json!({"spec": {"selector": {}, "template": {}}}));
    assert_eq!(
        (&ready["numberReady"], &failed["numberReady"]),
        (&json!(1), &json!(0))
    );
    let [ready, failed] = reported::<Job>(&json!({"spec": {"completions": 3, "template": {}}}));
    assert_eq!(
        (condition(&ready, "Complete"), &ready["succeeded"]),
        (json!("True"), &json!(3))
    );
    assert_eq!(condition(&failed, "Failed"), json!("True"));
    let [ready, failed] = reported::<Pod>(&json!({}));
    assert_eq!(
        (&ready["phase"], &failed["phase"]),
        (&json!("Running"), &json!("Failed"))
    );
    let [ready, failed] = reported::<PersistentVolumeClaim>(&json!({}));
    assert_eq!(
        (&ready["phase"], &failed["phase"]),
        (&json!("Bound"), &json!("Lost"))
    );
    let [ready, _] = reported::<Service>(&json!({"spec": {"type": "LoadBalancer"}}));
    assert_eq!(ready["loadBalancer"]["ingress"][0]["ip"], json!("192.0.2.1"));
    let [ready, failed] = reported::<ConfigMap>(&json!({}));
    assert_eq!(
        (ready, failed),
        (Value::Null, Value::Null),
        "the kind has no status"
    );
}
