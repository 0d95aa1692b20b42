//! What comes first when several things are due, and how fast a machine is that never waits.

use super::*;

/// An object in `Work` whose poll is due and whose timeout has passed.
async fn with_everything_due() -> Local<M> {
    let mut one = local(thing(Work::Succeed));
    one.run_until(|state| state == M::Work_).await;
    one.run_until_idle().await;
    assert_eq!(one.state(), Some(M::Work_), "it waits for its poll");
    tokio::time::advance(seconds(700)).await;
    one.handle().update_spec(|thing| thing.work = Work::Fail);
    one
}

#[tokio::test(start_paused = true)]
async fn deletion_comes_before_a_timeout_a_spec_change_and_a_wake_up() {
    let mut one = with_everything_due().await;
    one.handle().delete();
    one.run_until(|state| state != M::Work_).await;
    assert_eq!(one.state(), Some(M::Leave), "deletion");

    let mut one = with_everything_due().await;
    one.run_until(|state| state != M::Work_).await;
    assert_eq!(one.state(), Some(M::Lost), "the timeout");
    let runs = one.manifest().status.as_ref().map(|status| status.runs);
    assert_eq!(runs, Some(1), "the handler did not run for the poll or the spec");

    let mut one = local(stored("Rest", Work::Hang));
    one.run_until_idle().await;
    assert_eq!(one.events().len(), 1, "the handler ran after the start");
    one.handle().update(|thing| thing.label = 1);
    one.handle().update_spec(|thing| thing.work = Work::Succeed);
    one.run_until(|state| state != M::Rest).await;
    assert_eq!(one.state(), Some(M::Work_), "the change of the spec");
    assert_eq!(
        one.events().len(),
        1,
        "the label alone would have run the handler again"
    );
}

/// A machine whose two states lead to each other at once.
mod circle {
    use super::*;
    use krator_runtime::TransitionTo;

    states!(Here = 0, There = 1);
    static GRAPH: Graph = Graph::new(&STATES, Here::ID, None, "example.com/things");
    static STATES: [Policy; 2] = [
        Policy::new("Here").next(&[There::ID]),
        Policy::new("There").next(&[Here::ID]),
    ];
    impl TransitionTo<There> for Here {}
    impl TransitionTo<Here> for There {}
    impl State for Here {
        async fn next(self, _: &mut Context<'_, M>) -> Result<Transition<Self>> {
            Ok(Transition::to(There))
        }
    }
    impl State for There {
        async fn next(self, _: &mut Context<'_, M>) -> Result<Transition<Self>> {
            Ok(Transition::to(Here))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_hundred_transitions_at_once_are_followed_by_one_a_second() {
        let mut one = Local::<M>::new(thing(Work::Succeed), Memory, Arc::default());
        let run = tokio::time::timeout(seconds(10), one.run());
        assert!(run.await.is_err(), "it never ends");
        let at_once = one.trace().iter().filter(|(at, _)| *at < seconds(1)).count();
        assert!((99..=101).contains(&at_once), "{at_once}");
        let later = one.trace().len() - at_once;
        assert!((9..=10).contains(&later), "{later}");
        assert_eq!(one.events().len(), 1, "people are told once");
    }
}
