//! The turns of requests, and how many tasks need them. A task of an object takes far more memory than its object at rest, so no
//! more of them are started than the API server keeps busy.
use super::REQUESTS;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};
use tokio::sync::{Notify, Semaphore, SemaphorePermit};

/// How many tasks may need a turn before no more are started: one waits for each request in flight.
const MOST: usize = 2 * REQUESTS;

/// The turns of one kind.
pub(in crate::cluster) struct Turns {
    /// As many requests as the API server is to have at once, not counting watches.
    permits: Semaphore,
    /// How many tasks make requests, wait for their turn, or are about to.
    busy: AtomicUsize,
    fell: Notify,
}

impl Default for Turns {
    fn default() -> Self {
        Self {
            permits: Semaphore::new(REQUESTS),
            busy: AtomicUsize::new(0),
            fell: Notify::new(),
        }
    }
}

/// Counts a task as one that needs turns until this value is dropped.
pub(in crate::cluster) struct Busy(Arc<Turns>);

/// The turn of a request.
pub(in crate::cluster) struct Turn<'a> {
    _busy: Busy,
    _permit: Option<SemaphorePermit<'a>>,
}

impl Turns {
    pub fn busy(self: &Arc<Self>) -> Busy {
        self.busy.fetch_add(1, Ordering::Relaxed);
        Busy(Arc::clone(self))
    }

    /// Waits until a request may be made. Requests are built after this, so those that wait take no memory.
    pub async fn take(self: &Arc<Self>) -> Turn<'_> {
        let busy = self.busy();
        Turn {
            // The semaphore is never closed, so there is always one.
            _permit: self.permits.acquire().await.ok(),
            _busy: busy,
        }
    }

    /// Whether another task may be started.
    pub fn has_room(&self) -> bool {
        self.busy.load(Ordering::Relaxed) < MOST
    }

    /// Waits until another task may be started. Only one may wait for that at once.
    pub async fn room(&self) {
        while !self.has_room() {
            self.fell.notified().await;
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if self.0.busy.fetch_sub(1, Ordering::Relaxed) == MOST {
            self.0.fell.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt as _;

    #[tokio::test]
    async fn there_is_room_until_twice_as_many_tasks_as_requests_need_turns() {
        let turns = Arc::new(Turns::default());
        let mut busy: Vec<Busy> = (1..MOST).map(|_| turns.busy()).collect();
        assert!(turns.has_room());
        let taken = turns.take().await;
        assert!(turns.room().now_or_never().is_none());
        let waiting = turns.room();
        tokio::pin!(waiting);
        assert!(waiting.as_mut().now_or_never().is_none());
        busy.push(turns.busy());
        drop(taken);
        assert!(
            waiting.as_mut().now_or_never().is_none(),
            "still as many as before"
        );
        busy.clear();
        waiting.await;
        assert!(turns.has_room());
    }

    #[tokio::test]
    async fn as_many_requests_as_allowed_have_a_turn() {
        let turns = Arc::new(Turns::default());
        let mut taken = Vec::new();
        for _ in 0..REQUESTS {
            taken.push(turns.take().await);
        }
        assert!(turns.take().now_or_never().is_none());
        taken.pop();
        assert!(turns.take().now_or_never().is_some());
    }
}
