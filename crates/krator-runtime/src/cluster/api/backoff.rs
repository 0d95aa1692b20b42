//! How failed watches are retried.
use kube::runtime::{utils::Backoff, watcher::DefaultBackoff};
use std::time::Duration;

/// The delays of kube's default: from 0.8 s to 30 s, starting over after two minutes without an error. kube would
/// also start them over with every event. A listing that the server rejects begins with an event, so it would be
/// retried about once a second; therefore `reset` does nothing here.
#[derive(Default)]
pub(in crate::cluster) struct WatchBackoff(DefaultBackoff);

impl Iterator for WatchBackoff {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        self.0.next()
    }
}

impl Backoff for WatchBackoff {
    fn reset(&mut self) {}
}
