//! The stay of an object in a state, from one entry to the next.
use super::{Now, gates::Asking};
use crate::status::EntryId;
use jiff::Timestamp;
use std::time::Duration;

/// The current stay of the object in its state.
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
    /// Consecutive failures according to the stored status. A difference has still to be written.
    pub stored_attempts: u32,
    /// Why the object is in the state, if anything is to be said about that beside the state's own message.
    pub reason: Option<Box<str>>,
    /// The text of `.status.message` in place of the reason and of the state's message: the words of a handler, or its last
    /// error.
    pub message: Option<Box<str>>,
    /// Whether a status of this stay is stored.
    pub is_written: bool,
    /// Whether the handler was started by this process.
    pub has_begun: bool,
    /// When the handler is to run.
    pub due: Option<Duration>,
    /// Neither the handler nor the timeout takes effect before this time.
    pub not_before: Duration,
    /// The gate that the handler waits for.
    pub asking: Option<Asking>,
    /// Whether the limits have places for the object in the state that it asks for.
    pub is_granted: bool,
    /// Whether the object has come into its state because of that.
    pub by_grant: bool,
    /// The timeout passed while no operator was running. It takes effect after the handler has run once and stayed.
    pub overdue: bool,
}

impl Stay {
    /// A stay that begins now.
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
