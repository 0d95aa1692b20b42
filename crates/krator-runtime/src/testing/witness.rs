//! A world that sees everything, and in which one write goes wrong.
use super::{
    scripted::{Paper, PaperStatus, Role, Scripted},
    stage::Stage,
};
use crate::{
    Event, Handle, Machine, Result,
    engine::Now,
    local::Memory,
    world::{World, WriteError},
};
use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};
use tokio::time::Instant;

/// What goes wrong, at which write of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub kind: Kind,
    pub write: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    DiesBefore,
    DiesAfter,
    Fails,
    AnswerIsLost,
    SomebodyIsFaster,
}

impl Fault {
    /// All that can go wrong at one write.
    pub fn at(write: usize) -> [Self; 5] {
        [
            Kind::DiesBefore,
            Kind::DiesAfter,
            Kind::Fails,
            Kind::AnswerIsLost,
            Kind::SomebodyIsFaster,
        ]
        .map(|kind| Self { kind, write })
    }
}

pub(super) struct Witness<M: Machine> {
    pub memory: Memory<Scripted<M>>,
    pub stage: Arc<Stage>,
    pub fault: Option<Fault>,
    pub writes: AtomicUsize,
}

impl<M: Machine> Witness<M> {
    fn outside(&self) -> &Handle<Scripted<M>> {
        &self.memory.handle
    }

    /// Notes what is stored now.
    pub fn look(&self) {
        self.stage.saw(
            self.outside()
                .stored()
                .as_deref()
                .map(|paper| paper.seen(M::GRAPH)),
        );
    }

    async fn faulty<T>(&self, write: impl Future<Output = Result<T, WriteError>>) -> Result<T, WriteError> {
        let nth = self.writes.fetch_add(1, Relaxed);
        let kind = self
            .fault
            .filter(|fault| fault.write == nth)
            .map(|fault| fault.kind);
        if kind == Some(Kind::SomebodyIsFaster) {
            self.outside().update_unseen(|paper| paper.label += 1);
        }
        let lost = || WriteError::Other("no answer".into());
        if matches!(kind, Some(Kind::DiesBefore | Kind::Fails)) {
            if kind == Some(Kind::DiesBefore) {
                self.die().await;
            }
            return Err(lost());
        }
        let written = write.await;
        self.look();
        match kind {
            Some(Kind::DiesAfter) => {
                self.die().await;
                written
            }
            Some(Kind::AnswerIsLost) => Err(lost()),
            _ => written,
        }
    }

    async fn die(&self) {
        self.stage.dies.notify_one();
        std::future::pending().await
    }
}

impl<M: Machine> World<Scripted<M>> for Witness<M> {
    fn now(&self) -> Now {
        self.memory.now()
    }
    fn origin(&self) -> Instant {
        self.memory.origin()
    }
    fn shared(&self) -> &Arc<()> {
        self.memory.shared()
    }
    async fn initialize(&self, _: &Paper) -> Result<Role<M>> {
        Ok(Role {
            stage: Arc::clone(&self.stage),
            outside: self.outside().clone(),
        })
    }
    async fn write_status(&self, paper: &Paper, status: &PaperStatus) -> Result<Arc<Paper>, WriteError> {
        self.faulty(self.memory.write_status(paper, status)).await
    }
    async fn set_finalizer(&self, paper: &Paper, present: bool) -> Result<Arc<Paper>, WriteError> {
        self.faulty(self.memory.set_finalizer(paper, present)).await
    }
    async fn delete(&self, paper: &Paper) -> Result<(), WriteError> {
        self.faulty(self.memory.delete(paper)).await
    }
    async fn read(&self, paper: &Paper) -> Result<Option<Arc<Paper>>> {
        self.memory.read(paper).await
    }
    fn publish(&self, paper: &Paper, event: Event) {
        self.memory.publish(paper, event);
    }
    #[cfg(feature = "kube")]
    fn around(&self) -> crate::cluster::Around<'_, Scripted<M>> {
        self.memory.around()
    }
}
