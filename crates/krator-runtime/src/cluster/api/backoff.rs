//! The backoff of failed watches.
use crate::cluster::host;
use kube::runtime::utils::Backoff;
use std::time::Duration;
use tokio::time::Instant;

/// The first delay.
const FIRST: Duration = Duration::from_millis(800);
/// The longest delay, without jitter.
const LONGEST: Duration = Duration::from_secs(30);
/// The time without an error after which the delays start over.
const FORGOTTEN: Duration = Duration::from_secs(120);

/// Delays that double from 0.8 s to 30 s, plus a jitter of up to the same time, so that clients do not retry
/// together. They start over after two minutes without an error.
///
/// kube's own backoff starts over with every event as well. A listing that the server rejects begins with an
/// event, so it would be retried about once a second; therefore `reset` does nothing here.
#[derive(Default)]
pub(in crate::cluster) struct WatchBackoff {
    failures: u32,
    last: Option<Instant>,
}

impl Iterator for WatchBackoff {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let now = Instant::now();
        if self.last.replace(now).is_some_and(|last| now - last > FORGOTTEN) {
            self.failures = 0;
        }
        let delay = FIRST
            .saturating_mul(2_u32.saturating_pow(self.failures))
            .min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        Some(delay + delay.mul_f64(f64::from(host::random() as u32) / f64::from(u32::MAX)))
    }
}

impl Backoff for WatchBackoff {
    fn reset(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn delays_double_and_start_over_after_two_minutes_of_peace() {
        let mut delays = WatchBackoff::default();
        let mut next = || delays.next().expect("there is always one").as_millis();
        for shortest in [800, 1600, 3200, 6400, 12800, 25600, 30000, 30000] {
            let delay = next();
            assert!(
                (shortest..=2 * shortest).contains(&delay),
                "{delay} after {shortest}"
            );
        }
        tokio::time::advance(FORGOTTEN + Duration::from_millis(1)).await;
        assert!(next() <= 1600);
    }
}
