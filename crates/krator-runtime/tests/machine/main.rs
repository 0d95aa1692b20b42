//! What the runtime promises for one object, checked without Kubernetes and on a paused clock.

mod annotations;
#[cfg(feature = "kube")]
mod crashes;
mod kept;
mod limits;
mod order;
#[cfg(feature = "kube")]
mod others;
#[cfg(feature = "kube")]
mod outliving;
mod places;
mod ready_kept;
mod reasons;
mod stuck;
mod thing;
mod unwritten;

use krator_runtime::{
    Context, Dispatch, Graph, Local, Machine, MayStay, Node, Policy, Result, State, StateId, StateKind,
    Transition, Watch, dispatch,
};
use std::sync::{Arc, atomic::Ordering::Relaxed};
use thing::*;

#[tokio::test(start_paused = true)]
async fn an_object_goes_its_way_and_its_status_tells_it() {
    let mut one = local(thing(Work::Succeed));
    one.run_until(|s| s == M::Rest).await;
    one.run_until_idle().await;
    assert_eq!(trace(&one), [(0, M::New), (0, M::Work_), (5, M::Rest)]);
    let status = machine(&one);
    assert_eq!(
        (status.state.as_deref(), status.observed_generation),
        (Some("Rest"), Some(1))
    );
    assert_eq!(one.manifest().finalizers, ["example.com/things"]);
    assert_eq!(one.manifest().status.as_ref().map(|s| s.runs), Some(2));
    assert_eq!(condition(&one, "Ready"), "True Rest");
    assert_eq!(condition(&one, "Fed"), "True Rest");
    assert_eq!(condition(&one, "Tired"), "False Slept");
    let tired = one.condition(OwnConditions::Tired);
    assert_eq!(tired.map(|tired| tired.message).as_deref(), Some("well"));
    assert_eq!(
        condition(&one, "Born"),
        "True New",
        "though its state was never written"
    );
    assert_eq!(one.events().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_rests_writes_nothing() {
    let mut one = local(thing(Work::Succeed));
    one.run_until(|s| s == M::Rest).await;
    one.run_until_idle().await;
    let version = one.manifest().version;
    one.handle().changed(Watch::Owned);
    one.run_until_idle().await;
    assert_eq!(one.manifest().version, version);
    assert_eq!(
        one.events().len(),
        1,
        "its own writes and what it does not wait for wake nothing"
    );
    one.handle().update(|thing| thing.label = 1);
    one.run_until_idle().await;
    assert_eq!(one.events().len(), 2, "a label does");
}

#[tokio::test(start_paused = true)]
async fn what_a_handler_saves_is_stored_while_it_runs() {
    let mut one = local(thing(Work::SaveAndHang));
    let run = tokio::time::timeout(seconds(1), one.run());
    assert!(run.await.is_err(), "it hangs");
    assert_eq!(one.manifest().status.as_ref().map(|s| s.runs), Some(1));
}

#[tokio::test(start_paused = true)]
async fn errors_back_off_to_then() {
    let mut one = local(thing(Work::Fail));
    one.run_until(|s| s == M::Work_).await;
    one.run_until_idle().await;
    assert_eq!(machine(&one).attempts, Some(1));
    assert_eq!(condition(&one, "Ready"), "False Retrying");
    assert_eq!(condition(&one, "Reconciling"), "True Retrying");
    one.run_until(|s| s == M::Lost).await;
    one.run_until_idle().await;
    let after = one.trace().last().expect("a trace").0.as_secs_f64();
    assert!(
        (6.3..=7.0).contains(&after),
        "1 + 2 + 4 seconds, jittered: {after}"
    );
    assert_eq!(condition(&one, "Stalled"), "True Lost");
    assert_eq!(
        machine(&one).message.as_deref(),
        Some("gave up after 4 failures: attempt 4")
    );
    assert_eq!(
        one.manifest().status.as_ref().map(|s| s.runs),
        Some(4),
        "a failed run's status is kept"
    );
}

#[tokio::test(start_paused = true)]
async fn failures_that_another_operator_has_counted_are_not_taken_back() {
    let mut one = local(thing(Work::Fail));
    one.run_until(|s| s == M::Work_).await;
    one.run_until_idle().await;
    assert_eq!(machine(&one).attempts, Some(1));
    one.handle()
        .update(|thing| thing.status.as_mut().expect("stored").machine.attempts = Some(3));
    one.run_until(|s| s == M::Lost).await;
    assert!(
        one.trace().last().expect("a trace").0 < seconds(3),
        "the next one is the fourth"
    );
}

#[tokio::test(start_paused = true)]
async fn what_a_handler_says_after_a_failure_is_written() {
    let mut one = local(thing(Work::FailThenSay));
    let run = tokio::time::timeout(seconds(3), one.run());
    assert!(run.await.is_err(), "it stays");
    let status = machine(&one);
    assert_eq!(
        (status.attempts, status.message.as_deref()),
        (None, Some("better"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_hangs_after_its_time_ran_out_unseen_is_cut() {
    let mut thing = stored("Work", Work::Hang);
    let entered = jiff::Timestamp::now() - seconds(6000);
    thing.status.as_mut().expect("stored").machine.state_entered_time = Some(entered);
    let mut one = local(thing);
    one.run_until(|s| s != M::Work_).await;
    assert_eq!(trace(&one).last(), Some(&(600, M::Lost)));
}

#[tokio::test(start_paused = true)]
async fn an_error_for_good_skips_the_retries_and_a_panic_is_an_error() {
    let mut one = local(thing(Work::FailForGood));
    one.run_until(|s| s == M::Lost).await;
    assert_eq!(trace(&one).last(), Some(&(0, M::Lost)));
    let mut one = local(thing(Work::Panic));
    one.run_until(|s| s == M::Lost).await;
    one.run_until_idle().await;
    assert_eq!(
        machine(&one).message.as_deref(),
        Some("gave up after 4 failures: the handler panicked: too heavy")
    );
}

#[tokio::test(start_paused = true)]
async fn a_timeout_cuts_a_handler_and_holds_across_restarts() {
    let mut one = local(thing(Work::Hang));
    one.run_until(|s| s == M::Lost).await;
    assert_eq!(trace(&one).last(), Some(&(600, M::Lost)));

    let mut thing = stored("Work", Work::Hang);
    let entered = jiff::Timestamp::now() - seconds(590);
    thing.status.as_mut().expect("stored").machine.state_entered_time = Some(entered);
    let mut one = local(thing);
    one.run_until(|s| s == M::Lost).await;
    let at = one.trace().last().expect("a trace").0;
    assert!(at <= seconds(10), "{at:?}");
}

#[tokio::test(start_paused = true)]
async fn a_timeout_that_ran_out_unseen_waits_for_one_run() {
    let mut thing = stored("Work", Work::Succeed);
    let entered = jiff::Timestamp::now() - seconds(6000);
    thing.status.as_mut().expect("stored").machine.state_entered_time = Some(entered);
    let mut one = local(thing);
    one.run_until(|s| s != M::Work_).await;
    one.run_until_idle().await;
    assert_eq!(trace(&one), [(0, M::Work_), (0, M::Lost)]);
    assert_eq!(one.manifest().status.as_ref().map(|s| s.runs), Some(1));
}

#[tokio::test(start_paused = true)]
async fn a_restart_goes_on_from_what_is_stored() {
    let mut one = local(stored("Toil", Work::Succeed));
    assert_eq!(one.state(), Some(M::Work_), "by a former name");
    one.run_until(|s| s == M::Rest).await;
    assert_eq!(trace(&one), [(0, M::Work_), (5, M::Rest)]);

    let mut one = local(stored("Once", Work::Succeed));
    assert_eq!(one.state(), Some(M::Check), "what may happen once has happened");
    one.run_until_idle().await;
    assert_eq!(one.state(), Some(M::Rest));
}

#[tokio::test(start_paused = true)]
async fn an_unknown_state_is_left_alone_until_it_is_deleted() {
    let mut thing = stored("Nowhere", Work::Succeed);
    thing.finalizers = vec!["example.com/things".to_owned()];
    // Whoever may write the status may write this, too. It delays nothing.
    thing.status.as_mut().expect("a status").machine.attempts = Some(999_999_999);
    let before = thing.status.clone();
    let mut one = local(thing);
    one.run_until_idle().await;
    assert_eq!((one.state(), one.manifest().version), (None, 2));
    assert_eq!(one.events().len(), 1, "{:?}", one.events());
    let mut parked = one.manifest().status.clone();
    let conditions = parked
        .as_mut()
        .map(|status| std::mem::take(&mut status.machine.conditions));
    assert_eq!(parked, before, "nothing else is written");
    let [stalled] = &conditions.expect("a status")[..] else {
        panic!("one condition");
    };
    assert_eq!((&*stalled.kind, &*stalled.status), ("Stalled", "True"));
    assert_eq!(stalled.reason, "UnknownState");
    assert!(stalled.message.contains("\"Nowhere\""), "{}", stalled.message);
    // An operator that knows the state works beside this one.
    one.handle().update(|thing| {
        let status = thing.status.as_mut().expect("a status");
        status.machine.conditions.clear();
    });
    one.run_until_idle().await;
    assert_eq!(one.manifest().version, 3, "it is said once");
    // Tools pass over a condition about a former generation.
    one.handle().update_spec(|_| ());
    one.run_until_idle().await;
    let status = one.manifest().status.clone().expect("a status");
    let [stalled] = &status.machine.conditions[..] else {
        panic!("one condition");
    };
    assert_eq!(stalled.observed_generation, Some(one.manifest().generation));
    assert_eq!(one.events().len(), 1, "{:?}", one.events());
    one.handle().delete();
    one.run().await;
    assert_eq!(trace(&one), [(0, M::Leave), (1, M::Gone)]);
}

#[tokio::test(start_paused = true)]
async fn an_object_whose_state_was_unknown_goes_on_where_it_is_known() {
    let mut one = local(stored("Nowhere", Work::Succeed));
    one.run_until_idle().await;
    let mut thing = Thing::clone(&one.manifest());
    thing.status.as_mut().expect("a status").machine.state = Some("Rest".to_owned());
    let mut one = local(thing);
    one.run_until_idle().await;
    let conditions = machine(&one).conditions;
    let stalled: Vec<_> = conditions.iter().filter(|c| c.kind == "Stalled").collect();
    assert_eq!(stalled.len(), 1);
    assert_eq!((&*stalled[0].status, &*stalled[0].reason), ("False", "Rest"));
}

#[tokio::test(start_paused = true)]
async fn deletion_interrupts_and_the_memory_is_dropped() {
    let shared = Arc::new(Shared::default());
    let mut one = Local::<M>::new(thing(Work::Hang), Memory, Arc::clone(&shared));
    let handle = one.handle();
    tokio::spawn(async move {
        tokio::time::sleep(seconds(100)).await;
        handle.delete();
    });
    one.run().await;
    assert_eq!(trace(&one)[2..], [(100, M::Leave), (101, M::Gone)]);
    assert!(one.is_over());
    assert_eq!(shared.dropped.load(Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn deleted_while_nobody_looked() {
    let mut thing = stored("Rest", Work::Succeed);
    thing.deleting = true;
    thing.finalizers = vec!["example.com/things".to_owned()];
    let mut one = local(thing);
    one.run().await;
    assert_eq!(trace(&one)[1..], [(0, M::Leave), (1, M::Gone)]);
    assert!(one.is_over());
}

#[tokio::test(start_paused = true)]
async fn a_change_of_the_spec_is_judged_by_the_state() {
    let mut one = local(thing(Work::Fail));
    one.run_until(|s| s == M::Lost).await;
    one.run_until_idle().await;
    one.handle().update_spec(|thing| thing.work = Work::Succeed);
    one.run_until(|s| s == M::Rest).await;
    one.run_until_idle().await;
    assert_eq!(machine(&one).observed_generation, Some(2));
    // The message of a failure disappears when the spec changes.
    let mut one = local(thing(Work::Fail));
    one.run_until(|s| s == M::Work_).await;
    one.run_until_idle().await;
    assert_eq!(machine(&one).message.as_deref(), Some("attempt 1"));
    one.handle().update_spec(|thing| thing.work = Work::Succeed);
    one.run_until_idle().await;
    assert_eq!(
        (machine(&one).attempts, machine(&one).message.as_deref()),
        (None, Some(""))
    );
    // The spec was changed while no operator was running.
    let mut changed = stored("Rest", Work::Succeed);
    changed.generation = 2;
    let mut one = local(changed);
    one.run_until(|s| s == M::Work_).await;
    assert_eq!(trace(&one), [(0, M::Rest), (0, M::Work_)]);
}

#[tokio::test(start_paused = true)]
async fn a_limit_counts_entries_across_restarts() {
    let mut thing = stored("Spin", Work::Succeed);
    thing
        .status
        .as_mut()
        .expect("stored")
        .machine
        .entries
        .insert("Check".to_owned(), 2);
    let mut one = local(thing);
    one.run_until_idle().await;
    assert_eq!(one.state(), Some(M::Lost));
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_is_over_elsewhere_takes_its_deletion_path() {
    let mut one = local(stored("Done", Work::Succeed));
    one.run().await;
    let undone = [(10, M::Leave), (11, M::Gone)];
    assert_eq!(trace(&one)[1..], undone, "deleted by the runtime");

    let mut one = local(stored("Done", Work::Succeed));
    let handle = one.handle();
    tokio::spawn(async move {
        tokio::time::sleep(seconds(5)).await;
        handle.delete();
    });
    one.run().await;
    assert_eq!(trace(&one)[1..], undone, "deleted by somebody while it ended");
}

/// A machine without a deletion path, so no finalizer holds its objects.
mod undeletable {
    use super::*;

    states!(Only = 0);
    static GRAPH: Graph = Graph::new(&STATES, Only::ID, None, "example.com/things");
    static STATES: [Policy; 1] = [Policy::new("Only").kind(StateKind::Ready).watch(&[Watch::Itself])];
    impl MayStay for Only {}
    impl State for Only {
        async fn next(self, _: &mut Context<'_, M>) -> Result<Transition<Self>> {
            Ok(Transition::stay())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_finalizer_of_a_former_description_is_taken_off() {
        let held = || Thing {
            finalizers: vec!["example.com/others".to_owned(), "example.com/things".to_owned()],
            ..stored("Nowhere", Work::Succeed)
        };
        let mut one = Local::<M>::new(held(), Memory, Arc::default());
        one.run_until_idle().await;
        assert_eq!(one.manifest().finalizers, ["example.com/others"]);

        let deleted = Thing {
            deleting: true,
            ..held()
        };
        let mut one = Local::<M>::new(deleted, Memory, Arc::default());
        one.run().await;
        assert!(one.is_over());
    }
}
