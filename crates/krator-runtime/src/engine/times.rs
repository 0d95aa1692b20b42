//! When something is due in a state: after fixed times, or at times that are read from fields of the object.
use super::{Engine, Now};
use crate::{
    field_value::FieldValue,
    graph::{Period, Policy},
};
use jiff::Timestamp;
use std::time::Duration;

/// A period, read for one object.
#[derive(Clone, Copy)]
pub(super) enum When {
    After(Duration),
    At(Timestamp),
}

/// The time from now to a point in time; zero if that has passed.
pub(super) fn until(instant: Timestamp, now: Now) -> Duration {
    Duration::try_from(instant.duration_since(now.time)).unwrap_or_default()
}

impl Engine<'_> {
    /// When the timeout of the state takes effect; a handler that is still running then is dropped. If the timeout
    /// passed while no operator was running, the handler gets one run, which may take as long as the timeout.
    pub fn deadline(&self, now: Now) -> Option<Duration> {
        let (period, _) = self.policy()?.timeout?;
        match self.period(period)? {
            When::After(after) if self.stay.overdue => Some(self.stay.entered + after),
            When::At(_) if self.stay.overdue => None,
            When::After(after) => Some(self.stay.entered + after.saturating_sub(self.stay.before)),
            When::At(instant) => Some(now.elapsed + until(instant, now)),
        }
    }

    pub(super) fn period(&self, period: Period) -> Option<When> {
        Some(match period {
            Period::Fixed(after) => When::After(after),
            Period::FromField(field) => match (*self.field_values.get(usize::from(field))?)? {
                FieldValue::For(after) => When::After(after),
                FieldValue::Number(seconds) => When::After(Duration::from_secs(u64::from(seconds))),
                FieldValue::At(instant) => When::At(instant),
            },
        })
    }

    /// When the handler runs again after it has stayed.
    pub(super) fn poll(&self, policy: &Policy<'_>, now: Now) -> Option<Duration> {
        let period = policy.wait.poll?;
        match self.period(period)? {
            // A field can be set by anybody, so it cannot ask for more than one run a second. A fixed time was
            // chosen by the author of the description.
            When::After(every) if matches!(period, Period::FromField(_)) => {
                Some(now.elapsed + every.max(Duration::from_secs(1)))
            }
            When::After(every) => Some(now.elapsed + every),
            // A point in time that has passed does not come again.
            When::At(instant) => (instant > now.time).then(|| now.elapsed + until(instant, now)),
        }
    }
}
