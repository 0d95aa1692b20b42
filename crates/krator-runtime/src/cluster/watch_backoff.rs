//! How watches that fail are tried again.
use kube::runtime::{utils::Backoff, watcher::DefaultBackoff};
use std::time::Duration;

/// kube's delays, from 0.8 s to 30 s and from the start again after 2 minutes without an error. kube also starts
/// them again with every event, and a listing that is refused begins with one: it would be asked for each second.
#[derive(Default)]
pub(super) struct WatchBackoff(DefaultBackoff);

impl Iterator for WatchBackoff {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        self.0.next()
    }
}

impl Backoff for WatchBackoff {
    fn reset(&mut self) {}
}
