//! `krator check` against the API server: random descriptions and mutants of them, and random values of their schemas.
//!
//! `KRATOR_DESCRIPTIONS` and `KRATOR_SEED` set how many descriptions are tried and which.

pub mod api;
mod definitions;
mod samples;
pub mod values;

use crate::dice::{Dice, number};

/// The dice of one try, which do not depend on how many are tried.
fn dice(attempt: u64) -> Dice {
    Dice::new(number("KRATOR_SEED", 11).wrapping_add(attempt.wrapping_mul(0x9e37_79b9)))
}

/// How many descriptions are tried.
fn count() -> u64 {
    number("KRATOR_DESCRIPTIONS", 3000)
}
