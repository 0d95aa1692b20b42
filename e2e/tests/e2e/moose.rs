//! The generated operator of the first example, on a real API server. It runs as a user with only the generated
//! ClusterRole.

mod faults;
mod fixture;
mod history;
mod life;
mod renamed;
mod seen;

pub use crate::descriptions::MOOSE as DESCRIPTION;
pub use faults::replaced;
pub use fixture::{Fixture, UNTOUCHED, Variant, names};
pub use history::states;
pub use seen::QUICK;
