//! A thousand objects of five descriptions under faults and kills: a minute of it, or as many as `KRATOR_SOAK_MINUTES`
//! says. One operator is killed again and again; another one is not, so that its memory can be looked at.

use super::court::Court;
use super::crash::resource;
use super::five::{Five, prepared};
use crate::cluster::say;
use crate::operator::Operator;
use krator::model::Kind;
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};

/// Objects of each of the five kinds, for each of the two operators.
const OBJECTS: u64 = 100;
/// Of the faults, the kills and what is done to the objects.
const SEED: u64 = 20_220_801;
/// What is measured at the end was measured for the first time then, or half way where that comes earlier.
const WARM: Duration = Duration::from_secs(60);

/// What happens to requests; each process has its own seed, or each would begin with the same faults.
fn faults(seed: u64) -> Value {
    json!({
        "seed": seed, "latency": 50, "conflict": 10, "invalid": 3, "throttled": 5, "broken": 10, "lost": 10,
        "cut": 500, "gone": 50, "partition": [20_000, 2_000],
    })
}

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

/// The objects of one operator.
struct Half {
    court: Court,
    /// None while it is dead.
    operator: Option<Operator>,
    starts: u64,
}

impl Half {
    fn new(five: &'static Five, name: &str, seed: u64) -> Half {
        let kinds: Vec<&Kind> = five.description.kinds.iter().collect();
        let mut court = Court::new(five, name, &kinds, false);
        for kind in kinds {
            let objects: Vec<Value> = (0..OBJECTS)
                .map(|number| five.object(kind, &court.namespace, &format!("it-{number}"), None))
                .collect();
            five.create(&objects);
        }
        let operator = Some(court.start(&faults(seed)));
        Half {
            court,
            operator,
            starts: seed,
        }
    }

    fn is_running(&mut self) -> bool {
        self.operator.as_mut().is_some_and(Operator::is_running)
    }

    fn kill(&mut self) {
        self.operator.take().expect("it runs").kill();
        self.starts += 1;
        self.operator = Some(self.court.start(&faults(self.starts)));
    }

    /// What people do to objects. Some of it is refused, when it comes too early or too late.
    fn disturb(&self, five: &Five, dice: &mut Dice) {
        let kinds = &five.description.kinds;
        let kind = &kinds[usize::try_from(dice.below(kinds.len() as u64)).expect("five")];
        let name = format!("it-{}", dice.below(OBJECTS));
        let resource = resource(kind, &name);
        if dice.below(3) == 0 {
            let _ = self.court.kubectl(&["delete", "--wait=false", &resource]);
            let again = five.object(
                kind,
                &self.court.namespace,
                &format!("it-{}", dice.below(OBJECTS)),
                None,
            );
            let _ = five
                .cluster
                .try_kubectl("admin", &["create", "-f", "-"], &again.to_string());
        } else if let Some(change) = five.change(kind, dice.below(1000)) {
            let _ = self
                .court
                .kubectl(&["patch", &resource, "--type=merge", "--patch", &change]);
        }
    }

    /// Resident memory, in KiB.
    fn memory(&self) -> u64 {
        let id = self.operator.as_ref().expect("it runs").id();
        let status = fs::read_to_string(format!("/proc/{id}/status")).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        number.expect("Linux tells the resident memory")
    }
}

#[test]
fn a_thousand_objects_live_through_faults_and_kills() {
    let Some(five) = prepared() else { return };
    let minutes = std::env::var("KRATOR_SOAK_MINUTES")
        .ok()
        .and_then(|minutes| minutes.parse().ok());
    let length = Duration::from_secs(60 * minutes.unwrap_or(1));
    let mut dice = Dice(SEED);
    let mut killed = Half::new(five, "soak-killed", 1000);
    let mut spared = Half::new(five, "soak-spared", 2000);
    let (begun, mut kills, mut warm) = (Instant::now(), 0, None);
    let mut next_kill = Instant::now() + Duration::from_secs(5);
    while begun.elapsed() < length {
        for half in [&mut killed, &mut spared] {
            half.court.follow();
            assert!(half.is_running(), "it ended by itself");
            half.disturb(five, &mut dice);
        }
        if Instant::now() > next_kill {
            killed.kill();
            kills += 1;
            next_kill = Instant::now() + Duration::from_millis(3000 + dice.below(12_000));
        }
        if warm.is_none() && begun.elapsed() >= WARM.min(length / 2) {
            warm = Some(spared.memory());
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    let (warm, end) = (warm.expect("half of the time is over"), spared.memory());
    let (mut objects, mut entries) = (0, 0);
    for half in [killed, spared] {
        let Half {
            mut court, operator, ..
        } = half;
        assert_eq!(operator.expect("it runs").terminate().code(), Some(0));
        let seen = court.judge();
        (objects, entries) = (objects + seen.0, entries + seen.1);
    }
    say(&format!(
        "soak: {objects} objects, {entries} entries of states, {kills} kills in {length:?}; memory {warm} KiB, then {end} KiB"
    ));
    assert!(objects as u64 >= 2 * 5 * OBJECTS && entries > objects);
    // An allocator keeps what it has had: an eighth, and a little, is no growth.
    assert!(
        end <= warm + warm / 8 + 4096,
        "memory grew from {warm} KiB to {end} KiB"
    );
}
