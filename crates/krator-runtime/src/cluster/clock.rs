//! The clock of the API server, learned from the `Date` header of its answers, so that time stamps in objects do not
//! depend on the clock of the operator's node.
use http::{HeaderMap, header::DATE};
use jiff::{SignedDuration, Timestamp};
use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// Monotonic between corrections, and accurate to about a second, the resolution of `Date`.
#[derive(Debug)]
pub(crate) struct Clock {
    origin: Instant,
    /// The server's time at the origin.
    began: Mutex<Timestamp>,
}

impl Clock {
    pub fn new() -> Self {
        Self {
            origin: Instant::now(),
            began: Mutex::new(Timestamp::now()),
        }
    }
    pub fn origin(&self) -> Instant {
        self.origin
    }
    /// The time since the origin.
    pub fn elapsed(&self) -> Duration {
        self.origin.elapsed()
    }
    /// The server's time, to the second.
    pub fn time(&self) -> Timestamp {
        let began = *self.began.lock().unwrap_or_else(PoisonError::into_inner);
        let now = began + self.elapsed();
        Timestamp::from_second(now.as_second()).unwrap_or(now)
    }
    /// Learns from an answer. Differences of up to two seconds are ignored, because they come from the resolution of
    /// `Date` and the time that answers take.
    pub fn learn(&self, headers: &HeaderMap) {
        let date = headers.get(DATE).and_then(|value| value.to_str().ok());
        let Some(date) = date.and_then(|text| jiff::fmt::rfc2822::parse(text).ok()) else {
            return;
        };
        let server_began = date.timestamp() - self.elapsed();
        let mut began = self.began.lock().unwrap_or_else(PoisonError::into_inner);
        if began.duration_since(server_began).abs() > SignedDuration::from_secs(2) {
            *began = server_began;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_time_is_taken_over_and_does_not_waver() {
        let clock = Clock::new();
        let time_after = |date: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(DATE, http::HeaderValue::from_static(date));
            clock.learn(&headers);
            clock.time().to_string()
        };
        assert!(time_after("Sun, 06 Nov 2044 08:49:37 GMT").starts_with("2044-11-06T08:49:3"));
        assert!(time_after("Sun, 06 Nov 2044 08:49:36 GMT").starts_with("2044-11-06T08:49:3"));
        assert!(time_after("not a date").starts_with("2044-11-06"));
        assert!(time_after("Sun, 06 Nov 1994 08:49:37 GMT").starts_with("1994-11-06"));
    }
}
