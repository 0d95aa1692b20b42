//! The annotations with which people steer a single object, and the events and times that handlers see.

use crate::thing::*;
use krator_runtime::{
    Context, Dispatch, Final, Fixture, Graph, Local, Machine, MayStay, Node, Policy, Result, Retry, State,
    StateId, StateKind, Transition, TransitionTo, dispatch,
};
use std::sync::Arc;

const PAUSED: &str = "example.com/paused";
const REQUESTED: &str = "example.com/requestedAt";

states!(Work_ = 0, Once = 1, Check = 2, Rest = 3, Lost = 4, Gone = 5);
static GRAPH: Graph = Graph::new(&STATES, Work_::ID, Some(Gone::ID), "example.com/things");
static STATES: [Policy; 6] = [
    Policy::new("Work")
        .next(&[Once::ID, Rest::ID])
        .poll(seconds(600))
        .timeout(seconds(3600), Lost::ID)
        .retry(Retry::DEFAULT.backoff(seconds(600), 1.0, seconds(600))),
    Policy::new("Once").next(&[Rest::ID]).once().resume(Check::ID),
    Policy::new("Check").next(&[Rest::ID]).poll(seconds(600)),
    Policy::new("Rest").kind(StateKind::Ready),
    Policy::new("Lost").kind(StateKind::Failed),
    Policy::new("Gone").kind(StateKind::Final).deletion_path(),
];
impl TransitionTo<Once> for Work_ {}
impl TransitionTo<Rest> for Work_ {}
impl TransitionTo<Rest> for Once {}
impl TransitionTo<Rest> for Check {}
impl MayStay for Work_ {}
impl MayStay for Check {}
impl MayStay for Rest {}
impl MayStay for Lost {}
impl Final for Gone {}

