//! Children that outlive the deletion path of their owner, and are otherwise children like all others.

use crate::thing::{Memory, Work, local_of, states, thing};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use krator_runtime::{
    Child, ChildDeletion, Context, Dispatch, Final, Grants, Graph, Link, Linked, Local, Machine, MayStay,
    Node, Owns, Policy, Result, State, StateId, StateKind, Transition, TransitionTo, Watch, dispatch,
};
use std::time::Duration;

states!(Hold = 0, Leave = 1, Gone = 2);
static GRAPH: Graph = Graph::new(&STATES, Hold::ID, Some(Leave::ID), "example.com/things");
static STATES: [Policy; 3] = [
    Policy::new("Hold").kind(StateKind::Ready).watch(&[Watch::Owned]),
    Policy::new("Leave")
        .next(&[Gone::ID])
        .poll(Duration::from_secs(1))
        .deletion_path(),
    Policy::new("Gone").kind(StateKind::Final).deletion_path(),
];
impl MayStay for Hold {}
impl MayStay for Leave {}
impl Final for Gone {}
impl TransitionTo<Gone> for Leave {}

impl Linked for M {
    fn links() -> Vec<Link<M>> {
        vec![
            Link::owned::<ConfigMap>("core/v1.ConfigMap"),
            Link::owned::<Secret>("core/v1.Secret"),
        ]
    }
}
impl Grants<ConfigMap> for M {}
impl Owns<ConfigMap> for M {
    const DELETION: ChildDeletion = ChildDeletion::Last;
}
impl Grants<Secret> for M {}
impl Owns<Secret> for M {
    const DELETION: ChildDeletion = ChildDeletion::Keep;
}

async fn apply(cx: &mut Context<'_, M>) -> Result<()> {
    for name in ["one", "two"] {
        let map: ConfigMap = cx.child(name);
        cx.apply(&map).await?;
    }
    let secret: Secret = cx.child("key");
    cx.apply(&secret).await?;
    let owned = cx.owned::<ConfigMap>().await?.len() + cx.owned::<Secret>().await?.len();
    cx.message(format!("{owned} owned"));
    cx.status_mut().runs += 1;
    Ok(())
}

impl State for Hold {
    async fn next(self, cx: &mut Context<'_, M>) -> Result<Transition<Self>> {
        apply(cx).await?;
        Ok(Transition::stay())
    }
}
impl State for Leave {
    async fn next(self, cx: &mut Context<'_, M>) -> Result<Transition<Self>> {
        apply(cx).await?;
        if cx.first_run() {
            return Ok(Transition::stay());
        }
        let late: ConfigMap = cx.child("late");
        cx.apply(&late).await?;
        Ok(Transition::to(Gone))
    }
}
impl State for Gone {
    async fn next(self, cx: &mut Context<'_, M>) -> Result<Transition<Self>> {
        assert_eq!(
            cx.owned::<ConfigMap>().await?.len(),
            3,
            "they are there until the end"
        );
        Ok(Transition::done())
    }
}

fn names<K: Child>(one: &Local<M>) -> Vec<String> {
    let all = one.handle().all::<K>();
    all.iter().filter_map(|child| child.meta().name.clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn children_outlive_the_deletion_path_and_then_go_or_are_released() {
    let mut one: Local<M> = local_of(thing(Work::Succeed));
    one.run_until_idle().await;
    let world = one.handle();
    assert_eq!(message(&one), (Some("3 owned".to_owned()), 1));
    let maps = world.all::<ConfigMap>();
    assert!(maps.iter().all(|map| map.metadata.owner_references.is_none()));

    world.remove(&*maps[0]);
    one.run_until_idle().await;
    assert_eq!(
        message(&one),
        (Some("3 owned".to_owned()), 2),
        "a child wakes its owner"
    );
    assert_eq!(names::<ConfigMap>(&one), ["one", "two"], "and is made again");

    world.delete();
    one.run_until(|state| state == M::Leave).await;
    assert_eq!(names::<ConfigMap>(&one), ["one", "two"]);
    one.run_until(|state| state == M::Gone).await;
    one.run_until_idle().await;
    assert_eq!(names::<ConfigMap>(&one), [""; 0], "they have gone last");
    let kept = world.all::<Secret>();
    let metadata = &kept[0].metadata;
    assert_eq!(metadata.owner_references, None);
    let labels = metadata.labels.clone().unwrap_or_default();
    assert_eq!(
        labels.get("example.com/released-from").map(String::as_str),
        Some("things")
    );
    assert_eq!(labels.len(), 1, "{labels:?}");
    let annotations = metadata.annotations.clone().unwrap_or_default();
    assert_eq!(annotations["example.com/released-from"], "thing 1");
    assert_eq!(annotations.len(), 1, "{annotations:?}");
    let events = one.events();
    let reasons: Vec<&str> = events.iter().map(|event| event.reason.as_str()).collect();
    assert_eq!(reasons, ["Released"]);
}

fn message(one: &Local<M>) -> (Option<String>, u32) {
    let status = one.manifest().status.clone().unwrap_or_default();
    (status.machine.message, status.runs)
}
