//! Which events wait to be published, and which of them are repeats. An event that is recorded again within six minutes
//! belongs to the series of the first one: it is counted here, and the event in the cluster gets the count at most
//! every ten seconds. Pure: knows no cluster.
use super::Occurrence;
use jiff::Timestamp;
use prometheus_client::metrics::counter::Counter;
use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};
use tokio::time::Instant;

/// An event that is recorded again after this time begins another series.
const LONGEST_GAP: Duration = Duration::from_secs(6 * 60);
/// The least time between two requests about one series.
const INTERVAL: Duration = Duration::from_secs(10);
/// The most events that wait to be created. More are dropped, because objects have priority.
pub(super) const QUEUE: usize = 256;
/// The most series that are remembered: about a megabyte. Beyond that, those are forgotten that were repeated least
/// recently.
const REMEMBERED: usize = 4096;

/// Identifies equal events: a hash of what they say and of the object that they are about. Events are best effort.
pub(super) type Key = u64;

/// The event object of a series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EventName {
    pub namespace: String,
    pub name: String,
}

#[derive(Debug)]
struct Series {
    count: u64,
    /// When it was recorded last.
    last: Instant,
    last_time: Timestamp,
    /// The count that the API server knows.
    sent: u64,
    /// Before this time no other request is made.
    free: Instant,
    /// The event object; `None` until it is created.
    created: Option<EventName>,
}

impl Series {
    /// From when on its count may be sent; `None` if it need not be.
    fn due(&self) -> Option<Instant> {
        (self.created.is_some() && self.count > self.sent).then_some(self.free)
    }

    /// Whether the same event begins another series now.
    fn has_ended(&self, now: Instant) -> bool {
        self.last + LONGEST_GAP < now && self.count == self.sent
    }
}

/// The next request.
#[derive(Debug)]
pub(super) enum Next {
    /// Creates this event.
    Create(Key, Box<Occurrence>),
    /// Sets the count of an event, and the time of its last occurrence.
    Count(Key, EventName, u64, Timestamp),
    /// Nothing before this time.
    Wait(Instant),
    /// Nothing, until something is recorded.
    Idle,
}

/// The events of one process. What is due, and what has ended, is searched for: that takes microseconds, and is done once for
/// each request.
#[derive(Debug, Default)]
pub(super) struct EventLog {
    series: BTreeMap<Key, Series>,
    /// Events that wait to be created, each with the time at which it was recorded.
    new: VecDeque<(Instant, Key, Box<Occurrence>)>,
    /// How many occurrences are not in the cluster and never will be.
    dropped: Counter,
}

impl EventLog {
    pub fn new(dropped: Counter) -> Self {
        Self {
            dropped,
            ..Self::default()
        }
    }

    /// Records an occurrence. Returns whether there is more to request than before.
    pub fn record(&mut self, key: Key, occurrence: Occurrence, now: Instant) -> bool {
        let known = self.series.get_mut(&key);
        if let Some(series) = known.filter(|series| !series.has_ended(now)) {
            let waited = series.due().is_some();
            series.count += 1;
            (series.last, series.last_time) = (now, occurrence.time);
            return series.due().is_some() && !waited;
        }
        if self.new.len() == QUEUE {
            self.dropped.inc();
            return false;
        }
        self.series.retain(|_, series| !series.has_ended(now));
        if self.series.len() == REMEMBERED {
            self.forget_oldest();
        }
        let series = Series {
            count: 1,
            last: now,
            last_time: occurrence.time,
            sent: 0,
            free: now,
            created: None,
        };
        self.series.insert(key, series);
        self.new.push_back((now, key, Box::new(occurrence)));
        true
    }

    /// The request that has waited longest. If `closing`, the process ends, and counts do not wait for their time.
    pub fn next(&mut self, now: Instant, closing: bool) -> Next {
        let waiting = self.series.iter();
        let waiting = waiting.filter_map(|(key, series)| Some((series.due()?, *key, series)));
        let due = waiting.min_by_key(|(due, key, _)| (*due, *key));
        let recorded = self.new.front().map(|(at, ..)| *at);
        let is_create_first = recorded.is_some_and(|at| due.is_none_or(|(due, ..)| at <= due));
        if is_create_first && let Some((_, key, occurrence)) = self.new.pop_front() {
            return Next::Create(key, occurrence);
        }
        match due {
            Some((due, ..)) if due > now && !closing => Next::Wait(due),
            Some((_, key, series)) => match &series.created {
                Some(name) => Next::Count(key, name.clone(), series.count, series.last_time),
                None => Next::Idle,
            },
            None => Next::Idle,
        }
    }

    /// An event was created.
    pub fn created(&mut self, key: Key, name: EventName, now: Instant) {
        if let Some(series) = self.series.get_mut(&key) {
            series.created = Some(name);
        }
        self.sent(key, 1, now);
    }

    /// This count of an event was sent.
    pub fn sent(&mut self, key: Key, count: u64, now: Instant) {
        if let Some(series) = self.series.get_mut(&key) {
            (series.sent, series.free) = (count, now + INTERVAL);
        }
    }

    /// A count could not be sent. It is tried again later.
    pub fn postpone(&mut self, key: Key, now: Instant) {
        if let Some(series) = self.series.get_mut(&key) {
            series.free = now + INTERVAL;
        }
    }

    /// An event cannot be published. It counts as dropped, and when it is recorded again it is a new one.
    pub fn forget(&mut self, key: Key) {
        if let Some(series) = self.series.remove(&key) {
            self.dropped.inc_by(series.count - series.sent);
        }
    }

    /// Makes room for a new series.
    fn forget_oldest(&mut self) {
        let created = self.series.iter().filter(|(_, series)| series.created.is_some());
        let oldest = created.min_by_key(|(key, series)| (series.last, **key));
        if let Some(key) = oldest.map(|(key, _)| *key) {
            self.forget(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Event;
    use k8s_openapi::api::core::v1::ObjectReference;

    #[tokio::test(start_paused = true)]
    async fn the_series_that_are_remembered_are_bounded() {
        let (mut log, now) = (EventLog::default(), Instant::now());
        let occurrence = || Occurrence {
            about: ObjectReference::default(),
            action: "Transition",
            event: Event::warning("Hungry", "no grass"),
            time: Timestamp::UNIX_EPOCH,
        };
        let name = || EventName {
            namespace: String::new(),
            name: String::new(),
        };
        let many = 3 * REMEMBERED as u64;
        for key in 0..many {
            let at = now + Duration::from_millis(key);
            // The first one is repeated all the time, so it is not forgotten.
            for key in [key, 0] {
                assert!(log.record(key, occurrence(), at) || key == 0);
            }
            loop {
                match log.next(at, false) {
                    Next::Create(key, _) => log.created(key, name(), at),
                    Next::Count(key, _, count, _) => log.sent(key, count, at),
                    Next::Wait(_) | Next::Idle => break,
                }
            }
        }
        let due = log.series.values().filter_map(Series::due).count();
        assert_eq!(log.series.len(), REMEMBERED);
        assert_eq!((due, log.new.len(), log.dropped.get()), (1, 0, 0));
        assert_eq!(log.series[&0].count, many + 1);
        log.record(many, occurrence(), now + LONGEST_GAP * 2);
        assert_eq!(log.series.len(), 2, "the count of the first one waits to be sent");
        log.sent(0, many + 1, now + LONGEST_GAP * 2);
        log.record(many + 1, occurrence(), now + LONGEST_GAP * 2);
        assert_eq!(log.series.len(), 2, "the first one has ended");
    }
}
