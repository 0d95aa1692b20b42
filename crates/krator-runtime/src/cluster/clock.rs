//! The API server's time, as the `Date` of its answers tells it: what is stamped into objects does not depend on
//! the clock of the machine that an operator happens to run on.
use http::{HeaderMap, header::DATE};
use jiff::{SignedDuration, Timestamp};
use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// Steady between answers; good to about a second, which is what a `Date` tells.
#[derive(Debug)]
pub(crate) struct Clock {
    origin: Instant,
    /// The server's time at `origin`.
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
    /// Since the origin.
    pub fn elapsed(&self) -> Duration {
        self.origin.elapsed()
    }
    /// The server's time, to the second.
    pub fn time(&self) -> Timestamp {
        let began = *self.began.lock().unwrap_or_else(PoisonError::into_inner);
        let now = began + self.elapsed();
        Timestamp::from_second(now.as_second()).unwrap_or(now)
    }
    /// Learns from an answer. Only a difference of more than what a `Date` leaves open moves the clock, so that
    /// it does not waver with the time that answers take.
    pub fn learn(&self, headers: &HeaderMap) {
        let date = headers.get(DATE).and_then(|value| value.to_str().ok());
        let Some(date) = date.and_then(|text| jiff::fmt::rfc2822::parse(text).ok()) else {
            return;
        };
        let told = date.timestamp() - self.elapsed();
        let mut began = self.began.lock().unwrap_or_else(PoisonError::into_inner);
        if began.duration_since(told).abs() > SignedDuration::from_secs(2) {
            *began = told;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_time_is_taken_over_and_does_not_waver() {
        let clock = Clock::new();
        let told = |date: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(DATE, http::HeaderValue::from_static(date));
            clock.learn(&headers);
            clock.time().to_string()
        };
        assert!(told("Sun, 06 Nov 2044 08:49:37 GMT").starts_with("2044-11-06T08:49:3"));
        assert!(told("Sun, 06 Nov 2044 08:49:36 GMT").starts_with("2044-11-06T08:49:3"));
        assert!(told("not a date").starts_with("2044-11-06"));
        assert!(told("Sun, 06 Nov 1994 08:49:37 GMT").starts_with("1994-11-06"));
    }
}
