//! A server that keeps less of a status than was written: its schema is older than the operator.

use super::*;

/// How many writes an object has seen, and the states that it was in.
async fn life(work: Work, dropped: &[&'static str]) -> (u64, Vec<M>) {
    let mut one = local(Thing {
        dropped: dropped.to_vec(),
        ..thing(work)
    });
    // Longer than all retries and polls.
    let run = tokio::time::timeout(seconds(60), one.run());
    let _ = run.await;
    one.handle().changed(Watch::Owned);
    one.handle().update(|thing| thing.label = 1);
    let run = tokio::time::timeout(seconds(60), one.run());
    let _ = run.await;
    let states = one.trace().iter().map(|(_, state)| *state).collect();
    (one.manifest().version, states)
}

/// With `KRATOR_KEPT=1` each set of fields is tried; a test run takes every 41st.
#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test is told how much it tries, and says it"
)]
#[tokio::test(start_paused = true)]
async fn what_the_server_drops_is_not_written_again_and_again() {
    let all = 1_usize << Status::FIELDS.len();
    let step = std::env::var("KRATOR_KEPT").map_or(41, |step| step.parse().expect("a number"));
    let mut count = 0;
    for work in [
        Work::Succeed,
        Work::Fail,
        Work::FailForGood,
        Work::Panic,
        Work::FailThenSay,
    ] {
        let whole = life(work, &[]).await;
        for set in (1..all).step_by(step) {
            let fields = Status::FIELDS.iter().enumerate();
            let dropped = fields.filter(|(at, _)| set >> at & 1 == 1);
            let dropped: Vec<_> = dropped.map(|(_, field)| *field).collect();
            let (writes, states) = life(work, &dropped).await;
            assert_eq!(states, whole.1, "{work:?} without {dropped:?}");
            // Delays are jittered, so there may be one more run. A write that is repeated is repeated without end.
            assert!(
                writes <= whole.0 + 1,
                "{work:?} without {dropped:?}: {writes} writes instead of {}",
                whole.0
            );
            count += 1;
        }
    }
    println!("{count} lives");
}

#[tokio::test(start_paused = true)]
async fn a_status_that_somebody_else_changes_is_written_again() {
    let mut one = local(Thing {
        dropped: vec!["message"],
        ..thing(Work::Succeed)
    });
    one.run_until(|state| state == M::Rest).await;
    one.run_until_idle().await;
    let version = one.manifest().version;
    one.handle().update(|thing| {
        thing.status.as_mut().expect("stored").machine.observed_generation = Some(0);
    });
    one.run_until_idle().await;
    assert_eq!(machine(&one).observed_generation, Some(1), "it is put right");
    assert_eq!(one.manifest().version, version + 2, "with one write");
}
