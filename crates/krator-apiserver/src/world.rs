//! The time and the random numbers of a server.

use jiff::Timestamp;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::time::Instant;
use uuid::Uuid;

/// The time and the random numbers of a server: those of the machine, or simulated ones.
#[derive(Debug, Default)]
pub(crate) struct World(Option<Simulated>);

#[derive(Debug)]
struct Simulated {
    began: (Timestamp, Instant),
    seed: u64,
    drawn: AtomicU64,
}

impl World {
    /// A world whose clock starts at a time and advances with tokio's clock, and whose random numbers depend on a seed.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn simulated(began: Timestamp, seed: u64) -> Self {
        Self(Some(Simulated {
            began: (began, Instant::now()),
            seed,
            drawn: AtomicU64::new(0),
        }))
    }

    /// The current time.
    pub fn now(&self) -> Timestamp {
        self.0.as_ref().map_or_else(Timestamp::now, |simulated| {
            let (time, at) = simulated.began;
            time + at.elapsed()
        })
    }

    /// The current time in the format of objects, in seconds.
    pub fn time(&self) -> String {
        self.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    /// A unique UUID.
    pub fn uuid(&self) -> Uuid {
        let Some(simulated) = &self.0 else {
            return Uuid::new_v4();
        };
        let drawn = simulated.drawn.fetch_add(1, Ordering::Relaxed);
        let mixed = |half: u64| mix(mix(simulated.seed) ^ (2 * drawn + half)).to_le_bytes();
        let bytes = [mixed(0), mixed(1)].concat();
        uuid::Builder::from_random_bytes(std::array::from_fn(|at| bytes[at])).into_uuid()
    }

    /// A unique UUID as text.
    pub fn uid(&self) -> String {
        self.uuid().to_string()
    }
}

/// The increment of SplitMix64.
pub(crate) const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The number at an index of SplitMix64, of which each number can be computed directly.
fn mix(place: u64) -> u64 {
    mixed(place.wrapping_add(1).wrapping_mul(STEP))
}

/// The output function of SplitMix64.
pub(crate) fn mixed(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, time::Duration};

    #[tokio::test(start_paused = true)]
    async fn a_simulated_world_is_the_same_again() {
        let began: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a time");
        let drawn = |seed| {
            let world = World::simulated(began, seed);
            (0..1000).map(|_| world.uid()).collect::<BTreeSet<String>>()
        };
        assert_eq!(drawn(1), drawn(1));
        assert_eq!(drawn(1).len(), 1000);
        assert!(drawn(1).is_disjoint(&drawn(2)));
        let world = World::simulated(began, 1);
        tokio::time::sleep(Duration::from_secs(3600)).await;
        assert_eq!(world.time(), "2026-01-01T01:00:00Z");
    }
}
