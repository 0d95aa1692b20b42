//! The tasks of objects with something due, and the timers of those at rest.
use super::{Dispatcher, Ended, LONGEST_ECHO, LONGEST_TIMER, Life, Slot, Tracked};
use crate::{
    actor::Step,
    cluster::{
        host,
        observability::inspect::Viewed,
        related::{links::Linked, watch_index::Uid},
    },
    lock::Lock as _,
    machine::{ManifestOf, Object as _},
    operator::Operator,
    poll_times::poll_on_pool,
    resource::KubeObject,
    world::{Queued, WorkQueue, World as _},
};
use futures::FutureExt as _;
use std::{
    future::poll_fn,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    task::{Id, JoinError},
    time::{Instant, timeout},
};
use tokio_util::time::delay_queue;

impl<O: Operator<Machine: Linked>> Dispatcher<O>
where
    ManifestOf<O::Machine>: KubeObject,
{
    /// Waits until the running handlers have ended. Slower handlers are dropped and resumed after a restart.
    pub(super) async fn drain(mut self, grace: Duration) {
        drop(self.heartbeat);
        for slot in self.slots.values() {
            if let Life::Running { queue, .. } = &slot.life {
                queue.push(|queued| queued.stop = true);
            }
        }
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(grace, ended).await.is_err() {
            tracing::warn!(
                runs = self.tasks.len(),
                "aborting handlers that did not finish in time"
            );
        }
    }

    pub(super) fn rest(
        &mut self,
        uid: &Uid,
        mut tracked: Tracked<O::Machine>,
        until: Option<Duration>,
        timer: Option<delay_queue::Key>,
    ) -> Option<Life<O>> {
        let latest = Instant::now() + LONGEST_TIMER;
        let at = until.map(|until| self.world.instant(until).min(latest));
        let timer = match (at, timer) {
            (Some(at), Some(timer)) => {
                self.timers.reset_at(&timer, at);
                Some(timer)
            }
            (Some(at), None) => Some(self.timers.insert_at(Arc::clone(uid), at.max(Instant::now()))),
            (None, Some(timer)) => {
                self.timers.remove(&timer);
                None
            }
            (None, None) => None,
        };
        tracked.counted.is_at(tracked.actor.at());
        let idle = self.pack(tracked, true)?;
        Some(Life::Resting { idle, timer })
    }

    /// Starts a task that takes steps until nothing is due.
    pub(super) fn spawn(
        &mut self,
        uid: Uid,
        tracked: Tracked<O::Machine>,
        queued: Queued<ManifestOf<O::Machine>>,
    ) -> Life<O> {
        let mut tracked = Box::new(tracked);
        let queue = Arc::new(WorkQueue::default());
        queue.push(|first| *first = queued);
        let (world, own_queue) = (Arc::clone(&self.world), Arc::clone(&queue));
        let view = |Tracked { actor, .. }: &Tracked<O::Machine>| Viewed {
            at: actor.at(),
            since: actor.since(),
            object: Arc::clone(actor.manifest()),
        };
        let shown = Arc::new(Mutex::new(view(&tracked)));
        let seen = Arc::clone(&shown);
        let limiter = Arc::clone(&self.world.cluster.limiter);
        let mut begins = Some(limiter.busy());
        let task = async move {
            loop {
                let before = tracked.actor.manifest().version();
                // A handler runs in the state in which its step begins.
                tracked.counted.is_at(tracked.actor.at());
                *seen.locked() = view(&tracked);
                // The future of a step is far larger than the rest of the task. Boxed, it takes memory only once the task
                // runs: the hundreds of tasks that a page of a listing starts would leave holes in the heap that nothing
                // fills later.
                let mut step = tracked.actor.step(&*world, &own_queue).boxed();
                // From its first poll on, the task counts itself among those that need permits.
                let begins = &mut begins;
                let step = poll_fn(move |cx| {
                    let polled = step.poll_unpin(cx);
                    *begins = None;
                    polled
                })
                .await;
                if step != Step::Again {
                    return (uid, tracked, step);
                }
                // The API server tries a write against its cache first, and repeats it with a read from its
                // store if the cache is stale. The cache is up to date when the watch has the version.
                let version = tracked.actor.manifest().version();
                if version != before {
                    let _busy = limiter.busy();
                    // Waiting only saves costs, so a broken watch must not delay the object for long.
                    let _ = timeout(LONGEST_ECHO, own_queue.observed(version)).await;
                }
            }
        };
        let task = self.tasks.spawn(host::own(poll_on_pool(task.boxed())));
        self.count();
        Life::Running {
            task: task.id(),
            queue,
            view: shown,
        }
    }

    pub(super) fn ended(&mut self, ended: Result<(Id, Ended<O>), JoinError>) {
        self.count();
        let (uid, tracked, step) = match ended {
            Ok((_, ended)) => ended,
            Err(error) => {
                // This is a defect of the runtime, because panics of handlers are caught. The object is looked after
                // again from its next event on.
                tracing::error!(%error, "a task of the runtime panicked");
                let failed =
                    |slot: &Slot<O>| matches!(&slot.life, Life::Running { task, .. } if *task == error.id());
                return self.slots.retain(|_, slot| !failed(slot));
            }
        };
        let Some(slot) = self.slots.get_mut(&uid) else {
            return;
        };
        let Life::Running { queue, .. } = &slot.life else {
            return;
        };
        // Observations that arrived after the task had ended.
        let left = queue.take();
        match step {
            Step::Again | Step::Wait(_) => {
                self.index
                    .update(&uid, &**tracked.actor.manifest(), &self.world.cluster.links);
                let until = if let Step::Wait(until) = step {
                    until
                } else {
                    Some(Duration::ZERO)
                };
                let (source, listing) = (slot.source, slot.listing);
                let life = self.rest(&uid, *tracked, until, None);
                self.keep(Arc::clone(&uid), life, source, listing);
                if !left.is_empty() {
                    self.receive(&uid, left);
                }
            }
            Step::Over => {
                self.slots.remove(&uid);
                self.index.forget(&uid);
                self.forget_places(&uid);
                self.clean_up(self.world.cluster.left_by(&uid));
            }
        }
    }
}
