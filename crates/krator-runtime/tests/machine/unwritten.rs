//! States whose handlers nobody has written: only what the description itself orders leads an object on.

use super::*;
use krator_runtime::{Final, OnSpecChange, Retry, TransitionTo};

states!(Begin = 0, Rest = 1, Clean = 2, Gone = 3);
static GRAPH: Graph = Graph::new(&STATES, Begin::ID, Some(Clean::ID), "example.com/things");
static STATES: [Policy; 4] = [
    Policy::new("Begin")
        .message("begins")
        .next(&[Rest::ID])
        .poll(seconds(5))
        .timeout(seconds(60), Rest::ID)
        .retry(Retry::DEFAULT.limit(1, Rest::ID))
        .resume(Rest::ID)
        .handler("src/thing/states/begin.rs", Begin::WRITTEN),
    Policy::new("Rest")
        .kind(StateKind::Ready)
        .on_spec_change(OnSpecChange::To(Begin::ID)),
    Policy::new("Clean")
        .next(&[Gone::ID])
        .deletion_path()
        .handler("src/thing/states/clean.rs", Clean::WRITTEN),
    Policy::new("Gone").kind(StateKind::Final).deletion_path(),
];
impl TransitionTo<Rest> for Begin {}
impl TransitionTo<Gone> for Clean {}
impl MayStay for Rest {}
impl Final for Gone {}
impl State for Begin {
    const WRITTEN: bool = false;
    async fn next(self, _: &mut Context<'_, M>) -> Result<Transition<Self>> {
        Ok(Transition::to(Rest))
    }
}
impl State for Rest {
    async fn next(self, _: &mut Context<'_, M>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}
impl State for Clean {
    const WRITTEN: bool = false;
    async fn next(self, _: &mut Context<'_, M>) -> Result<Transition<Self>> {
        Ok(Transition::to(Gone))
    }
}
impl State for Gone {
    async fn next(self, _: &mut Context<'_, M>) -> Result<Transition<Self>> {
        Ok(Transition::done())
    }
}

fn object(thing: Thing) -> Local<M> {
    Local::new(thing, Memory, Arc::default())
}

fn stalled(one: &Local<M>) -> (String, String, Option<i64>) {
    let status = one.manifest().status.clone().expect("written").machine;
    let found = status
        .conditions
        .iter()
        .find(|condition| condition.kind == "Stalled");
    let found = found.expect("it is always there");
    let said = format!("{} {}", found.status, found.reason);
    (said, found.message.clone(), found.observed_generation)
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_nobody_has_written_takes_no_edge() {
    let why = "the handler of Begin is not written: src/thing/states/begin.rs".to_owned();
    for found in [thing(Work::Succeed), stored("Begin", Work::Succeed)] {
        let generation = found.generation;
        let mut one = object(found);
        one.run_until_idle().await;
        assert_eq!(
            one.state(),
            Some(M::Begin),
            "neither its handler nor `resume` leads on"
        );
        let said = ("True NotWritten".to_owned(), why.clone(), Some(generation));
        assert_eq!(stalled(&one), said);
        let version = one.manifest().version;
        for change in [&|thing: &mut Thing| thing.label += 1, &|thing: &mut Thing| {
            drop(
                thing
                    .annotations
                    .insert("example.com/requestedAt".to_owned(), "now".to_owned()),
            )
        }] as [&dyn Fn(&mut Thing); 2]
        {
            one.handle().update(change);
            one.run_until_idle().await;
        }
        let status = one.manifest().status.clone().expect("written").machine;
        assert_eq!(
            (one.manifest().version, status.attempts),
            (version + 2, None),
            "nothing is written again"
        );
        assert_eq!(
            status.last_handled_request, None,
            "nobody has dealt with the request"
        );
        // A change waits for somebody to deal with it, and the condition is about it nevertheless.
        one.handle().update_spec(|_| ());
        one.run_until_idle().await;
        assert_eq!(one.state(), Some(M::Begin));
        assert_eq!(
            stalled(&one),
            ("True NotWritten".to_owned(), why.clone(), Some(generation + 1))
        );
        let observed = one
            .manifest()
            .status
            .as_ref()
            .expect("written")
            .machine
            .observed_generation;
        assert!(
            observed < Some(generation + 1),
            "nobody has dealt with the change"
        );
        // The timeout goes on, and then the next state reacts to the change.
        one.run_until(|state| state == M::Rest).await;
        one.run_until(|state| state == M::Begin).await;
        one.run_until_idle().await;
        assert_eq!(stalled(&one).0, "True NotWritten");
    }
}

/// The same machine after somebody has written the handler.
mod written {
    use super::*;

    states!(Begin = 0, Rest = 1);
    static GRAPH: Graph = Graph::new(&STATES, Begin::ID, None, "example.com/things");
    static STATES: [Policy; 2] = [
        Policy::new("Begin")
            .message("begins")
            .poll(seconds(5))
            .next(&[Rest::ID]),
        Policy::new("Rest").kind(StateKind::Ready),
    ];
    impl MayStay for Begin {}
    impl State for Begin {
        async fn next(self, _: &mut Context<'_, M>) -> Result<Transition<Self>> {
            Ok(Transition::stay())
        }
    }
    impl MayStay for Rest {}
    impl State for Rest {
        async fn next(self, _: &mut Context<'_, M>) -> Result<Transition<Self>> {
            Ok(Transition::stay())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn conditions_come_back_when_the_handler_is_written() {
        let mut before = object(thing(Work::Succeed));
        before.run_until_idle().await;
        let mut after = Local::<M>::new((*before.manifest()).clone(), Memory, Arc::default());
        after.run_until_idle().await;
        let status = after.manifest().status.clone().expect("written").machine;
        let conditions = status.conditions.iter();
        let said: Vec<String> = conditions
            .map(|it| format!("{} {} {}", it.kind, it.status, it.message))
            .collect();
        assert_eq!(
            said,
            [
                "Ready False begins",
                "Reconciling True begins",
                "Stalled False begins"
            ]
        );
        assert_eq!(status.observed_generation, Some(after.manifest().generation));
    }
}

#[tokio::test(start_paused = true)]
async fn a_deletion_path_that_nobody_has_written_holds_only_what_it_held() {
    let mut one = object(thing(Work::Succeed));
    one.run_until(|state| state == M::Rest).await;
    one.run_until_idle().await;
    assert!(one.manifest().finalizers.is_empty(), "it could never be deleted");
    one.handle().delete();
    one.run().await;
    assert!(one.is_over());

    let held = Thing {
        finalizers: vec!["example.com/things".to_owned()],
        ..stored("Rest", Work::Succeed)
    };
    let mut one = object(held);
    one.run_until_idle().await;
    one.handle().delete();
    one.run_until_idle().await;
    assert_eq!(one.state(), Some(M::Clean));
    assert_eq!(
        one.manifest().finalizers,
        ["example.com/things"],
        "what it held is not lost"
    );
    let why = "the handler of Clean is not written: src/thing/states/clean.rs";
    assert_eq!(stalled(&one).1, why);
}
