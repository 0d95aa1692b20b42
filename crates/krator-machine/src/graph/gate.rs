//! When objects may enter a state.
use super::Period;
use crate::schedule::Schedule;

/// A text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text<'g> {
    /// Always this one.
    Fixed(&'g str),
    /// Read from a field of the object. The number is an index into
    /// the values that [`Engine::saw_field_values`](crate::engine::Engine::saw_field_values) is given.
    FromField(u16),
}

/// The times in which objects may enter a state: from each start of a schedule on for some time.
#[derive(Clone, Copy, Debug)]
pub struct Window<'g> {
    /// When it opens, in the notation of cron.
    pub schedule: Text<'g>,
    /// How long it is open.
    pub duration: Period,
    /// The time zone of the schedule; UTC without one.
    pub time_zone: Option<Text<'g>>,
    /// Reads a schedule. Only through this does an operator have the calendar and the time zones, so that one without windows is no
    /// larger for them.
    pub(crate) read: fn(&str, &str) -> Result<Schedule, String>,
}

impl<'g> Window<'g> {
    /// A window of this schedule in UTC, of this length.
    pub const fn new(schedule: Text<'g>, duration: Period) -> Self {
        Self {
            schedule,
            duration,
            time_zone: None,
            read: Schedule::parse,
        }
    }
    /// The window with its schedule in a time zone of IANA.
    pub const fn time_zone(mut self, zone: Text<'g>) -> Self {
        self.time_zone = Some(zone);
        self
    }
}
