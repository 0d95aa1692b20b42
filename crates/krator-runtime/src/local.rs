//! Machines without Kubernetes: one object in memory, on tokio's clock, which a test may pause.
#[cfg(feature = "kube")]
mod fake_cluster;
mod fixture;
mod memory;

#[cfg(feature = "kube")]
pub(crate) use fake_cluster::FakeCluster;
/// Without Kubernetes there are no other kinds.
#[cfg(not(feature = "kube"))]
#[derive(Debug, Default)]
pub(crate) struct FakeCluster;
pub use fixture::Fixture;
pub use memory::Handle;
pub(crate) use memory::Memory;

use crate::{
    actor::{Actor, Step},
    machine::{Event, Machine, ManifestOf, SharedOf},
    status::EntryId,
    world::World as _,
};
use std::{sync::Arc, time::Duration};
use tokio::time::sleep_until;

/// Drives one object through its machine, in memory, with the code that drives the objects of a cluster.
///
/// On tokio's paused clock (`#[tokio::test(start_paused = true)]`) no test waits for a poll, a backoff or a timeout.
///
/// ```
#[doc = include_str!("doc/moose.txt")]
#[doc = include_str!("doc/eat.txt")]
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
/// let mut moose = Local::<MooseMachine>::new(Moose::default(), MooseState::default(), Arc::default());
///
/// moose.run_until(|state| state == MooseMachine::Sleep).await;
/// moose.run_until_idle().await;
/// let states: Vec<_> = moose.trace().iter().map(|(at, state)| (at.as_secs(), *state)).collect();
/// assert_eq!(states, [(0, MooseMachine::Eat), (5, MooseMachine::Sleep)]);
/// assert_eq!(moose.object_mut().unwrap().meals, 1);
///
/// moose.handle().delete();
/// moose.run().await;
/// assert!(moose.is_over());
/// # });
/// ```
pub struct Local<M: Machine> {
    actor: Actor<'static, M>,
    world: Memory<M>,
    trace: Vec<(Duration, M)>,
    over: bool,
}

impl<M: Machine> Local<M> {
    /// An object as stored: a new one, or one with a status, which is then resumed as after a restart of the
    /// operator. `object` and `shared` are what its handlers find in memory.
    pub fn new(manifest: ManifestOf<M>, object: M::ObjectState, shared: Arc<SharedOf<M>>) -> Self {
        let world = Memory::<M>::new(manifest.clone(), shared, M::GRAPH.finalizer());
        let actor = Actor::new(M::GRAPH, Arc::new(manifest), Some(object), world.now());
        let mut local = Self {
            actor,
            world,
            trace: Vec::new(),
            over: false,
        };
        local.record(None);
        local
    }

    /// A handle with which the test changes the object while its machine runs.
    pub fn handle(&self) -> Handle<M> {
        self.world.handle.clone()
    }
    /// The state of the object; `None` if the machine does not know the stored state.
    pub fn state(&self) -> Option<M> {
        self.actor.state()
    }
    /// The object as its machine saw it last.
    pub fn manifest(&self) -> Arc<ManifestOf<M>> {
        Arc::clone(self.actor.manifest())
    }
    /// What the object keeps in memory; `None` once it is gone.
    pub fn object_mut(&mut self) -> Option<&mut M::ObjectState> {
        self.actor.object_mut()
    }
    /// The states that the object has entered, in order, each with the time since the start.
    pub fn trace(&self) -> &[(Duration, M)] {
        &self.trace
    }
    /// The events that were recorded so far.
    pub fn events(&self) -> Vec<Event> {
        self.world.events()
    }
    /// Whether the object is gone.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Runs the machine until the object is gone. Waits as long as that takes.
    pub async fn run(&mut self) {
        self.run_until(|_| false).await;
    }

    /// Runs the machine until nothing is due now, or the object is gone. It does not wait for polls and timeouts.
    pub async fn run_until_idle(&mut self) {
        while let Some(None) = self.step().await {}
    }

    /// Runs the machine until the object enters a state for which `stop` is true, or is gone. The handler of that
    /// state has not run then. Waits as long as that takes.
    pub async fn run_until(&mut self, stop: impl Fn(M) -> bool) {
        loop {
            let before = self.trace.len();
            let Some(wait) = self.step().await else { return };
            if self.trace[before..].iter().any(|(_, state)| stop(*state)) {
                return;
            }
            if let Some(until) = wait {
                self.wait(until).await;
            }
        }
    }

    /// Takes one step. `None` means that the object is gone, `Some(Some(until))` that nothing is due before `until`.
    async fn step(&mut self) -> Option<Option<Option<Duration>>> {
        if self.over {
            return None;
        }
        let entry = self.actor.entry();
        let step = self.actor.step(&self.world, &self.world.handle.mailbox).await;
        self.record(Some(entry));
        match step {
            Step::Again => Some(None),
            Step::Wait(until) => Some(Some(until)),
            Step::Over => {
                self.over = true;
                None
            }
        }
    }

    async fn wait(&self, until: Option<Duration>) {
        let timer = async {
            match until {
                Some(until) => sleep_until(self.world.origin() + until).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.world.handle.mailbox.arrived() => {}
            () = timer => {}
        }
    }

    fn record(&mut self, former: Option<EntryId>) {
        let entered = former != Some(self.actor.entry());
        if let Some(state) = self.state().filter(|_| entered) {
            self.trace.push((self.world.now().elapsed, state));
        }
    }
}