type Cx<'a, 'b> = &'a mut Context<'b, M>;
impl State for Work_ {
    async fn next(self, cx: Cx<'_, '_>) -> Result<Transition<Self>> {
        cx.status_mut().runs += 1;
        cx.warn("Worked", format!("{} in {}", cx.name(), cx.namespace()));
        match cx.manifest().work {
            Work::Fail => return Err("no".into()),
            Work::Hang => {
                tokio::time::sleep(seconds(10)).await;
                return Ok(Transition::to(Rest).because("done in spite of the pause"));
            }
            _ => {}
        }
        Ok(match cx.manifest().label {
            1 => Transition::to(Once),
            2 => Transition::to(Rest),
            _ => Transition::stay(),
        })
    }
}
impl State for Once {
    async fn next(self, cx: Cx<'_, '_>) -> Result<Transition<Self>> {
        cx.status_mut().runs += 1;
        tokio::time::sleep(seconds(10)).await;
        Ok(Transition::to(Rest))
    }
}
impl State for Check {
    async fn next(self, _: Cx<'_, '_>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}
impl State for Rest {
    async fn next(self, cx: Cx<'_, '_>) -> Result<Transition<Self>> {
        cx.status_mut().runs += 1;
        Ok(Transition::stay())
    }
}
impl State for Lost {
    async fn next(self, _: Cx<'_, '_>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}
impl State for Gone {
    async fn next(self, _: Cx<'_, '_>) -> Result<Transition<Self>> {
        Ok(Transition::done())
    }
}

fn local(thing: Thing) -> Local<M> {
    Local::new(thing, Memory, Arc::default())
}

fn annotate(one: &Local<M>, name: &str, value: &str) {
    let (name, value) = (name.to_owned(), value.to_owned());
    one.handle().update(|thing| {
        thing.annotations.insert(name, value);
    });
}

fn resume(one: &Local<M>) {
    one.handle().update(|thing| {
        thing.annotations.remove(PAUSED);
    });
}

fn status(one: &Local<M>) -> Status {
    one.manifest().status.clone().unwrap_or_default()
}

fn conditions(one: &Local<M>) -> Vec<String> {
    let conditions = status(one).machine.conditions;
    conditions
        .iter()
        .map(|c| format!("{} {}", c.kind, c.status))
        .collect()
}

fn says_paused(one: &Local<M>) -> bool {
    conditions(one).contains(&"Paused True".to_owned())
}

fn handled(one: &Local<M>) -> Option<String> {
    status(one).machine.last_handled_request
}

/// Lets time pass for the object.
async fn pass(one: &mut Local<M>, time: u64) {
    let run = tokio::time::timeout(seconds(time), one.run());
    assert!(run.await.is_err(), "it is not gone");
}

#[tokio::test(start_paused = true)]
async fn a_paused_object_is_left_alone_until_it_is_resumed() {
    let mut one = local(thing(Work::Succeed));
    one.run_until_idle().await;
    assert_eq!(status(&one).runs, 1);
    annotate(&one, PAUSED, "true");
    one.run_until_idle().await;
    assert!(says_paused(&one));
    let version = one.manifest().version;

    one.handle().update_spec(|_| ());
    pass(&mut one, 3000).await;
    assert_eq!(status(&one).runs, 1, "no poll, and no change of the spec");
    assert_eq!(one.manifest().version, version + 1, "nothing but the edit");

    resume(&one);
    one.run_until_idle().await;
    assert!(!says_paused(&one));
    assert_eq!(status(&one).runs, 2, "as after a restart");
    assert_eq!(status(&one).machine.observed_generation, Some(2));
}

#[tokio::test(start_paused = true)]
async fn other_values_pause_nothing() {
    for value in ["", "false", "True", "yes"] {
        let mut one = local(thing(Work::Succeed));
        annotate(&one, PAUSED, value);
        one.run_until_idle().await;
        assert_eq!((status(&one).runs, says_paused(&one)), (1, false), "{value}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_running_handler_ends_and_its_transition_is_written() {
    let mut one = local(thing(Work::Hang));
    let handle = one.handle();
    tokio::spawn(async move {
        tokio::time::sleep(seconds(5)).await;
        handle.update(|thing| {
            thing.annotations.insert(PAUSED.to_owned(), "true".to_owned());
        });
    });
    pass(&mut one, 1000).await;
    let stored = status(&one);
    assert_eq!(stored.machine.state.as_deref(), Some("Rest"));
    assert_eq!(
        stored.machine.message.as_deref(),
        Some("done in spite of the pause")
    );
    assert_eq!(stored.runs, 1, "the handler of Rest has not run");
    assert!(says_paused(&one));
    resume(&one);
    one.run_until_idle().await;
    assert_eq!(status(&one).runs, 2);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_created_paused_gets_no_state_and_no_finalizer() {
    let mut paused = thing(Work::Succeed);
    paused.annotations.insert(PAUSED.to_owned(), "true".to_owned());
    let mut one = local(paused);
    one.run_until_idle().await;
    assert_eq!(conditions(&one), ["Paused True"]);
    let stored = status(&one).machine;
    assert_eq!(stored.state, None);
    let generation = stored.conditions[0].observed_generation;
    assert_eq!(generation, Some(1), "or kubectl waits for a later one");
    assert!(one.manifest().finalizers.is_empty());
    resume(&one);
    one.run_until_idle().await;
    assert_eq!((status(&one).runs, says_paused(&one)), (1, false));
    assert_eq!(one.manifest().finalizers.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_paused_object_can_be_deleted() {
    let mut one = local(thing(Work::Succeed));
    one.run_until_idle().await;
    annotate(&one, PAUSED, "true");
    one.run_until_idle().await;
    one.handle().delete();
    one.run().await;
    assert!(one.is_over());
    assert_eq!(one.trace().last().map(|(_, state)| *state), Some(M::Gone));
}

#[tokio::test(start_paused = true)]
async fn a_timeout_that_ran_out_in_a_pause_waits_for_one_run() {
    let mut one = local(thing(Work::Succeed));
    one.run_until_idle().await;
    annotate(&one, PAUSED, "true");
    pass(&mut one, 10_000).await;
    assert_eq!(one.state(), Some(M::Work_));
    resume(&one);
    one.run_until_idle().await;
    assert_eq!(one.state(), Some(M::Lost));
    assert_eq!(status(&one).runs, 2, "the handler has run once and stayed");
}

#[tokio::test(start_paused = true)]
async fn a_once_state_that_was_paused_goes_to_resume() {
    let mut one = local(Thing {
        label: 1,
        ..thing(Work::Succeed)
    });
    one.run_until(|state| state == M::Once).await;
    annotate(&one, PAUSED, "true");
    one.run_until_idle().await;
    assert_eq!(status(&one).machine.state.as_deref(), Some("Once"));
    resume(&one);
    one.run_until_idle().await;
    assert_eq!(one.state(), Some(M::Check));
}

#[tokio::test(start_paused = true)]
async fn a_request_runs_the_handler_once() {
    let mut one = local(thing(Work::Succeed));
    one.run_until_idle().await;
    for (request, runs) in [("now", 2), ("now", 2), ("again", 3)] {
        annotate(&one, REQUESTED, request);
        one.run_until_idle().await;
        assert_eq!(
            (status(&one).runs, handled(&one).as_deref()),
            (runs, Some(request))
        );
    }
    let mut again = local((*one.manifest()).clone());
    again.run_until_idle().await;
    assert_eq!(status(&again).runs, 4, "a restart runs it once, and no more");
}

#[tokio::test(start_paused = true)]
async fn a_request_passes_a_backoff_and_is_answered_by_a_failure() {
    let mut one = local(thing(Work::Fail));
    one.run_until_idle().await;
    assert_eq!(status(&one).machine.attempts, Some(1));
    annotate(&one, REQUESTED, "now");
    one.run_until_idle().await;
    assert_eq!(status(&one).runs, 2);
    assert_eq!(
        status(&one).machine.attempts,
        Some(2),
        "the request itself changes no count"
    );
    assert_eq!(handled(&one).as_deref(), Some("now"));
}

#[tokio::test(start_paused = true)]
async fn a_request_waits_for_the_end_of_a_pause() {
    let mut one = local(thing(Work::Succeed));
    one.run_until_idle().await;
    annotate(&one, PAUSED, "true");
    annotate(&one, REQUESTED, "now");
    pass(&mut one, 1000).await;
    assert_eq!((status(&one).runs, handled(&one)), (1, None));
    resume(&one);
    one.run_until_idle().await;
    assert_eq!((status(&one).runs, handled(&one).as_deref()), (2, Some("now")));
}

#[tokio::test(start_paused = true)]
async fn a_request_during_a_run_is_dealt_with_by_the_next_one() {
    let mut one = local(Thing {
        label: 1,
        ..thing(Work::Succeed)
    });
    let handle = one.handle();
    tokio::spawn(async move {
        tokio::time::sleep(seconds(5)).await;
        handle.update(|thing| {
            thing.annotations.insert(REQUESTED.to_owned(), "now".to_owned());
        });
    });
    one.run_until(|state| state == M::Rest).await;
    assert_eq!(handled(&one), None, "the handler of Once does not run again");
    one.run_until_idle().await;
    assert_eq!(
        (status(&one).runs, handled(&one).as_deref()),
        (3, Some("now")),
        "one run in each state"
    );
}

#[tokio::test(start_paused = true)]
async fn a_long_request_is_ignored_with_an_event() {
    for (bytes, is_ignored) in [(256, false), (257, true)] {
        let mut one = local(thing(Work::Succeed));
        one.run_until_idle().await;
        annotate(&one, REQUESTED, &"x".repeat(bytes));
        one.run_until_idle().await;
        pass(&mut one, 1500).await;
        let ignored = one.events().into_iter().filter(|e| e.reason == "RequestIgnored");
        assert_eq!(ignored.count(), usize::from(is_ignored), "{bytes}");
        assert_eq!(handled(&one).is_none(), is_ignored, "{bytes}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_same_event_again_is_one_event() {
    let mut one = local(thing(Work::Succeed));
    pass(&mut one, 2000).await;
    assert!(status(&one).runs > 3);
    let events = one.events();
    assert_eq!(events.len(), 1, "{events:?}");
    assert!(events[0].warning);
    assert_eq!(events[0].note, "thing in default");
}

/// A handler that writes down what its clock says.
mod clock {
    use super::*;

    states!(Only = 0);
    static GRAPH: Graph = Graph::new(&STATES, Only::ID, None, "example.com/things");
    static STATES: [Policy; 1] = [Policy::new("Only").kind(StateKind::Ready).poll(seconds(3600))];
    impl MayStay for Only {}
    impl State for Only {
        async fn next(self, cx: &mut Context<'_, M>) -> Result<Transition<Self>> {
            cx.message(cx.now().to_string());
            Ok(Transition::stay())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn handlers_in_tests_see_the_stopped_clock() {
        let mut one = Local::<M>::new(thing(Work::Succeed), Memory, Arc::default());
        let said = |one: &Local<M>| -> jiff::Timestamp {
            let message = one.manifest().status.clone().and_then(|s| s.machine.message);
            message
                .expect("a message")
                .parse()
                .expect("what the handler wrote")
        };
        one.run_until_idle().await;
        let first = said(&one);
        let run = tokio::time::timeout(seconds(5000), one.run());
        assert!(run.await.is_err(), "it stays");
        assert_eq!(said(&one).duration_since(first).as_secs(), 3600);

        let mut fixture = Fixture::<M>::new(thing(Work::Succeed), Memory, Arc::default());
        tokio::time::advance(seconds(60)).await;
        assert_eq!(fixture.next(Only).await.expect("it succeeds"), Transition::stay());
        let said: jiff::Timestamp = fixture.message.expect("a message").parse().expect("a time");
        assert!(said.duration_since(jiff::Timestamp::now()).as_secs() >= 50);
    }
}
