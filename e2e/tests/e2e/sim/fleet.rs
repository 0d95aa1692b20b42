//! Objects of one kind that all ask to enter the states of a limit, while leaders change.

use super::network::Faults;
use super::run::Deployment;
use super::world::{Judged, World, description, simulate};
use super::{last_requests, seeds};
use crate::dice::Dice;
use std::time::Duration;

/// The limit admits two of them at once.
const OBJECTS: usize = 12;
/// The duration in which replicas are killed, cut off and frozen.
const DISTURBED: Duration = Duration::from_secs(200);
/// The maximum time until objects come to rest after the last disturbance.
const REST: Duration = Duration::from_secs(300);
/// The loop of all objects.
const DRIFTING: &str = "Preparing>Determining,Determining>CorrectingDrift,CorrectingDrift>Ready,Ready>Preparing,RetryWait>Determining,";

async fn fleet(seed: u64) -> Judged {
    let mut dice = Dice::new(seed);
    let mut world = World::begin(seed, Deployment::Elected(3), &[0, 90, -90]).await;
    let mut kinds = description().kinds.iter();
    let releases = kinds.find(|kind| !kind.limits.is_empty());
    let releases = releases.expect("releases have a limit");
    for number in 0..OBJECTS {
        world
            .create(releases, &format!("it-{number}"), Some(DRIFTING))
            .await;
    }
    world.network.set(Faults {
        slow: 200,
        lost: 20,
        unanswered: 20,
        failed: 20,
        late: 150,
        ..Faults::default()
    });
    let mut at = Duration::ZERO;
    while at < DISTURBED {
        let millis = |dice: &mut Dice, most: usize| Duration::from_millis(dice.below(most) as u64);
        at += Duration::from_secs(2) + millis(&mut dice, 8000);
        world.wait_until(at).await;
        let (replica, length) = (dice.below(3), millis(&mut dice, 25_000));
        match dice.below(4) {
            0 => world.kill(replica, length),
            1 | 2 => world.cut_off(replica, length),
            _ => world.freeze(replica, length),
        }
    }
    world.network.set(Faults::default());
    if !world.wait_for(REST, |world| world.restless().is_empty()).await {
        let restless = world.restless();
        world.find(format!("these have not come to rest: {restless:?}"));
    }
    world.end().await
}

#[test]
fn limits_hold_while_leaders_come_and_go() {
    let (mut requests, mut entries) = (0, 0);
    for seed in seeds("KRATOR_SEEDS", 3) {
        let judged = simulate(fleet(seed));
        if let Some(first) = judged.findings.first() {
            let requests = last_requests(&judged.log, first).join("\n");
            panic!("seed {seed}: {first}\nits last requests about the object:\n{requests}");
        }
        requests += judged.log.len();
        entries += judged.entries;
    }
    crate::cluster::say(&format!(
        "a fleet: {requests} requests, {entries} entries of states"
    ));
}
