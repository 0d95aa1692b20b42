//! The object of a trial: its writes, which may have faults, and the processes that handle it one after the other.
use super::{
    Access, FaultKind, Handle, Hooks, InMemoryApi, Local, MANY_STEPS, Memory, Point, Rest, Trial, with_fault,
};
use crate::{
    actor::Actor,
    engine::Moved,
    error::{Error, Result},
    graph::{Effects, StateId},
    machine::{Machine, ManifestOf, SharedOf},
    world::{RunEnd, World as _, WriteError},
};
use std::sync::Arc;

/// An object has failed to reach the place of the run without the fault after this many waits, or if one call takes
/// more steps than twice those of that whole run and this number.
const MANY_WAITS: usize = 1_000;

/// The writes of an object that may be part of a trial.
pub(crate) struct Tried<M: Machine> {
    pub trial: Option<Arc<Trial>>,
    pub outside: Handle<M>,
}

impl<M: Machine> Hooks<M> for Tried<M> {
    async fn write<T: Send>(
        &self,
        what: &'static str,
        write: impl FnOnce() -> Result<T, WriteError> + Send,
    ) -> Result<T, WriteError> {
        let Some(trial) = &self.trial else {
            return write();
        };
        let kind = trial.reaches(Point {
            what: format!("the write of {what}"),
            access: Access::Write,
        });
        if kind == Some(FaultKind::AnotherClientIsFaster) {
            self.outside.update_unseen(|_| {});
        }
        let failed = || WriteError::Other("the test lets this write fail".into());
        with_fault(kind, &trial.dies, async { write() }, failed).await
    }
    fn initialize(&self) -> Result<M::ObjectState> {
        Err(Error::permanent("an object in memory comes with its state"))
    }
    fn moved(&self, moved: &Moved<'_>) {
        if let Some(trial) = self
            .trial
            .as_ref()
            .filter(|trial| trial.is_hit() && trial.diverts(moved))
        {
            trial.noted().is_diverted = true;
        }
    }
    fn ran(&self, state: StateId, end: &RunEnd) {
        let policy = M::GRAPH.state(state);
        if let (Some(trial), RunEnd::Done, Effects::Once) = (&self.trial, end, policy.effects) {
            *trial.noted().completed.entry(policy.name).or_default() += 1;
        }
    }
}

/// Creates the memory of a new process.
pub(crate) type Process<M> = Box<dyn Fn() -> (<M as Machine>::ObjectState, Arc<SharedOf<M>>) + Send>;

impl<M: Machine> Local<M> {
    /// An object in a trial.
    pub(crate) fn tried(
        trial: &Arc<Trial>,
        others: Arc<InMemoryApi>,
        manifest: ManifestOf<M>,
        process: Process<M>,
    ) -> Self {
        let (object, shared) = process();
        let world = Memory::new(
            manifest.clone(),
            others,
            shared,
            M::GRAPH.finalizer,
            trial.began,
            |outside| Tried {
                trial: Some(Arc::clone(trial)),
                outside: outside.clone(),
            },
        );
        let mut local = Self::of(world.seeded(trial.seed), manifest, object);
        local.process = Some(process);
        local
    }

    /// Waits until the process of a trial dies.
    pub(super) async fn death(trial: Option<&Arc<Trial>>) {
        match trial {
            Some(trial) => trial.dies.notified().await,
            None => std::future::pending().await,
        }
    }

    /// Another process continues from the stored object. Returns whether there is an object that it is responsible for.
    pub(super) fn restart(&mut self) -> bool {
        // The queue of a process that has died is lost.
        drop(self.world.handle.0.queue.take());
        let stored = self.world.handle.stored();
        let stored = stored.filter(|stored| Actor::<M>::is_responsible_for(M::GRAPH, stored));
        let (Some(stored), Some(process)) = (stored, &self.process) else {
            return false;
        };
        let (object, shared) = process();
        self.world.share(shared);
        self.actor = Actor::new(M::GRAPH, stored, Some(object), self.world.now());
        true
    }

    /// The place of the object.
    fn rest(&self) -> Rest {
        Rest {
            state: self.state().filter(|_| !self.over).map(M::id),
            is_failing: !self.over && self.actor.is_failing(),
        }
    }

    /// Whether the object has not reached its place in the run without the fault, but still may.
    pub(super) fn is_behind(&self, waits: usize) -> bool {
        let Some(trial) = self.world.hooks.trial.as_ref().filter(|trial| trial.is_hit()) else {
            return false;
        };
        let before = trial.noted().rests.len();
        let plain = trial.plain.as_ref();
        let (rest, expected) = (self.rest(), plain.and_then(|plain| plain.rests.get(before)));
        let is_there =
            |expected: &Rest| rest.state == expected.state && (expected.is_failing || !rest.is_failing);
        waits < MANY_WAITS && expected.is_some_and(|expected| !is_there(expected))
    }

    /// Records a step, and returns the maximum number of steps in one call.
    pub(super) fn note_step(&self) -> usize {
        let Some(trial) = &self.world.hooks.trial else {
            return MANY_STEPS;
        };
        trial.noted().steps += 1;
        let plain = trial.plain.as_ref().map(|plain| plain.steps);
        plain.map_or(MANY_STEPS, |steps| steps * 2 + MANY_WAITS)
    }

    /// Records the place where the object rests.
    pub(super) fn note_rest(&self) {
        if let Some(trial) = &self.world.hooks.trial {
            trial.noted().rests.push(self.rest());
        }
    }

    /// Called when the object does not reach the place that the scenario waits for. If the fault has led it elsewhere
    /// as the description allows, the scenario ends here.
    pub(super) async fn give_up(&self) {
        if let Some(trial) = self
            .world
            .hooks
            .trial
            .as_ref()
            .filter(|trial| trial.noted().is_diverted)
        {
            trial.ends.notify_one();
            std::future::pending::<()>().await;
        }
    }
}
