//! A world in memory that records everything that is stored, and in which one write goes wrong.
use super::{
    recorder::{Note, Recorder},
    scripted::{FaultKind, Plan, Role, Scripted, TestObject, TestStatus},
};
use crate::{
    engine::{Moved, Now},
    error::Result,
    graph::Graph,
    local::Memory,
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

pub(super) struct Witness<'g> {
    pub graph: &'g Graph<'g>,
    pub memory: Memory<Scripted>,
    pub recorder: Arc<Recorder>,
    pub plan: Arc<dyn Plan>,
    pub writes: AtomicUsize,
}

impl Witness<'_> {
    fn role(&self) -> Role {
        Role {
            recorder: Arc::clone(&self.recorder),
            outside: self.memory.handle.clone(),
            plan: Arc::clone(&self.plan),
        }
    }

    /// Notes what is stored now.
    pub fn look(&self) {
        self.role().look(self.graph);
    }

    async fn faulty<T>(&self, write: impl Future<Output = Result<T, WriteError>>) -> Result<T, WriteError> {
        let nth = self.writes.fetch_add(1, Relaxed);
        let role = self.role();
        let kind = self.plan.before_write(nth, &role, self.graph).await;
        if kind == Some(FaultKind::AnotherClientIsFaster) {
            role.outside.update_unseen(|object| object.label += 1);
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
        Ok(self.role())
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
