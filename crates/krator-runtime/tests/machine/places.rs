//! What an object does while a limit has no place for it.

use super::*;
use krator_runtime::{Limit, TransitionTo};

const PAUSED: &str = "example.com/paused";

states!(Run = 0, Upgrade = 1, Verify = 2);
static GRAPH: Graph = Graph::new(&STATES, Run::ID, None, "example.com/things").limits(&LIMITS);
static LIMITS: [Limit; 1] = [Limit::new("rollout", &[Upgrade::ID, Verify::ID], 3)];
static STATES: [Policy; 3] = [
    Policy::new("Run")
        .kind(StateKind::Ready)
        .next(&[Upgrade::ID])
        .poll(seconds(60)),
    Policy::new("Upgrade")
        .next(&[Verify::ID])
        .timeout(seconds(600), Verify::ID),
    Policy::new("Verify").next(&[Run::ID]).poll(seconds(5)),
];
impl TransitionTo<Upgrade> for Run {}
impl TransitionTo<Verify> for Upgrade {}
impl TransitionTo<Run> for Verify {}
impl MayStay for Run {}
impl MayStay for Verify {}

impl State for Run {
    async fn next(self, cx: &mut Context<'_, M>) -> Result<Transition<Self>> {
        cx.status_mut().runs += 1;
        Ok(match cx.manifest().work {
            Work::Hang => Transition::to(Upgrade),
            _ => Transition::stay(),
        })
    }
}
impl State for Upgrade {
    async fn next(self, _: &mut Context<'_, M>) -> Result<Transition<Self>> {
        Ok(Transition::to(Verify))
    }
}
impl State for Verify {
    async fn next(self, _: &mut Context<'_, M>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}

fn wants_to_upgrade() -> Local<M> {
    Local::new(thing(Work::Hang), Memory, Arc::default())
}

fn asks(one: &Local<M>) -> Option<String> {
    machine(one).ask.map(|ask| ask.to)
}

#[tokio::test(start_paused = true)]
async fn an_object_waits_for_a_place_and_is_kept_in_repair() {
    let mut one = wants_to_upgrade();
    one.handle().fill("rollout");
    one.run_until_idle().await;
    assert_eq!(
        (one.state(), asks(&one).as_deref()),
        (Some(M::Run), Some("Upgrade"))
    );
    assert_eq!(condition(&one, "Ready"), "True Run");
    assert_eq!(condition(&one, "Reconciling"), "True WaitsForGate");
    let (version, runs) = (
        one.manifest().version,
        one.manifest().status.as_ref().map(|s| s.runs),
    );
    assert_eq!(runs, Some(1), "it was not run again and again");

    one.handle().free("rollout");
    one.run_until(|state| state == M::Verify).await;
    assert_eq!(asks(&one), None);
    assert!(one.manifest().version > version);

    // Within the limit it needs no other place.
    let mut two = wants_to_upgrade();
    two.run_until(|state| state == M::Upgrade).await;
    two.handle().fill("rollout");
    two.run_until(|state| state == M::Verify).await;
}

#[tokio::test(start_paused = true)]
async fn who_no_longer_wants_to_or_is_paused_does_not_ask() {
    let mut one = wants_to_upgrade();
    one.handle().fill("rollout");
    one.run_until_idle().await;
    one.handle().update(|thing| {
        thing.annotations.insert(PAUSED.to_owned(), "true".to_owned());
    });
    one.run_until_idle().await;
    assert_eq!(
        (asks(&one), condition(&one, "Reconciling")),
        (None, "False Run".to_owned())
    );
    one.handle().update(|thing| {
        thing.annotations.remove(PAUSED);
    });
    one.run_until_idle().await;
    assert_eq!(asks(&one).as_deref(), Some("Upgrade"));
    one.handle().update_spec(|thing| thing.work = Work::Succeed);
    one.run_until_idle().await;
    assert_eq!(asks(&one), None);
    one.handle().free("rollout");
    one.run_until_idle().await;
    assert_eq!(one.state(), Some(M::Run));
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_found_paused_gives_up_what_it_had_asked_for() {
    let mut one = wants_to_upgrade();
    one.handle().fill("rollout");
    one.run_until_idle().await;
    let mut stored = Thing::clone(&one.manifest());
    stored.annotations.insert(PAUSED.to_owned(), "true".to_owned());
    let mut one = Local::<M>::new(stored, Memory, Arc::default());
    one.run_until_idle().await;
    assert_eq!(
        (asks(&one), condition(&one, "Reconciling")),
        (None, "False Run".to_owned())
    );
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "there is no limit `rolout`, only [\"rollout\"]")]
async fn a_limit_that_is_filled_is_one_of_the_machine() {
    wants_to_upgrade().handle().fill("rolout");
}
