//! An object that can get no further fails the test that waits for it, and the failure says why.

use super::*;
use futures::FutureExt as _;
use krator_runtime::TransitionTo;
use std::panic::AssertUnwindSafe;

states!(Begin = 0, Wait = 1, Hang = 2, Poll = 3, Live = 4);
static GRAPH: Graph = Graph::new(&STATES, Begin::ID, None, "example.com/things");
static STATES: [Policy; 5] = [
    Policy::new("Begin").next(&[Wait::ID, Hang::ID, Poll::ID]),
    Policy::new("Wait").next(&[Live::ID]).watch(&[Watch::Owned]),
    Policy::new("Hang").next(&[Live::ID]),
    Policy::new("Poll").next(&[Live::ID]).poll(seconds(10)),
    Policy::new("Live").kind(StateKind::Ready),
];
impl TransitionTo<Wait> for Begin {}
impl TransitionTo<Hang> for Begin {}
impl TransitionTo<Poll> for Begin {}
impl TransitionTo<Live> for Hang {}
impl MayStay for Wait {}
impl MayStay for Poll {}
impl MayStay for Live {}
impl State for Begin {
    async fn next(self, cx: &mut Context<'_, M>) -> Result<Transition<Self>> {
        Ok(match cx.manifest().work {
            Work::Hang => Transition::to(Hang),
            Work::Fail => Transition::to(Poll),
            _ => Transition::to(Wait),
        })
    }
}
impl State for Wait {
    async fn next(self, cx: &mut Context<'_, M>) -> Result<Transition<Self>> {
        cx.message("no child is ready");
        Ok(Transition::stay())
    }
}
impl State for Hang {
    async fn next(self, cx: &mut Context<'_, M>) -> Result<Transition<Self>> {
        cx.changes().changed().await;
        Ok(Transition::to(Live))
    }
}
impl State for Poll {
    async fn next(self, _: &mut Context<'_, M>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}
impl State for Live {
    async fn next(self, _: &mut Context<'_, M>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}

fn object(work: Work) -> Local<M> {
    Local::new(thing(work), Memory, Arc::default())
}

/// What a test fails with when it waits for what does not come.
async fn failure(waits: impl Future<Output = ()>) -> String {
    let panic = AssertUnwindSafe(waits)
        .catch_unwind()
        .await
        .expect_err("it does not arrive");
    panic.downcast_ref::<String>().expect("a message").clone()
}

#[tokio::test(start_paused = true)]
async fn an_object_that_waits_for_nothing_that_comes_is_reported() {
    let mut one = object(Work::Succeed);
    let rests = failure(one.run_until(|state| state == M::Live)).await;
    assert_eq!(
        rests,
        "the object rests in `Wait`, nothing is due, and it never reached `Live`. It would run if the test changed one \
         of [Owned] through `handle()`.\n\
         Its status says: no child is ready\n\
         It entered:\n    Begin after 0ns\n    Wait after 0ns"
    );
    let rests = failure(object(Work::Succeed).run()).await;
    assert!(
        rests.contains("rests in `Wait`, nothing is due, and it still existed at the end"),
        "{rests}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_does_not_end_is_reported() {
    let hangs = failure(object(Work::Hang).run_until(|state| state == M::Live)).await;
    assert!(
        hangs.starts_with(
            "the object is in `Hang`, whose handler waits for something that never happens; nothing else is due, and it \
             never reached `Live`."
        ),
        "{hangs}"
    );
    let hangs = failure(object(Work::Hang).run_until_idle()).await;
    assert!(hangs.contains("and it never rested"), "{hangs}");
}

#[tokio::test(start_paused = true)]
async fn an_object_that_polls_for_nothing_that_comes_is_reported() {
    let polls = failure(object(Work::Fail).run_until(|state| state == M::Live)).await;
    assert!(
        polls.starts_with(
            "the object took 100000 steps, is in `Poll` with more due, and never reached `Live`."
        ),
        "{polls}"
    );
}

#[tokio::test(start_paused = true)]
async fn what_another_task_does_in_time_is_waited_for() {
    let mut one = object(Work::Succeed);
    let handle = one.handle();
    tokio::spawn(async move {
        tokio::time::sleep(seconds(3600)).await;
        handle.delete();
    });
    one.run().await;
    assert!(one.is_over());
}

#[tokio::test(start_paused = true)]
async fn a_new_object_is_in_its_initial_state_at_once() {
    let mut one = object(Work::Succeed);
    one.run_until(|state| state == M::Begin).await;
    assert_eq!(one.state(), Some(M::Begin));
    one.run_until(|state| state == M::Wait).await;
    let entered: Vec<M> = one.trace().iter().map(|(_, state)| *state).collect();
    assert_eq!(entered, [M::Begin, M::Wait]);
}
