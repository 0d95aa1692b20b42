#![doc = include_str!("../README.md")]
// Nothing here reads files, the environment or the clock, and nothing prints: see clippy.toml. Tests may.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_macros))]

// In the order of the layers, lowest first: a module imports only from those above it in this list.
pub mod text;
pub mod quantity;
pub mod nearest;
pub mod reported;
pub mod spec_digest;
pub mod class;
pub mod field_value;
pub mod schedule;
pub mod graph;
pub mod versions;
#[cfg(test)]
mod dice;
pub mod status;
pub mod conditions;
pub mod engine;
pub mod ledger;

pub use class::Class;
pub use field_value::FieldValue;
pub use quantity::Amount;
pub use schedule::Schedule;
