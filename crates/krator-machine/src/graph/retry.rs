//! How failed handlers and failed requests are retried: the delays, their growth, and the limit.
use super::StateId;
use std::time::Duration;

/// The reaction of the runtime to an error of a handler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retry {
    /// The number of consecutive failures that are retried. `None` means that there is no limit.
    pub limit: Option<u32>,
    /// The delay after the first failure.
    pub initial: Duration,
    /// The factor between a delay and the next one.
    pub factor: f64,
    /// The longest delay.
    pub max: Duration,
    /// The state that the object enters when the limit is exceeded.
    pub then: Option<StateId>,
}

impl Retry {
    /// The policy of a state that declares none: no limit, delays that double from one second to five minutes.
    pub const DEFAULT: Self = Self {
        limit: None,
        initial: Duration::from_secs(1),
        factor: 2.0,
        max: Duration::from_secs(300),
        then: None,
    };

    /// The number of retries of the handler of a final state that declares no limit.
    pub const FINAL_LIMIT: u32 = 5;

    /// The retries of the runtime's own requests: delays that double from 200 ms to 30 s.
    pub const OF_REQUESTS: Self =
        Self::DEFAULT.backoff(Duration::from_millis(200), 2.0, Duration::from_secs(30));

    /// Retries at most `limit` times, then enters the state `then`.
    pub const fn limit(mut self, limit: u32, then: StateId) -> Self {
        self.limit = Some(limit);
        self.then = Some(then);
        self
    }

    /// Retries at most `limit` times. For final states, in which the machine ends after the last failure.
    pub const fn at_most(mut self, limit: u32) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Sets the first delay, the factor by which delays grow, and the longest delay.
    pub const fn backoff(mut self, initial: Duration, factor: f64, max: Duration) -> Self {
        self.initial = initial;
        self.factor = factor;
        self.max = max;
        self
    }

    /// The delay after this many consecutive failures. Jitter shortens it by up to a tenth, so that objects that
    /// failed at the same time are not all retried at the same time. `random` is any random number.
    pub fn delay(&self, failures: u32, random: u64) -> Duration {
        let exponent = i32::try_from(failures.saturating_sub(1)).unwrap_or(i32::MAX);
        let full = (self.initial.as_secs_f64() * self.factor.powi(exponent)).min(self.max.as_secs_f64());
        let jitter = (random >> 40) as f64 / (1u64 << 24) as f64;
        Duration::from_secs_f64(full * (1.0 - 0.1 * jitter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_up_to_the_maximum() {
        let retry = Retry::DEFAULT.backoff(Duration::from_secs(1), 2.0, Duration::from_secs(5));
        let full: Vec<_> = (1..=5).map(|n| retry.delay(n, 0).as_secs()).collect();
        assert_eq!(full, [1, 2, 4, 5, 5]);
        assert_eq!(retry.delay(u32::MAX, 0), Duration::from_secs(5));
        assert!(retry.delay(1, u64::MAX) >= Duration::from_millis(900));
    }
}
