//! The parts that a process has once for all its kinds: a clock, a control thread with HTTP servers, health,
//! and leader election.
pub(super) mod clock;
pub(super) mod control;
pub(super) mod health;
pub(super) mod leadership;
pub(super) mod lease;
pub(super) mod namespaces;
pub(super) mod serve;
#[cfg(feature = "otel")]
pub(super) mod traces;
