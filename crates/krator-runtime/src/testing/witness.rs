//! A world in memory that records everything that is stored, and in which one write goes wrong.
use super::{
    recorder::{Note, Recorder},
    scripted::{Role, Scripted, TestObject, TestStatus},
    search::Search,
};
use crate::{
    engine::{Moved, Now},
    error::Result,
    graph::Graph,
    local::{Handle, Memory},
    machine::Event,
    status::Condition,
    world::{World, WriteError},
};
use std::{
    any::Any,
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::time::Instant;

/// What goes wrong, and at which write of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub kind: FaultKind,
    pub write: usize,
}

/// What can go wrong at a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    DiesBefore,
    DiesAfter,
    Fails,
    AnswerIsLost,
    AnotherClientIsFaster,
}

impl Fault {
    /// Whether the request is made again only after a while.
    pub fn delays(self) -> bool {
        matches!(self.kind, FaultKind::Fails | FaultKind::AnswerIsLost)
    }

    /// Everything that can go wrong at this write.
    pub fn at(write: usize) -> [Self; 5] {
        [
            FaultKind::DiesBefore,
            FaultKind::DiesAfter,
            FaultKind::Fails,
            FaultKind::AnswerIsLost,
            FaultKind::AnotherClientIsFaster,
        ]
        .map(|kind| Self { kind, write })
    }
}

/// What decides about the writes of a world.
pub(super) enum Plan {
    /// At most one goes wrong.
    Fault(Option<Fault>),
    /// A schedule of a search.
    Search(Arc<Search>),
}

pub(super) struct Witness<'g> {
    pub graph: &'g Graph<'g>,
    pub memory: Memory<Scripted>,
    pub recorder: Arc<Recorder>,
    pub plan: Plan,
    pub writes: AtomicUsize,
}

impl Witness<'_> {
    fn outside(&self) -> &Handle<Scripted> {
        &self.memory.handle
    }

    /// Notes what is stored now.
    pub fn look(&self) {
        let stored = self.outside().stored();
        self.recorder
            .saw(stored.as_deref().map(|object| object.seen(self.graph)));
    }

    async fn faulty<T>(&self, write: impl Future<Output = Result<T, WriteError>>) -> Result<T, WriteError> {
        let nth = self.writes.fetch_add(1, Relaxed);
        let kind = match &self.plan {
            Plan::Fault(fault) => fault.filter(|fault| fault.write == nth).map(|fault| fault.kind),
            Plan::Search(search) => search.before_write(self).await,
        };
        if kind == Some(FaultKind::AnotherClientIsFaster) {
            self.outside().update_unseen(|object| object.label += 1);
        }
        let lost = || WriteError::Other("no answer".into());
        if matches!(kind, Some(FaultKind::DiesBefore | FaultKind::Fails)) {
            if kind == Some(FaultKind::DiesBefore) {
                self.die().await;
            }
            return Err(lost());
        }
        let written = write.await;
        self.look();
        match kind {
            Some(FaultKind::DiesAfter) => {
                self.die().await;
                written
            }
            Some(FaultKind::AnswerIsLost) => Err(lost()),
            _ => written,
        }
    }

    async fn die(&self) {
        self.recorder.dies.notify_one();
        std::future::pending().await
    }
}

impl World<Scripted> for Witness<'_> {
    fn now(&self) -> Now {
        self.memory.now()
    }
    fn instant(&self, elapsed: Duration) -> Instant {
        self.memory.instant(elapsed)
    }
    fn shared(&self) -> &Arc<()> {
        self.memory.shared()
    }
    async fn initialize(&self, _: &TestObject) -> Result<Role> {
        Ok(Role {
            recorder: Arc::clone(&self.recorder),
            outside: self.outside().clone(),
            search: match &self.plan {
                Plan::Search(search) => Some(Arc::clone(search)),
                Plan::Fault(_) => None,
            },
        })
    }
    async fn write_status(
        &self,
        object: &TestObject,
        status: &TestStatus,
    ) -> Result<Arc<TestObject>, WriteError> {
        self.faulty(self.memory.write_status(object, status)).await
    }
    async fn write_condition(
        &self,
        object: &TestObject,
        condition: &Condition,
    ) -> Result<Arc<TestObject>, WriteError> {
        self.faulty(self.memory.write_condition(object, condition)).await
    }
    async fn set_finalizer(
        &self,
        object: &TestObject,
        finalizer: &str,
        present: bool,
    ) -> Result<Arc<TestObject>, WriteError> {
        self.faulty(self.memory.set_finalizer(object, finalizer, present))
            .await
    }
    async fn delete(&self, object: &TestObject) -> Result<(), WriteError> {
        self.faulty(self.memory.delete(object)).await
    }
    async fn read(&self, object: &TestObject) -> Result<Option<Arc<TestObject>>> {
        self.memory.read(object).await
    }
    fn kind(&self) -> &str {
        self.memory.kind()
    }
    fn moved(&self, object: &TestObject, moved: &Moved<'_>) {
        self.memory.moved(object, moved);
        self.recorder.note(Note::Moved {
            from: moved.from.map(|from| from.name.to_owned()),
            to: moved.to.name.to_owned(),
            entry: moved.entry,
            cause: moved.cause,
        });
    }
    fn publish(&self, object: &TestObject, event: Event) {
        self.memory.publish(object, event);
    }
    fn backend(&self) -> &(dyn Any + Send + Sync) {
        self.memory.backend()
    }
}
