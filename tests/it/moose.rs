//! The operator of the first example, as generated, on a real API server: it runs as a user that has the generated
//! ClusterRole and no other right.

mod faults;
mod fixture;
mod judge;
mod life;
mod quiet;
mod renamed;

pub use judge::states;

/// The description of the moose operator.
pub const DESCRIPTION: &str = include_str!("../../testdata/ok/moose/spec.yaml");
