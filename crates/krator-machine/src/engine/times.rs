//! The times at which a state has something to do: after a duration, at times from fields of the object, or by a schedule.
use super::{Engine, Now};
use crate::{
    field_value::FieldValue,
    graph::{Period, Policy, Recurrence, StateId, Timeout},
    status::{MachineStatus, TimeoutFired},
};
use jiff::Timestamp;
use std::time::Duration;

/// The timeouts at a fixed time that have fired. Each fires once until its field has another value. It is
/// boxed because most of the many objects at rest have none.
pub(super) type FiredTimeouts = Option<Box<Vec<(StateId, Timestamp)>>>;

/// A period with its field read from an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// This long after the beginning.
    After(Duration),
    /// At this point in time.
    At(Timestamp),
}

/// Reads a period with these field values; `None` if it never ends.
pub fn when(period: Period, field_values: &[Option<FieldValue>]) -> Option<When> {
    Some(match period {
        Period::Fixed(after) => When::After(after),
        Period::FromField(field) => match *field_values.get(usize::from(field))?.as_ref()? {
            FieldValue::For(after) => When::After(after),
            // Zero seconds mean no timeout or poll.
            FieldValue::Number(0) => return None,
            FieldValue::Number(seconds) => When::After(Duration::from_secs(u64::from(seconds))),
            FieldValue::At(instant) => When::At(instant),
            // Texts are only read for schedules.
            FieldValue::Text(_) => return None,
        },
    })
}

/// The start of a schedule at which a timeout fires: the latest start since the entry within the deadline, or
/// else the next one. `None` if the object has no schedule, or the schedule never starts again.
///
/// # Errors
///
/// If the schedule or the time zone is invalid.
pub fn slot(
    starts: &Recurrence<'_>,
    deadline: Option<Period>,
    field_values: &[Option<FieldValue>],
    since: Timestamp,
    now: Timestamp,
) -> Result<Option<Timestamp>, String> {
    let Some(schedule) = starts.read(field_values)? else {
        return Ok(None);
    };
    let since = match deadline.and_then(|period| when(period, field_values)) {
        Some(When::After(deadline)) => now.checked_sub(deadline).map_or(since, |at| at.max(since)),
        _ => since,
    };
    let missed = schedule.latest(since, now);
    Ok(missed.or_else(|| schedule.next(now.max(since))))
}

/// The time from now to a point in time; zero if that has passed.
pub(super) fn until(instant: Timestamp, now: Now) -> Duration {
    Duration::try_from(instant.duration_since(now.time)).unwrap_or_default()
}

