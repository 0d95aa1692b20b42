//! Times and numbers that the graph reads from fields of the object: for polls, timeouts and limits.
use jiff::Timestamp;
use std::time::Duration;

/// The value of a field that a poll, a timeout or a limit is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldValue {
    /// A duration, never zero.
    For(Duration),
    /// A point in time.
    At(Timestamp),
    /// A number. Where a duration is wanted it counts seconds, and 0 means "never"; a limit of 0 means "not at all".
    Number(u32),
}
