//! Limits the requests in flight, and the tasks that wait for permits. A task takes far more memory than its
//! object at rest, so tasks are started only as fast as the API server keeps up.
use super::REQUESTS;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};
use tokio::sync::{Notify, Semaphore, SemaphorePermit};

/// The number of tasks needing permits at which no more are started: one waits for each request in flight.
const MOST: usize = 2 * REQUESTS;

/// The limit of one kind.
pub(in crate::cluster) struct RequestLimiter {
    /// One permit for each request in flight, not counting watches.
    permits: Semaphore,
    /// How many tasks make requests, wait for permits, or are about to.
    busy: AtomicUsize,
    released: Notify,
}

impl Default for RequestLimiter {
    fn default() -> Self {
        Self {
            permits: Semaphore::new(REQUESTS),
            busy: AtomicUsize::new(0),
            released: Notify::new(),
        }
    }
}

/// Counts a task as one that needs permits until this value is dropped.
pub(in crate::cluster) struct Busy(Arc<RequestLimiter>);

/// The permit of a request.
pub(in crate::cluster) struct RequestPermit<'a> {
    _busy: Busy,
    _permit: Option<SemaphorePermit<'a>>,
}

impl RequestLimiter {
    pub fn busy(self: &Arc<Self>) -> Busy {
        self.busy.fetch_add(1, Ordering::Relaxed);
        Busy(Arc::clone(self))
    }

    /// Waits for a permit. Requests are built afterwards, so that waiting tasks take little memory.
    pub async fn acquire(self: &Arc<Self>) -> RequestPermit<'_> {
        let busy = self.busy();
        RequestPermit {
            // The semaphore is never closed, so this never fails.
            _permit: self.permits.acquire().await.ok(),
            _busy: busy,
        }
    }

    /// Whether another task may be started.
    pub fn is_below_limit(&self) -> bool {
        self.busy.load(Ordering::Relaxed) < MOST
    }

    /// Waits until another task may be started. It must not be called concurrently.
    pub async fn below_limit(&self) {
        while !self.is_below_limit() {
            self.released.notified().await;
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if self.0.busy.fetch_sub(1, Ordering::Relaxed) == MOST {
            self.0.released.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt as _;

    #[tokio::test]
    async fn there_is_room_until_twice_as_many_tasks_as_requests_need_permits() {
        let limiter = Arc::new(RequestLimiter::default());
        let mut busy: Vec<Busy> = (1..MOST).map(|_| limiter.busy()).collect();
        assert!(limiter.is_below_limit());
        let taken = limiter.acquire().await;
        assert!(limiter.below_limit().now_or_never().is_none());
        let waiting = limiter.below_limit();
        tokio::pin!(waiting);
        assert!(waiting.as_mut().now_or_never().is_none());
        busy.push(limiter.busy());
        drop(taken);
        assert!(
            waiting.as_mut().now_or_never().is_none(),
            "still as many as before"
        );
        busy.clear();
        waiting.await;
        assert!(limiter.is_below_limit());
    }

    #[tokio::test]
    async fn as_many_requests_as_allowed_have_a_turn() {
        let limiter = Arc::new(RequestLimiter::default());
        let mut taken = Vec::new();
        for _ in 0..REQUESTS {
            taken.push(limiter.acquire().await);
        }
        assert!(limiter.acquire().now_or_never().is_none());
        taken.pop();
        assert!(limiter.acquire().now_or_never().is_some());
    }
}
