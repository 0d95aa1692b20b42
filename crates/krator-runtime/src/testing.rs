//! Tests of operators: [`crashes`] lets the process end, and requests fail, wherever your handlers make them.
mod crashes;
mod conversions;
#[cfg(any(test, feature = "scripted"))]
mod graphs;

pub use conversions::conversions;
pub use crashes::{Surroundings, crashes};
#[cfg(any(test, feature = "scripted"))]
pub use graphs::{Cause, drive, drive_written, may_follow};
