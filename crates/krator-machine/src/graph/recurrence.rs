//! Times of events: after a period, and by the calendar.
use crate::{field_value::FieldValue, schedule::Schedule};
use std::time::Duration;

/// A length of time, or a point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// Always this long.
    Fixed(Duration),
    /// Read from a field of the object. The number is an index into the values of
    /// [`Engine::saw_field_values`](crate::engine::Engine::saw_field_values).
    FromField(u16),
}

/// A text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text<'g> {
    /// Always this text.
    Fixed(&'g str),
    /// Read from a field of the object. The number is an index into the values of
    /// [`Engine::saw_field_values`](crate::engine::Engine::saw_field_values).
    FromField(u16),
}

impl Text<'_> {
    /// The text for an object with these values of fields; `None` if the field has no value.
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
    /// The schedule, in the notation of cron.
    pub schedule: Text<'g>,
    /// The time zone of the schedule; UTC without one.
    pub time_zone: Option<Text<'g>>,
    /// Parses a schedule. Only this pointer refers to the calendar and the time zones, so that operators without
    /// schedules do not contain them.
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
    /// The starts of the schedule in an IANA time zone.
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

/// The times in which objects may enter a state: a period after each start of a schedule.
#[derive(Clone, Copy, Debug)]
pub struct Window<'g> {
    /// The times at which it opens.
    pub starts: Recurrence<'g>,
    /// The time for which it is open.
    pub duration: Period,
}

impl<'g> Window<'g> {
    /// A window that opens at these times, of this length.
    pub const fn new(starts: Recurrence<'g>, duration: Period) -> Self {
        Self { starts, duration }
    }
}

/// The time of a timeout.
#[derive(Clone, Copy, Debug)]
pub enum Timeout<'g> {
    /// This long after the entry, or at the time in a field.
    After(Period),
    /// At the first start of a schedule after the entry. Of missed starts only the latest is made up for, until the
    /// deadline after it, or without a time limit if there is no deadline.
    At(Recurrence<'g>, Option<Period>),
}
