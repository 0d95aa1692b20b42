//! The view of an operator's work: metrics, events, and the objects in their states.
#[cfg(feature = "dev")]
pub(super) mod development;
pub(super) mod inspect;
pub(super) mod metrics;
pub(super) mod recorder;

/// Why there is no answer, or why something was not done: the status of the answer, and a text for people.
pub(super) type Problem = (http::StatusCode, String);
