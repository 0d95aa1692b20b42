//! Compares `krator check` with the API server: random descriptions and mutants of them, and random values of their
//! schemas.
//!
//! `KRATOR_DESCRIPTIONS` sets how many descriptions are tried, and `KRATOR_SEED` the seed.

pub mod api;
mod definitions;
mod samples;
pub mod values;

use crate::dice::{Dice, number};

/// The dice of one attempt, which do not depend on the number of attempts.
fn dice(attempt: u64) -> Dice {
    Dice::new(number("KRATOR_SEED", 11).wrapping_add(attempt.wrapping_mul(0x9e37_79b9)))
}

/// The number of descriptions to try.
fn count() -> u64 {
    number("KRATOR_DESCRIPTIONS", 3000)
}
