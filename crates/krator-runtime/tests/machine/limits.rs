//! The way back from `limit.then`, and limits that let nothing in.

use super::*;
use krator_runtime::{FieldValue, TransitionTo};

states!(Up = 0, Down = 1, Good = 2, Stuck = 3, Retry_ = 4);
static GRAPH: Graph = Graph::new(&STATES, Up::ID, None, "example.com/things");
static STATES: [Policy; 5] = [
    Policy::new("Up")
        .next(&[Down::ID, Good::ID, Retry_::ID])
        .limit(3, Stuck::ID),
    Policy::new("Down").next(&[Up::ID]).poll(seconds(1)),
    Policy::new("Good").kind(StateKind::Ready),
    Policy::new("Stuck")
        .kind(StateKind::Failed)
        .next(&[Up::ID])
        .poll(seconds(10)),
    Policy::new("Retry").next(&[Up::ID]).limit_from_field(0, Good::ID),
];
impl TransitionTo<Down> for Up {}
impl TransitionTo<Good> for Up {}
impl TransitionTo<Retry_> for Up {}
impl TransitionTo<Up> for Down {}
impl TransitionTo<Up> for Stuck {}
impl TransitionTo<Up> for Retry_ {}
impl MayStay for Down {}
impl MayStay for Good {}
impl MayStay for Stuck {}

impl State for Up {
    async fn next(self, cx: &mut Context<'_, M>) -> Result<Transition<Self>> {
        Ok(match cx.manifest().work {
            Work::Succeed => Transition::to(Good),
            Work::Hang => Transition::to(Retry_),
            _ => Transition::to(Down),
        })
    }
}
impl State for Down {
    async fn next(self, _: &mut Context<'_, M>) -> Result<Transition<Self>> {
        Ok(Transition::to(Up))
    }
}
impl State for Good {
    async fn next(self, _: &mut Context<'_, M>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}
impl State for Stuck {
    async fn next(self, cx: &mut Context<'_, M>) -> Result<Transition<Self>> {
        Ok(match cx.manifest().work {
            Work::Fail => Transition::stay(),
            _ => Transition::to(Up),
        })
    }
}
impl State for Retry_ {
    async fn next(self, _: &mut Context<'_, M>) -> Result<Transition<Self>> {
        Ok(Transition::to(Up))
    }
}

fn object(work: Work) -> Local<M> {
    Local::new(thing(work), Memory, Arc::default())
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_goes_back_after_a_rest_opens_the_limit() {
    let mut one = object(Work::Fail);
    one.run_until(|state| state == M::Stuck).await;
    tokio::time::advance(seconds(300)).await;
    // No change of the spec, which would begin all counts anew.
    one.handle().update(|thing| thing.work = Work::Succeed);
    one.run_until_idle().await;
    assert_eq!(one.state(), Some(M::Good));
    let last: Vec<M> = one
        .trace()
        .iter()
        .rev()
        .take(3)
        .map(|(_, state)| *state)
        .collect();
    assert_eq!(last, [M::Good, M::Up, M::Stuck], "it goes straight back");
}

#[tokio::test(start_paused = true)]
async fn an_object_that_goes_back_at_once_rests_before_it_goes_round_again() {
    let mut one = object(Work::Panic);
    let run = tokio::time::timeout(seconds(65), one.run());
    assert!(run.await.is_err(), "it never ends");
    let entered = |wanted: M| one.trace().iter().filter(|(_, state)| *state == wanted).count();
    // Three times in ten seconds.
    assert!((18..=21).contains(&entered(M::Up)), "{}", entered(M::Up));
    assert!((12..=14).contains(&entered(M::Stuck)), "{}", entered(M::Stuck));
}

#[tokio::test(start_paused = true)]
async fn a_limit_of_zero_lets_nothing_in() {
    for (times, enters) in [(Some(0), false), (Some(2), true), (None, true)] {
        let mut one = object(Work::Hang);
        one.handle()
            .update(move |thing| thing.limit = times.map(FieldValue::Number));
        one.run_until(|state| matches!(state, M::Good | M::Stuck)).await;
        let has_entered = one.trace().iter().any(|(_, state)| *state == M::Retry_);
        assert_eq!(has_entered, enters, "{times:?}");
    }
}
