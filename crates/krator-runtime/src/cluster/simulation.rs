//! Simulated processes, for tests only: several replicas of an operator in a single thread, with clocks, randomness and a
//! network that the test provides. With tokio's clock paused, hours pass in seconds, and a seed makes runs reproducible.
//!
//! The runtime uses `cluster/host.rs` for the services of its machine, which returns those of the process
//! whose future is being polled. Futures that a process spawns belong to it as well.
use crate::{
    lock::Lock as _,
    spec_digest::{STEP, mixed},
};
use futures::future;
use http::{Request, Response};
use jiff::Timestamp;
use kube::client::{Body, DynBody};
use std::{
    cell::RefCell,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};
use tokio::{sync::watch, time::Instant};
use tower::{BoxError, Service, util::BoxService};

/// The connection of a client to its API server.
pub type Connection = BoxService<Request<Body>, Response<Box<DynBody>>, BoxError>;

/// A process that is simulated. Clones are the same process.
#[derive(Clone)]
pub struct Process(Arc<Inner>);

struct Inner {
    name: String,
    /// The wall clock at a certain instant, which may be wrong.
    clock: (Timestamp, Instant),
    seed: u64,
    drawn: AtomicU64,
    network: Box<dyn Fn() -> Connection + Send + Sync>,
    life: Mutex<Life>,
    stopping: watch::Sender<bool>,
}

enum Life {
    Runs,
    /// The wakers to wake when the process is thawed.
    Frozen(Vec<Waker>),
    Killed,
}

thread_local! {
    /// The process whose future is polled.
    static CURRENT: RefCell<Option<Process>> = const { RefCell::new(None) };
}

/// Runs a function as a process, or as none.
fn within<T>(process: Option<Process>, run: impl FnOnce() -> T) -> T {
    let before = CURRENT.replace(process);
    let result = run();
    CURRENT.set(before);
    result
}

impl Process {
    /// A process on a host of this name, whose clock shows this time now. `connect` makes the connections of its clients, which are
    /// always ready.
    pub fn new(
        name: impl Into<String>,
        time: Timestamp,
        seed: u64,
        connect: impl Fn() -> Connection + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Inner {
            name: name.into(),
            clock: (time, Instant::now()),
            seed,
            drawn: AtomicU64::new(0),
            network: Box::new(connect),
            life: Mutex::new(Life::Runs),
            stopping: watch::Sender::new(false),
        }))
    }

    /// A future of the process. It is never ready once the process is killed.
    pub fn run<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        Own {
            process: Some(self.clone()),
            future: Some(Box::pin(future)),
        }
    }

    /// Asks the process to end, as by SIGTERM.
    pub fn stop(&self) {
        self.0.stopping.send_replace(true);
    }

    /// Freezes the process: it makes no progress, although time goes on.
    pub fn freeze(&self) {
        let mut life = self.0.life.locked();
        if matches!(*life, Life::Runs) {
            *life = Life::Frozen(Vec::new());
        }
    }

    /// Lets a frozen process go on.
    pub fn thaw(&self) {
        let mut life = self.0.life.locked();
        let wakers = match &mut *life {
            Life::Frozen(wakers) => std::mem::take(wakers),
            Life::Runs | Life::Killed => return,
        };
        *life = Life::Runs;
        drop(life);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Kills the process: its futures are not polled any more, and messages of its destructors are lost.
    pub fn kill(&self) {
        let before = std::mem::replace(&mut *self.0.life.locked(), Life::Killed);
        // Waking the tasks makes them drop their futures.
        if let Life::Frozen(wakers) = before {
            wakers.into_iter().for_each(Waker::wake);
        }
    }

    /// Whether the process was killed.
    pub fn is_killed(&self) -> bool {
        matches!(*self.0.life.locked(), Life::Killed)
    }

    /// The process that is polled now.
    pub(super) fn current() -> Option<Self> {
        CURRENT.with_borrow(Clone::clone)
    }

    pub(super) fn name(&self) -> String {
        self.0.name.clone()
    }

    /// The time of its clock.
    pub(super) fn time(&self) -> Timestamp {
        let (time, at) = self.0.clock;
        time + at.elapsed()
    }

    /// The time since the process began.
    pub(super) fn since_boot(&self) -> Duration {
        self.0.clock.1.elapsed()
    }

    pub(super) fn random(&self) -> u64 {
        let drawn = self.0.drawn.fetch_add(1, Ordering::Relaxed);
        mixed(mixed(self.0.seed).wrapping_add(drawn.wrapping_mul(STEP)))
    }

    /// Waits until somebody asks the process to end.
    pub(super) async fn stopped(&self) {
        // The process has the sender.
        let _ = self.0.stopping.subscribe().wait_for(|stops| *stops).await;
    }

    /// A connection of the process, which ends with it.
    pub(super) fn connection(&self) -> Connection {
        let (process, mut network) = (self.clone(), (self.0.network)());
        BoxService::new(tower::service_fn(move |request| {
            let sent = (!process.is_killed()).then(|| network.call(request));
            async move {
                match sent {
                    Some(answer) => answer.await,
                    None => future::pending().await,
                }
            }
        }))
    }

    /// Runs a service in the process. A client calls its service in a task of its own, which belongs to no process.
    pub(super) fn service<S>(&self, inner: S) -> Within<S> {
        Within {
            process: self.clone(),
            inner,
        }
    }
}

/// A service of a process.
pub(super) struct Within<S> {
    process: Process,
    inner: S,
}

impl<S: Service<R>, R> Service<R> for Within<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        within(Some(self.process.clone()), || self.inner.poll_ready(cx))
    }

    fn call(&mut self, request: R) -> S::Future {
        within(Some(self.process.clone()), || self.inner.call(request))
    }
}

/// A future of a process, if there is one.
pub(super) struct Own<F> {
    process: Option<Process>,
    /// None once the process is killed.
    future: Option<Pin<Box<F>>>,
}

impl<F> Own<F> {
    /// A future of the process that is polled now.
    pub fn of_current(future: F) -> Self {
        Self {
            process: Process::current(),
            future: Some(Box::pin(future)),
        }
    }
}

impl<F: Future> Future for Own<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let process = self.process.clone();
        if let Some(process) = &process {
            match &mut *process.0.life.locked() {
                Life::Runs => {}
                Life::Frozen(wakers) => {
                    wakers.push(cx.waker().clone());
                    return Poll::Pending;
                }
                Life::Killed => {
                    self.future = None;
                    return Poll::Pending;
                }
            }
        }
        match &mut self.future {
            Some(future) => within(process, || future.as_mut().poll(cx)),
            None => Poll::Pending,
        }
    }
}
