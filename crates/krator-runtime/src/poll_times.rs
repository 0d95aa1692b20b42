//! Keeps handlers that compute or block from holding up the others.
//!
//! Handlers that only wait for answers share one thread, because threads that wake each other for every answer cost CPU time. One
//! that computes or blocks would hold up everything there, so each poll of a handler is timed. Until the
//! handlers of a state have proved to be fast, other threads poll them, and again after a slow poll. Only the polls happen there:
//! what waits is on the thread of all.
//!
//! A handler borrows from the task of its object, so it is the task that goes. It does so between two polls, never in one.
use crate::lock::Lock as _;
use futures::{
    future::BoxFuture,
    task::{ArcWake, AtomicWaker, waker},
};
use std::{
    cell::{Cell, RefCell},
    future::{pending, poll_fn},
    panic::resume_unwind,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    task::{Context, Poll},
    thread::available_parallelism,
    time::{Duration, Instant},
};
use tokio::{sync::Semaphore, task::spawn_blocking};

/// A slow poll, after which handlers have to prove again that they are fast. Changing threads takes a hundredth of it.
const SLOW: Duration = Duration::from_millis(2);
/// A slow poll that is worth a warning.
const REPORTED: Duration = Duration::from_millis(20);
/// How often that warning is repeated.
const REPORTED_AGAIN: Duration = Duration::from_secs(3600);
/// A poll that takes less is fast. Enough fast polls in a row move the handlers back to the shared thread.
const FAST: Duration = Duration::from_micros(200);
const FAST_POLLS: u32 = 64;

thread_local! {
    /// Whether this thread belongs to the pool.
    static IS_ON_POOL: Cell<bool> = const { Cell::new(false) };
    /// The times of the handler that would have been polled here, but needs the pool.
    static WANTS_POOL: RefCell<Option<Arc<PollTimes>>> = const { RefCell::new(None) };
}

/// How long polls of the handlers of one state take.
pub(crate) struct PollTimes {
    /// How many fast polls in a row are missing; with 0, the handlers are polled on the shared thread.
    left: AtomicU32,
    /// As many as there are processors. Every state has its own, so that handlers that block hold up those of their state only.
    permits: Semaphore,
    reported: Mutex<Option<Instant>>,
}

impl Default for PollTimes {
    fn default() -> Self {
        let processors = available_parallelism().map_or(1, usize::from);
        Self {
            left: AtomicU32::new(FAST_POLLS),
            permits: Semaphore::new(processors),
            reported: Mutex::new(None),
        }
    }
}

impl PollTimes {
    fn is_fast(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }

    /// Takes notice of a poll, and returns whether it was slow, and whether to warn of that.
    fn polled(&self, took: Duration) -> Slow {
        if took > SLOW {
            self.left.store(FAST_POLLS, Ordering::Relaxed);
            if took < REPORTED {
                return Slow::Yes;
            }
            let mut reported = self.reported.locked();
            if reported.is_some_and(|at| at.elapsed() < REPORTED_AGAIN) {
                return Slow::Yes;
            }
            *reported = Some(Instant::now());
            return Slow::Warn;
        }
        if !self.is_fast() {
            let left = if took < FAST {
                self.left.load(Ordering::Relaxed).saturating_sub(1)
            } else {
                FAST_POLLS
            };
            self.left.store(left, Ordering::Relaxed);
        }
        Slow::No
    }
}

/// Whether a poll was slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slow {
    No,
    Yes,
    /// The poll was slow, for the first time in a while.
    Warn,
}

impl Slow {
    /// Warns of it, unless that was done a while ago. In a debug build every handler may be slow, on a busy machine above all, and
    /// there it is no warning.
    pub(crate) fn report(self, kind: &str, state: &str, took: Duration) {
        if self != Self::Warn {
            return;
        }
        let took_ms = took.as_millis();
        let message = format!(
            "the handler of {state} blocked the event loop for {took_ms} ms; it now runs on another thread"
        );
        match cfg!(debug_assertions) {
            true => tracing::debug!(kind, state, took_ms, "{message}"),
            false => tracing::warn!(kind, state, took_ms, "{message}"),
        }
    }
}

/// Polls a handler inline, with all others, or, unless it is fast, where [`poll_on_pool`] does so. `polled` is told of slow polls.
/// Without times, it is polled as it comes.
pub(crate) async fn poll_inline<T>(
    times: Option<&Arc<PollTimes>>,
    mut handler: BoxFuture<'_, T>,
    polled: impl Fn(Slow, Duration),
) -> T {
    let Some(times) = times else {
        return handler.await;
    };
    poll_fn(|cx| {
        if !times.is_fast() && !IS_ON_POOL.get() {
            WANTS_POOL.set(Some(Arc::clone(times)));
            return Poll::Pending;
        }
        let began = Instant::now();
        let poll = handler.as_mut().poll(cx);
        let took = began.elapsed();
        match times.polled(took) {
            Slow::No => {}
            slow => polled(slow, took),
        }
        poll
    })
    .await
}

