//! The operator of the first example, as generated, on a real API server. It runs as a user that has the generated
//! ClusterRole and no other rights.

mod faults;
mod fixture;
mod history;
mod life;
mod quiet;
mod renamed;
mod seen;

pub use faults::replaced;
pub use fixture::{Fixture, UNTOUCHED, Variant, names};
pub use history::states;

/// The description of the moose operator.
pub const DESCRIPTION: &str = include_str!("../../../testdata/ok/moose/spec.yaml");