impl Engine<'_> {
    /// When the timeout of the state takes effect and a running handler is dropped. If the timeout passed
    /// while no operator was running, the handler first gets one run of up to the same duration. A timeout
    /// into a state with a closed gate fires when the gate opens.
    pub fn deadline(&self, now: Now) -> Option<Duration> {
        self.leads_on(self.timeout_end(now), self.lapse(now), now)
    }

    /// Like [`deadline`](Self::deadline), with the end and the lapse precomputed, because they may need a search in a calendar.
    fn leads_on(&self, end: Option<Duration>, lapse: Option<Duration>, now: Now) -> Option<Duration> {
        let (_, to) = self.policy()?.timeout?;
        let end = self.passes(to, end?, now)?;
        lapse.is_none_or(|lapse| end < lapse).then_some(end)
    }

    /// When the timeout fires, and when the status has to be written to show why it does not: when it expires
    /// before a closed gate, and when a start of a schedule lapses.
    pub(super) fn by_the_clock(&self, now: Now) -> impl Iterator<Item = Option<Duration>> {
        let (end, lapse) = (self.timeout_end(now), self.lapse(now));
        let seen = [end, lapse].map(|end| end.filter(|end| *end > now.elapsed));
        let leads_on = [self.leads_on(end, lapse, now), self.window_opens(now)];
        leads_on.into_iter().chain(seen)
    }

    /// When the start of the timeout's schedule passes its deadline.
    fn lapse(&self, now: Now) -> Option<Duration> {
        let policy = self.policy()?;
        let (Timeout::At(_, Some(deadline)), _) = policy.timeout? else {
            return None;
        };
        let (When::At(slot), When::After(deadline)) =
            (self.timeout_when(policy, now)?, self.period(deadline)?)
        else {
            return None;
        };
        Some(now.elapsed + until(slot.checked_add(deadline).ok()?, now))
    }

    /// When the timeout of the current state expires.
    pub(super) fn timeout_when(&self, policy: &Policy<'_>, now: Now) -> Option<When> {
        match &policy.timeout?.0 {
            Timeout::After(period) => self.period(*period),
            Timeout::At(starts, deadline) => self.slot(starts, *deadline, now).ok()?.map(When::At),
        }
    }

    fn slot(
        &self,
        starts: &Recurrence<'_>,
        deadline: Option<Period>,
        now: Now,
    ) -> Result<Option<Timestamp>, String> {
        // A start that has fired may be in the future again if the clock was set back.
        let fired = self.fired.iter().flat_map(|fired| &**fired);
        let last = fired
            .filter(|known| Some(known.0) == self.at)
            .map(|known| known.1);
        let since = last.fold(self.stay.entered_at, Timestamp::max);
        slot(starts, deadline, &self.field_values, since, now.time)
    }

    /// The error in the schedule of the timeout, which then never fires.
    pub(super) fn wrong_schedule(&self, policy: &Policy<'_>, now: Now) -> Option<String> {
        match &policy.timeout?.0 {
            Timeout::After(_) => None,
            Timeout::At(starts, deadline) => self.slot(starts, *deadline, now).err(),
        }
    }

    /// When the timeout of the state expires, whether its gate is open or not.
    pub(super) fn timeout_end(&self, now: Now) -> Option<Duration> {
        match self.timeout_when(self.policy()?, now)? {
            When::After(after) if self.stay.overdue => Some(self.stay.entered + after),
            When::At(_) if self.stay.overdue => None,
            When::At(instant) if self.has_fired(instant) => None,
            When::After(after) => Some(self.stay.entered + after.saturating_sub(self.stay.before)),
            When::At(instant) => Some(now.elapsed + until(instant, now)),
        }
    }

    /// Whether the timeout of the state has fired for this time.
    fn has_fired(&self, instant: Timestamp) -> bool {
        let mut fired = self.fired.iter().flat_map(|fired| &**fired);
        fired.any(|known| Some(known.0) == self.at && known.1 == instant)
    }

    /// Records that the timeout of the current state has fired.
    pub(super) fn remember_timeout(&mut self, policy: &Policy<'_>, now: Now) {
        let Some((at, When::At(instant))) = self.at.zip(self.timeout_when(policy, now)) else {
            return;
        };
        let fired = self.fired.get_or_insert_default();
        fired.retain(|(state, _)| *state != at);
        fired.push((at, instant));
        fired.sort_unstable();
    }

    /// Takes over the fired timeouts from the stored status.
    pub(super) fn find_fired_timeouts(&mut self, stored: &MachineStatus) {
        let known = stored.fired_timeouts.iter();
        let known = known.filter_map(|fired| Some((self.graph.find(&fired.state)?, fired.at)));
        let fired: Vec<_> = known.collect();
        self.fired = (!fired.is_empty()).then(|| Box::new(fired));
    }

    /// The fired timeouts for the status.
    pub(super) fn fired_timeouts(&self) -> Vec<TimeoutFired> {
        let fired = self.fired.iter().flat_map(|fired| &**fired);
        fired
            .map(|(state, at)| TimeoutFired {
                state: self.graph.state(*state).name.to_owned(),
                at: *at,
            })
            .collect()
    }

    pub(super) fn period(&self, period: Period) -> Option<When> {
        when(period, &self.field_values)
    }

    /// When the handler runs again after a stay.
    pub(super) fn poll(&self, policy: &Policy<'_>, now: Now) -> Option<Duration> {
        let period = policy.wait.poll?;
        match self.period(period)? {
            // A field is set by users, so it is limited to one run a second. A fixed time comes from the
            // description's author.
            When::After(every) if matches!(period, Period::FromField(_)) => {
                Some(now.elapsed + every.max(Duration::from_secs(1)))
            }
            When::After(every) => Some(now.elapsed + every),
            // A time in the past does not occur again.
            When::At(instant) => (instant > now.time).then(|| now.elapsed + until(instant, now)),
        }
    }
}
