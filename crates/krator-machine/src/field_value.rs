//! The values that the graph reads from fields of the object, such as times, numbers and schedules.
use jiff::Timestamp;
use std::time::Duration;

/// The value of a field that a poll, a timeout, a limit or a gate is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldValue {
    /// A duration, never zero.
    For(Duration),
    /// A point in time.
    At(Timestamp),
    /// A number. Where a duration is wanted it counts seconds, and 0 means "never"; a limit of 0 means "not at all".
    Number(u32),
    /// A text: a schedule or the name of a time zone.
    Text(Box<str>),
}