/// Drives a task, and takes it to another thread for each poll of a handler that is not known to be fast.
///
/// # Panics
///
/// If the task does.
pub(crate) async fn poll_on_pool<T: Send + 'static>(mut task: BoxFuture<'static, T>) -> T {
    loop {
        let polled = poll_fn(|cx| match task.as_mut().poll(cx) {
            Poll::Ready(done) => Poll::Ready(Ok(done)),
            Poll::Pending => match WANTS_POOL.take() {
                Some(times) => Poll::Ready(Err(times)),
                None => Poll::Pending,
            },
        });
        let times = match polled.await {
            Ok(done) => return done,
            Err(times) => times,
        };
        // It is never closed.
        let permit = times.permits.acquire().await;
        let woken = Arc::new(Woken::default());
        let wakes = waker(Arc::clone(&woken));
        // The thread is one of the runtime that polls this, so what the task starts there belongs to that.
        let poll = move || {
            IS_ON_POOL.set(true);
            let poll = task.as_mut().poll(&mut Context::from_waker(&wakes));
            IS_ON_POOL.set(false);
            (task, poll)
        };
        let poll = match spawn_blocking(poll).await {
            Ok((back, poll)) => {
                task = back;
                poll
            }
            Err(error) => match error.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                // The tokio runtime is shutting down, and this future with it.
                Err(_) => return pending().await,
            },
        };
        // A waiting task holds no permit.
        drop(permit);
        match poll {
            Poll::Ready(done) => return done,
            Poll::Pending => woken.wait().await,
        }
    }
}

/// Tells the task when it is woken by what it waited for on another thread.
#[derive(Default)]
struct Woken {
    is_woken: AtomicBool,
    task: AtomicWaker,
}

impl Woken {
    async fn wait(&self) {
        poll_fn(|cx| {
            self.task.register(cx.waker());
            if self.is_woken.load(Ordering::Acquire) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }
}

impl ArcWake for Woken {
    fn wake_by_ref(woken: &Arc<Self>) {
        woken.is_woken.store(true, Ordering::Release);
        woken.task.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::{FutureExt as _, future::join_all};
    use std::{
        sync::atomic::AtomicUsize,
        thread::{self, ThreadId, sleep},
    };
    use tokio::{sync::Barrier, time};

    /// Runs a test on one thread, and ends the others in time.
    fn on_one_thread<T>(test: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build();
        runtime.expect("a runtime").block_on(test)
    }

    /// The task of an object whose handler does this.
    fn task<T: Send + 'static>(
        times: &Arc<PollTimes>,
        handler: impl Future<Output = T> + Send + 'static,
    ) -> BoxFuture<'static, T> {
        let times = Arc::clone(times);
        // A handler borrows from its task.
        let task = async move { poll_inline(Some(&times), handler.boxed(), |_, _| ()).await };
        poll_on_pool(task.boxed()).boxed()
    }

    fn block(how_long: Duration) -> ThreadId {
        sleep(how_long);
        thread::current().id()
    }

    #[test]
    fn handlers_that_proved_to_be_fast_are_polled_with_all_others() {
        on_one_thread(async {
            let (times, here) = (Arc::<PollTimes>::default(), thread::current().id());
            let slow = || task(&times, async { block(2 * SLOW) });
            let fast = || task(&times, async { thread::current().id() });
            for is_proof in [false, true] {
                for _ in 1..FAST_POLLS {
                    assert_ne!(fast().await, here);
                }
                if !is_proof {
                    assert_ne!(slow().await, here);
                }
            }
            assert_ne!(fast().await, here);
            assert_eq!(fast().await, here);
            assert_eq!(slow().await, here, "nobody could know");
            assert_ne!(slow().await, here);
        });
    }

    #[test]
    fn only_polls_are_on_other_threads() {
        on_one_thread(async {
            let (times, here) = (Arc::<PollTimes>::default(), thread::current().id());
            let handler = async {
                let first = block(2 * SLOW);
                time::sleep(Duration::from_millis(1)).await;
                let second = block(2 * SLOW);
                tokio::spawn(async move {
                    // Tasks that a handler spawns run on the common thread.
                    (first, second, thread::current().id())
                })
                .await
            };
            let (first, second, started) = task(&times, handler).await.expect("it does not panic");
            assert_eq!(started, here);
            assert!(first != here && second != here);
        });
    }

    #[test]
    fn handlers_of_one_state_that_block_hold_up_no_other() {
        on_one_thread(async {
            let (blocks, waits) = (Arc::<PollTimes>::default(), Arc::<PollTimes>::default());
            let processors = blocks.permits.available_permits();
            let (free, held) = std::sync::mpsc::channel::<()>();
            let (held, blocked) = (Arc::new(Mutex::new(held)), Arc::new(AtomicUsize::new(0)));
            let many = (0..20).map(|_| {
                let (held, blocked) = (Arc::clone(&held), Arc::clone(&blocked));
                tokio::spawn(task(&blocks, async move {
                    blocked.fetch_add(1, Ordering::Relaxed);
                    // It ends when nobody can send any more.
                    held.locked().recv().is_err()
                }))
            });
            let many: Vec<_> = many.collect();
            while blocked.load(Ordering::Relaxed) < processors {
                tokio::task::yield_now().await;
            }
            // All of these have to be under way before one of them ends.
            let barrier = Arc::new(Barrier::new(100));
            let others = (0..100).map(|_| {
                let barrier = Arc::clone(&barrier);
                task(&waits, async move { barrier.wait().await.is_leader() })
            });
            join_all(others).await;
            assert_eq!(many.iter().filter(|task| task.is_finished()).count(), 0);
            drop(free);
            join_all(many).await;
            assert_eq!(blocked.load(Ordering::Relaxed), 20);
        });
    }

    #[test]
    fn a_warning_comes_once_in_a_while() {
        let times = PollTimes::default();
        assert_eq!(times.polled(FAST), Slow::No);
        assert_eq!(times.polled(2 * SLOW), Slow::Yes);
        assert_eq!(times.polled(REPORTED), Slow::Warn);
        assert_eq!(times.polled(REPORTED), Slow::Yes);
    }
}
