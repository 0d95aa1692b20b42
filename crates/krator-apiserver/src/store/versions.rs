//! The version of the last change, for those who wait for the next one.
//!
//! tokio's `watch` is made for this, but wakes its receivers in an order that it draws, and a simulated server has to do the same each
//! time. Here they are woken in the order in which they began to wait.

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
    /// How often it was told that there is a change.
    times: AtomicU64,
    is_over: AtomicBool,
    waiting: Notify,
}

/// Tells of the changes of a [`Server`](crate::Server).
pub struct Versions {
    notifier: Arc<Notifier>,
    /// How many of them were heard.
    heard: u64,
}

/// The server is gone, so nothing changes any more.
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

    /// Changes the version, and tells nobody.
    pub fn advance(&mut self, version: u64) {
        self.last = version.max(self.last);
    }

    /// Changes the version, and wakes all who wait.
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
    /// Waits until something has changed since the last call, or since these were made. It may be dropped before.
    ///
    /// # Errors
    ///
    /// If the server is gone.
    pub async fn changed(&mut self) -> Result<(), Gone> {
        loop {
            let mut next = pin!(self.notifier.waiting.notified());
            // It hears of what is told from here on.
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

    /// Passes over what has changed so far.
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
