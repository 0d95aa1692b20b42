//! Follows a moose through a day on a paused clock, so waiting takes no time.

use std::sync::Arc;
use std::time::Duration;

use krator_runtime::testing::crashes;
use krator_runtime::{Fixture, Local};
use moose_by_hand::{Friendships, Moose, MooseMachine, MooseMemory, MooseSpec};

#[tokio::test(start_paused = true)]
async fn a_moose_roams_eats_sleeps_and_is_released() {
    let friends = Arc::new(Friendships::default());
    friends.meet("manfred");
    let spec = MooseSpec {
        height: 1.9,
        weight: 500.0,
        antlers: true,
    };
    let moose = Moose::new("melissa", spec);
    let memory = MooseMemory::of(&moose);
    let mut melissa = Local::<MooseMachine>::new(moose, memory, Arc::clone(&friends));

    melissa.run_until(|state| state == MooseMachine::Sleep).await;
    let seconds: Vec<_> = melissa
        .trace()
        .iter()
        .map(|(at, state)| (at.as_secs(), *state))
        .collect();
    assert_eq!(
        seconds,
        [
            (0, MooseMachine::Tagged),
            (0, MooseMachine::Roam),
            // From 50 kg to 10 kg, at 5 kg in 2 seconds.
            (16, MooseMachine::Eat),
            (21, MooseMachine::Sleep),
        ]
    );
    assert_eq!(friends.make_friend("melissa"), None, "manfred is a friend by now");

    melissa.run_until(|state| state == MooseMachine::Roam).await;
    assert_eq!(
        melissa.trace().last().map(|(at, _)| *at),
        Some(Duration::from_secs(41))
    );

    melissa.handle().delete();
    melissa.run().await;
    assert!(melissa.is_over());
    assert_eq!(
        friends.known(),
        ["manfred"],
        "a moose that is gone has no friendships"
    );
}

#[tokio::test(start_paused = true)]
async fn a_moose_lives_on_in_each_new_process() {
    crashes::<MooseMachine>(async |surroundings| {
        let spec = MooseSpec {
            height: 1.9,
            weight: 500.0,
            antlers: true,
        };
        let moose = Moose::new("melissa", spec);
        let memory = {
            let moose = moose.clone();
            move || (MooseMemory::of(&moose), Arc::default())
        };
        let mut melissa = surroundings.local(moose, memory);
        melissa.run_until(|state| state == MooseMachine::Sleep).await;
        melissa.run_until_idle().await;
        melissa.handle().delete();
        melissa.run().await;
        melissa
    })
    .await;
}

#[tokio::test]
async fn george_is_refused_at_the_door() {
    let moose = |name: &str| {
        let spec = MooseSpec {
            height: 1.9,
            weight: 500.0,
            antlers: true,
        };
        Moose::new(name, spec)
    };
    let manfred = moose("manfred");
    let memory = MooseMemory::of(&manfred);
    let operator = Fixture::<MooseMachine>::new(manfred.clone(), memory, Arc::default());
    let george = operator.admit(&moose("george")).await.expect("an answer");
    assert_eq!(
        george.verdict.message().as_deref(),
        Some("Mooses may only have names starting with 'M'.")
    );
    let admitted = operator.admit(&manfred).await.expect("an answer");
    assert!(admitted.verdict.is_allowed());
}
