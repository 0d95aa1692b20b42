//! When something happens: after a time, and by the calendar.
use crate::{field_value::FieldValue, schedule::Schedule};
use std::time::Duration;

/// A length of time, or a point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// Always this long.
    Fixed(Duration),
    /// Read from a field of the object. The number is an index into
    /// the values that [`Engine::saw_field_values`](crate::engine::Engine::saw_field_values) is given.
    FromField(u16),
}

/// A text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text<'g> {
    /// Always this one.
    Fixed(&'g str),
    /// Read from a field of the object. The number is an index into
    /// the values that [`Engine::saw_field_values`](crate::engine::Engine::saw_field_values) is given.
    FromField(u16),
}

impl Text<'_> {
    /// The text for an object with these values of fields; `None` if the field has none.
    fn read(self, field_values: &[Option<FieldValue>]) -> Option<String> {
        match self {
            Text::Fixed(text) => Some(text.to_owned()),
            Text::FromField(field) => match field_values.get(usize::from(field))?.as_ref()? {
                FieldValue::Text(text) => Some(text.to_string()),
                _ => None,
            },
        }
    }
}

/// The starts of a schedule.
#[derive(Clone, Copy, Debug)]
pub struct Recurrence<'g> {
    /// When it starts, in the notation of cron.
    pub schedule: Text<'g>,
    /// The time zone of the schedule; UTC without one.
    pub time_zone: Option<Text<'g>>,
    /// Reads a schedule. Only through this does an operator have the calendar and the time zones, so that one without schedules is no
    /// larger for them.
    read: fn(&str, &str) -> Result<Schedule, String>,
}

impl<'g> Recurrence<'g> {
    /// The starts of this schedule in UTC.
    pub const fn new(schedule: Text<'g>) -> Self {
        Self {
            schedule,
            time_zone: None,
            read: Schedule::parse,
        }
    }
    /// The starts of the schedule in a time zone of IANA.
    pub const fn time_zone(mut self, zone: Text<'g>) -> Self {
        self.time_zone = Some(zone);
        self
    }
    /// The schedule for an object with these values of fields; `None` if its field has no value.
    ///
    /// # Errors
    ///
    /// The error in the schedule or the time zone.
    pub fn read(&self, field_values: &[Option<FieldValue>]) -> Result<Option<Schedule>, String> {
        let Some(schedule) = self.schedule.read(field_values) else {
            return Ok(None);
        };
        let zone = self.time_zone.and_then(|zone| zone.read(field_values));
        (self.read)(&schedule, zone.as_deref().unwrap_or("UTC")).map(Some)
    }
}

/// The times in which objects may enter a state: from each start of a schedule on for some time.
#[derive(Clone, Copy, Debug)]
pub struct Window<'g> {
    /// When it opens.
    pub starts: Recurrence<'g>,
    /// How long it is open.
    pub duration: Period,
}

impl<'g> Window<'g> {
    /// A window that opens at these times, of this length.
    pub const fn new(starts: Recurrence<'g>, duration: Period) -> Self {
        Self { starts, duration }
    }
}

/// When time leads from a state.
#[derive(Clone, Copy, Debug)]
pub enum Timeout<'g> {
    /// So long after the entry, or at a point in time that a field holds.
    After(Period),
    /// At the first start of a schedule after the entry. One that was missed is made up for, the latest one alone, until so long after
    /// it; without such a deadline whenever that may be.
    At(Recurrence<'g>, Option<Period>),
}
