//! When something is due in a state: fixed times, and those that fields of the object tell.
use super::{Engine, Now};
use crate::{Period, Policy, Told};
use jiff::Timestamp;
use std::time::Duration;

/// What a period comes to for one object.
#[derive(Clone, Copy)]
enum When {
    After(Duration),
    At(Timestamp),
}

/// From now to an instant; nothing when it has passed.
fn until(instant: Timestamp, now: Now) -> Duration {
    Duration::try_from(instant.duration_since(now.time)).unwrap_or_default()
}

impl Engine {
    /// When this state's time is up; a run that goes on then is dropped. The one run that an overdue state has left
    /// may take as long as the state could from its beginning.
    pub fn deadline(&self, now: Now) -> Option<Duration> {
        let (period, _) = self.policy()?.timeout?;
        match self.period(period)? {
            When::After(after) if self.overdue => Some(self.entered + after),
            When::At(_) if self.overdue => None,
            When::After(after) => Some(self.entered + after.saturating_sub(self.before)),
            When::At(instant) => Some(now.elapsed + until(instant, now)),
        }
    }

    fn period(&self, period: Period) -> Option<When> {
        Some(match period {
            Period::Fixed(after) => When::After(after),
            Period::Told(field) => match (*self.told.get(usize::from(field))?)? {
                Told::For(after) => When::After(after),
                Told::Number(seconds) => When::After(Duration::from_secs(u64::from(seconds))),
                Told::At(instant) => When::At(instant),
            },
        })
    }

    /// When the handler runs again after it stayed now.
    pub(super) fn poll(&self, policy: &Policy, now: Now) -> Option<Duration> {
        let period = policy.wait.poll?;
        match self.period(period)? {
            // A description's own number is what its author wants; a field's is anybody's.
            When::After(every) if matches!(period, Period::Told(_)) => {
                Some(now.elapsed + every.max(Duration::from_secs(1)))
            }
            When::After(every) => Some(now.elapsed + every),
            // Once: what has passed does not come again.
            When::At(instant) => (instant > now.time).then(|| now.elapsed + until(instant, now)),
        }
    }
}
