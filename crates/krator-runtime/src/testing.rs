//! Tests of operators: [`crashes`] ends the process, and makes requests fail, at each request of your handlers.
mod crashes;
mod conversions;
#[cfg(any(test, feature = "scripted"))]
mod graphs;

pub use conversions::conversions;
pub use crashes::{Surroundings, crashes};
#[cfg(any(test, feature = "scripted"))]
pub use graphs::{Cause, drive, drive_written, may_follow};
