//! Random numbers for tests.
use crate::{
    graph::StateId,
    spec_digest::{STEP, mixed},
};

/// A pseudo-random number generator with a seed: SplitMix64.
pub(crate) struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0)
    }
    pub fn below(&mut self, bound: usize) -> usize {
        // The casts lose nothing: `usize` has 64 bits on every machine that runs the tests.
        (self.roll() % bound as u64) as usize
    }
    pub fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }
    pub fn state(&mut self, count: usize) -> StateId {
        StateId(self.below(count) as u16)
    }
}
