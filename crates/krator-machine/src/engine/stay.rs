//! The stay of an object in a state, from one entry to the next.
use super::{Now, gates::Asking};
use crate::status::EntryId;
use jiff::Timestamp;
use std::time::Duration;

/// The current stay of an object in a state.
#[derive(Clone, Debug)]
pub(super) struct Stay {
    pub entry: EntryId,
    /// When the object entered the state, or when this process found it there.
    pub entered: Duration,
    pub entered_at: Timestamp,
    /// How long the object had been in the state when this process found it.
    pub before: Duration,
    /// How many runs of the handler have succeeded.
    pub runs: u32,
    /// Consecutive failures.
    pub attempts: u32,
    /// Consecutive failures as stored. If this differs from `attempts`, the status has to be written.
    pub stored_attempts: u32,
    /// The reason for the entry, unless the state's own message says enough.
    pub reason: Option<Box<str>>,
    /// The message of the handler or its last error, which replaces the reason and the state's message in
    /// `.status.message`.
    pub message: Option<Box<str>>,
    /// Whether a status of this stay is stored.
    pub is_written: bool,
    /// Whether this process has started the handler.
    pub has_begun: bool,
    /// When the handler runs next.
    pub due: Option<Duration>,
    /// The time before which neither the handler nor the timeout takes effect.
    pub not_before: Duration,
    /// The gate that the handler waits for.
    pub asking: Option<Asking>,
    /// Whether the limits have granted places in the state that the object asks for.
    pub is_granted: bool,
    /// Whether the object entered its state by such a grant.
    pub by_grant: bool,
    /// The timeout passed while no operator was running. It takes effect after the handler has run once and stayed.
    pub overdue: bool,
}

impl Stay {
    /// A stay that begins at this time.
    pub const fn new(entry: EntryId, reason: Option<Box<str>>, now: Now) -> Self {
        Self {
            entry,
            entered: now.elapsed,
            entered_at: now.time,
            before: Duration::ZERO,
            runs: 0,
            attempts: 0,
            stored_attempts: 0,
            reason,
            message: None,
            is_written: false,
            has_begun: false,
            due: None,
            not_before: Duration::ZERO,
            asking: None,
            is_granted: false,
            by_grant: false,
            overdue: false,
        }
    }
}
