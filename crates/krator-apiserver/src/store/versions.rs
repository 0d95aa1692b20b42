//! The version of the last change, and notifications about changes.
//!
//! tokio's `watch` would be suitable, but wakes its receivers in random order, and a simulated server must be
//! deterministic. Here receivers are woken in the order in which they started to wait.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};
use tokio::sync::Notify;

/// The version of the last change.
pub(crate) struct Version {
    last: u64,
    notifier: Arc<Notifier>,
}

#[derive(Default)]
struct Notifier {
    /// The number of notifications.
    times: AtomicU64,
    is_over: AtomicBool,
    waiting: Notify,
}

/// Notifies of the changes of a [`Server`](crate::Server).
pub struct Versions {
    notifier: Arc<Notifier>,
    /// The number of notifications that were received.
    heard: u64,
}

/// The server was dropped, so there are no further changes.
#[derive(Debug, thiserror::Error)]
#[error("the server is gone")]
pub struct Gone;

impl Version {
    pub fn new(first: u64) -> Self {
        Self {
            last: first,
            notifier: Arc::default(),
        }
    }

    pub fn last(&self) -> u64 {
        self.last
    }

    /// Changes the version without a notification.
    pub fn advance(&mut self, version: u64) {
        self.last = version.max(self.last);
    }

    /// Changes the version, and wakes all receivers.
    pub fn tell(&mut self, version: u64) {
        self.last = version;
        self.notifier.times.fetch_add(1, Ordering::AcqRel);
        self.notifier.waiting.notify_waiters();
    }

    pub fn subscribe(&self) -> Versions {
        let mut versions = Versions {
            notifier: Arc::clone(&self.notifier),
            heard: 0,
        };
        versions.mark_unchanged();
        versions
    }
}

impl Drop for Version {
    fn drop(&mut self) {
        self.notifier.is_over.store(true, Ordering::Release);
        self.notifier.waiting.notify_waiters();
    }
}

impl Versions {
    /// Waits for a change since the last call, or since this value was created. The future may be dropped at any time.
    ///
    /// # Errors
    ///
    /// If the server was dropped.
    pub async fn changed(&mut self) -> Result<(), Gone> {
        loop {
            let mut next = pin!(self.notifier.waiting.notified());
            // From here on, no notification is missed.
            next.as_mut().enable();
            let times = self.notifier.times.load(Ordering::Acquire);
            if times != self.heard {
                self.heard = times;
                return Ok(());
            }
            if self.notifier.is_over.load(Ordering::Acquire) {
                return Err(Gone);
            }
            next.await;
        }
    }

    /// Ignores all changes until now.
    pub(crate) fn mark_unchanged(&mut self) {
        self.heard = self.notifier.times.load(Ordering::Acquire);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::{FutureExt as _, future};
    use std::cell::RefCell;

    #[tokio::test]
    async fn each_change_is_told_once_to_all_in_their_order() {
        let mut version = Version::new(1);
        let (mut first, mut second) = (version.subscribe(), version.subscribe());
        assert!(first.changed().now_or_never().is_none());
        version.advance(5);
        assert!(first.changed().now_or_never().is_none());
        version.tell(6);
        version.tell(7);
        assert!(first.changed().now_or_never().is_some());
        assert!(first.changed().now_or_never().is_none());
        second.mark_unchanged();
        assert!(second.changed().now_or_never().is_none());
        assert_eq!(version.last(), 7);

        let order = RefCell::new(Vec::new());
        let mut waiting: Vec<_> = (0..20).map(|number| (number, version.subscribe())).collect();
        let waits = future::join_all(waiting.iter_mut().map(|(number, versions)| {
            let order = &order;
            async move {
                versions.changed().await.expect("it is there");
                order.borrow_mut().push(*number);
            }
        }));
        future::join(waits, async { version.tell(8) }).await;
        assert_eq!(order.take(), (0..20).collect::<Vec<_>>());

        drop(version);
        assert!(first.changed().await.is_ok(), "the last change was not heard of");
        assert!(first.changed().await.is_err());
    }
}
