//! What `.status.message` and the conditions say of the state that an object is in.

use crate::thing::*;
use krator_runtime::{
    Context, Dispatch, Error, Graph, Local, Machine, MayStay, Node, Policy, Result, Retry, State, StateId,
    StateKind, Transition, TransitionTo, Watch, dispatch,
};
use std::sync::Arc;

states!(Deploy = 0, Check = 1, Once = 2, Failed = 3, Lost = 4, Happy = 5);
static GRAPH: Graph = Graph::new(&STATES, Deploy::ID, None, "example.com/things");
static STATES: [Policy; 6] = [
    Policy::new("Deploy")
        .next(&[Check::ID, Once::ID, Failed::ID, Happy::ID])
        .poll(seconds(10))
        .timeout(seconds(300), Failed::ID)
        .retry(Retry::DEFAULT.limit(2, Lost::ID)),
    Policy::new("Check").next(&[Deploy::ID]).limit(3, Failed::ID),
    Policy::new("Once").next(&[Failed::ID]).once().resume(Happy::ID),
    Policy::new("Failed")
        .kind(StateKind::Failed)
        .watch(&[Watch::Itself]),
    Policy::new("Lost").kind(StateKind::Failed).message("Needs help."),
    Policy::new("Happy")
        .kind(StateKind::Ready)
        .message("All is well."),
];

impl TransitionTo<Check> for Deploy {}
impl TransitionTo<Once> for Deploy {}
impl TransitionTo<Failed> for Deploy {}
impl TransitionTo<Happy> for Deploy {}
impl TransitionTo<Deploy> for Check {}
impl MayStay for Deploy {}
impl MayStay for Failed {}
impl MayStay for Lost {}
impl MayStay for Happy {}

type Script = fn(Cx<'_, '_>) -> Result<Transition<Deploy>>;

/// What the handler of `Deploy` does: the label of the thing.
const SCRIPTS: [Script; 12] = [
    |cx| {
        cx.message("1 of 3 replicas ready");
        Ok(Transition::stay())
    },
    |_| Ok(Transition::stay()),
    |_| Err("no quota".into()),
    |_| Err(Error::permanent("no such image")),
    |_| Ok(Transition::to(Failed).because("no such image")),
    |cx| {
        cx.message("no such image");
        Ok(Transition::to(Failed))
    },
    |cx| {
        cx.message("looked at it");
        Ok(Transition::to(Happy).because("3 of 3 replicas ready"))
    },
    |_| Ok(Transition::to(Happy)),
    |_| Ok(Transition::to(Check).because("not yet")),
    |_| Ok(Transition::to(Check)),
    |_| Ok(Transition::to(Once)),
    |_| Ok(Transition::stay().because("2 of 3 replicas ready")),
];

type Cx<'a, 'b> = &'a mut Context<'b, M>;
impl State for Deploy {
    async fn next(self, cx: Cx<'_, '_>) -> Result<Transition<Self>> {
        SCRIPTS[cx.manifest().label as usize](cx)
    }
}
impl State for Check {
    async fn next(self, _: Cx<'_, '_>) -> Result<Transition<Self>> {
        Ok(Transition::to(Deploy))
    }
}
impl State for Once {
    async fn next(self, _: Cx<'_, '_>) -> Result<Transition<Self>> {
        Err("cut short".into())
    }
}
impl State for Failed {
    async fn next(self, cx: Cx<'_, '_>) -> Result<Transition<Self>> {
        if cx.manifest().work == Work::Fail {
            return Err("cannot tell".into());
        }
        Ok(Transition::stay())
    }
}
impl State for Lost {
    async fn next(self, _: Cx<'_, '_>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}
impl State for Happy {
    async fn next(self, _: Cx<'_, '_>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}

fn local(thing: Thing) -> Local<M> {
    Local::new(thing, Memory, Arc::default())
}

fn scripted(label: usize) -> Thing {
    Thing {
        label: u32::try_from(label).expect("a few scripts"),
        ..thing(Work::Succeed)
    }
}

/// What the status and all conditions say.
fn message(one: &Local<M>) -> String {
    let status = one.manifest().status.clone().unwrap_or_default().machine;
    let message = status.message.unwrap_or_default();
    for condition in &status.conditions {
        assert_eq!(condition.message, message, "{}", condition.kind);
    }
    message
}

#[tokio::test(start_paused = true)]
async fn an_object_says_why_it_is_in_its_state() {
    let cases = [
        (
            0,
            M::Failed,
            "timed out after 5m0s in Deploy: 1 of 3 replicas ready",
        ),
        (1, M::Failed, "timed out after 5m0s in Deploy"),
        (2, M::Lost, "Needs help. (gave up after 3 failures: no quota)"),
        (
            3,
            M::Lost,
            "Needs help. (gave up after a permanent error: no such image)",
        ),
        (4, M::Failed, "no such image"),
        (5, M::Failed, "no such image"),
        (6, M::Happy, "3 of 3 replicas ready"),
        (7, M::Happy, "All is well."),
        (8, M::Failed, "entered Check 3 times: not yet"),
        (9, M::Failed, "entered Check 3 times"),
        (10, M::Happy, "All is well. (failed in Once: cut short)"),
        (
            11,
            M::Failed,
            "timed out after 5m0s in Deploy: 2 of 3 replicas ready",
        ),
    ];
    assert_eq!(cases.len(), SCRIPTS.len());
    for (script, state, expected) in cases {
        let mut one = local(scripted(script));
        one.run_until(|s| s == state).await;
        one.run_until_idle().await;
        assert_eq!(message(&one), expected, "script {script}");
        let mut again = local((*one.manifest()).clone());
        again.handle().update(|thing| thing.label += 100);
        again.run_until_idle().await;
        assert_eq!(message(&again), expected, "script {script}, after a restart");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_hides_the_reason_of_a_state_and_the_next_success_shows_it_again() {
    let mut one = local(scripted(4));
    one.run_until(|s| s == M::Failed).await;
    one.run_until_idle().await;
    one.handle()
        .update(|thing| (thing.label, thing.work) = (100, Work::Fail));
    one.run_until_idle().await;
    assert_eq!(message(&one), "cannot tell");
    one.handle().update(|thing| thing.work = Work::Succeed);
    let run = tokio::time::timeout(seconds(60), one.run());
    assert!(run.await.is_err(), "it stays");
    assert_eq!(message(&one), "no such image");
}

#[tokio::test(start_paused = true)]
async fn the_reason_of_a_restart_is_told() {
    let mut one = local(stored("Once", Work::Succeed));
    one.run_until_idle().await;
    assert_eq!(message(&one), "All is well. (the operator restarted in Once)");
}
