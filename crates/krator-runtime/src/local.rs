//! Machines without Kubernetes: one object in memory, on tokio's clock, which a test may pause.
#[cfg(feature = "kube")]
mod api;
mod fault;
mod fixture;
mod memory;
mod object;
#[cfg(feature = "kube")]
mod related;
mod trial;
mod tried;

#[cfg(feature = "kube")]
pub(crate) use api::{InMemoryApi, Key, collection};
/// Without Kubernetes there are no other kinds.
#[cfg(not(feature = "kube"))]
#[derive(Debug, Default)]
pub(crate) struct InMemoryApi;
#[cfg(not(feature = "kube"))]
impl InMemoryApi {
    pub fn tried(_: &Arc<Trial>) -> Self {
        Self
    }
}
pub(crate) use fault::{Fault, FaultKind, with_fault};
pub use fixture::Fixture;
pub use memory::Handle;
pub(crate) use memory::{Hooks, Memory};
pub use object::{LocalObject, LocalStatus};
use trial::Rest;
pub(crate) use trial::{Access, Noted, Point, Trial};
use tried::{Process, Tried};

use crate::{
    actor::{Actor, Step},
    graph::StateId,
    machine::{Event, Machine, ManifestOf, Object as _, OwnCondition, SharedOf},
    status::{Condition, EntryId, ObjectStatus as _},
    world::World as _,
};
use jiff::Timestamp;
use std::{sync::Arc, time::Duration};
use tokio::time::{sleep, sleep_until};

/// If nothing has happened in this time, nothing will happen. On a paused clock, which jumps to the next timer when
/// every task waits, it passes at once.
pub(crate) const FOREVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// The maximum number of steps in one call: with a poll of a second, they last a day.
const MANY_STEPS: usize = 100_000;

/// The number of the last states that a failure lists.
const LISTED: usize = 20;

/// Drives one object through its machine, in memory, with the code that drives the objects of a cluster.
///
/// On tokio's paused clock (`#[tokio::test(start_paused = true)]`) no test waits for a poll, a backoff or a timeout.
///
/// ```
#[doc = include_str!("doc/website.txt")]
#[doc = include_str!("doc/publish.txt")]
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
/// let mut website = Local::<WebsiteMachine>::new(Website::default(), WebsiteMemory::default(), Arc::default());
///
/// website.run_until(|state| state == WebsiteMachine::Live).await;
/// website.run_until_idle().await;
/// let states: Vec<_> = website.trace().iter().map(|(at, state)| (at.as_secs(), *state)).collect();
/// assert_eq!(states, [(0, WebsiteMachine::Publish), (5, WebsiteMachine::Live)]);
/// assert_eq!(website.object_mut().unwrap().updates, 1);
///
/// website.handle().delete();
/// website.run().await;
/// assert!(website.is_over());
/// # });
/// ```
///
/// On a paused clock no method waits forever: if nothing can happen any more, because the object waits for an action
/// that the test does not take or its handler does not end, the method panics with the state of the object, the due
/// times, and the states that it has entered.
pub struct Local<M: Machine> {
    actor: Actor<'static, M>,
    world: Memory<M, Tried<M>>,
    trace: Vec<(Duration, M)>,
    /// Whether a step was taken. Before that, the first state of the trace counts as entered by the next step.
    began: bool,
    over: bool,
    /// Creates the memory of the next process; `None` if there is only one.
    process: Option<Process<M>>,
}

impl<M: Machine> Local<M> {
    /// An object as stored: a new one, or one with a status, which is resumed as after a restart of the operator.
    /// `object` and `shared` are the memory that its handlers use.
    pub fn new(manifest: ManifestOf<M>, object: M::ObjectState, shared: Arc<SharedOf<M>>) -> Self {
        Self::at(Timestamp::now(), manifest, object, shared)
    }

    /// Like [`new`](Self::new), at a point in time, by which gates open and schedules start. Time passes with tokio's
    /// clock.
    pub fn at(
        time: Timestamp,
        manifest: ManifestOf<M>,
        object: M::ObjectState,
        shared: Arc<SharedOf<M>>,
    ) -> Self {
        let world = Memory::new(
            manifest.clone(),
            Arc::default(),
            shared,
            M::GRAPH.finalizer,
            time,
            |outside| Tried {
                trial: None,
                outside: outside.clone(),
            },
        );
        Self::of(world, manifest, object)
    }

    fn of(world: Memory<M, Tried<M>>, manifest: ManifestOf<M>, object: M::ObjectState) -> Self {
        let actor = Actor::new(M::GRAPH, Arc::new(manifest), Some(object), world.now());
        let mut local = Self {
            actor,
            world,
            trace: Vec::new(),
            began: false,
            over: false,
            process: None,
        };
        local.record(None);
        local
    }

    /// A handle with which the test changes the object while its machine runs.
    pub fn handle(&self) -> Handle<M> {
        self.world.handle.clone()
    }
    /// The state of the object; `None` if the machine has no such state as the stored one.
    pub fn state(&self) -> Option<M> {
        self.actor.state()
    }
    /// The object as its machine saw it last.
    pub fn manifest(&self) -> Arc<ManifestOf<M>> {
        Arc::clone(self.actor.manifest())
    }
    /// A condition of the object, as stored; `None` before the machine has written it. The conditions Ready,
    /// Reconciling and Stalled are in the status of [`manifest`](Self::manifest).
    pub fn condition(&self, condition: impl OwnCondition<Machine = M>) -> Option<Condition> {
        let manifest = self.handle().stored()?;
        let mut conditions = manifest.status()?.machine().conditions.iter();
        conditions.find(|c| c.kind == condition.name()).cloned()
    }
    /// The memory of the object; `None` after the object is gone.
    pub fn object_mut(&mut self) -> Option<&mut M::ObjectState> {
        self.actor.object_mut()
    }
    /// The states that the object has entered, in order, each with the time since the start.
    pub fn trace(&self) -> &[(Duration, M)] {
        &self.trace
    }
    /// The events that were recorded.
    pub fn events(&self) -> Vec<Event> {
        self.world.events()
    }
    /// Whether the object is gone.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Runs the machine until the object is gone, however long that takes.
    ///
    /// # Panics
    ///
    /// On a paused clock, if the object is never gone; see [`run_until`](Self::run_until).
    pub async fn run(&mut self) {
        self.run_to(|_| false, || "still existed at the end".to_owned())
            .await;
    }

    /// Runs the machine until nothing is due now, or the object is gone. It does not wait for polls and timeouts.
    ///
    /// # Panics
    ///
    /// On a paused clock, if a handler does not end.
    pub async fn run_until_idle(&mut self) {
        let mut waits = 0;
        while let Some(wait) = self.step(&|| "never rested".to_owned()).await {
            let Some(until) = wait else { continue };
            if !self.is_behind(waits) || !self.wait(until).await {
                break;
            }
            waits += 1;
        }
        self.note_rest();
    }

    /// Runs the machine until the object enters a state for which `stop` is true, before the handler of that state
    /// runs, or until the object is gone, however long that takes. An object that has not taken a step enters the state
    /// in which it was created.
    ///
    /// # Panics
    ///
    /// On a paused clock, if the object does not get there: when nothing is due and the test does not change what the
    /// object waits for, when a handler does not end, and after 100,000 steps.
    pub async fn run_until(&mut self, stop: impl Fn(M) -> bool) {
        let missed = || {
            let states = (0..=u16::MAX).map_while(|id| M::from_id(StateId(id)));
            let names: Vec<String> = states
                .filter(|state| stop(*state))
                .map(|state| format!("`{}`", state.name()))
                .collect();
            format!("never reached {}", names.join(" or "))
        };
        self.run_to(&stop, missed).await;
    }

    /// `missed` describes what has not happened if the object does not get there.
    async fn run_to(&mut self, stop: impl Fn(M) -> bool, missed: impl Fn() -> String) {
        let arrived = |trace: &[(Duration, M)]| trace.iter().any(|(_, state)| stop(*state));
        if !self.began && arrived(&self.trace) {
            return;
        }
        let mut steps = 0;
        while steps < self.note_step() {
            steps += 1;
            let before = self.trace.len();
            let Some(wait) = self.step(&missed).await else {
                return;
            };
            if arrived(&self.trace[before..]) {
                return;
            }
            if let Some(until) = wait
                && !self.wait(until).await
            {
                self.give_up().await;
                let watch = self.state().map_or(&[][..], |state| state.policy().wait.watch);
                let wakes = match watch {
                    [] => String::new(),
                    watch => {
                        format!(" It would run if the test changed one of {watch:?} through `handle()`.")
                    }
                };
                let rests = format!("rests in {}, nothing is due, and it", self.name());
                panic!("{}", self.report(&rests, &missed(), &wakes));
            }
        }
        self.give_up().await;
        let circles = format!("took {steps} steps, is in {} with more due, and", self.name());
        panic!("{}", self.report(&circles, &missed(), ""));
    }

    /// Takes one step. Returns `None` if the object is gone, and `Some(Some(until))` if nothing is due before `until`.
    async fn step(&mut self, missed: &impl Fn() -> String) -> Option<Option<Option<Duration>>> {
        if self.over {
            return None;
        }
        self.began = true;
        let entry = self.actor.entry();
        let step = tokio::select! {
            biased;
            step = self.actor.step(&self.world, &self.world.handle.0.queue) => Some(step),
            () = Self::death(self.world.hooks.trial.as_ref()) => {
                Some(if self.restart() { Step::Again } else { Step::Over })
            }
            () = sleep(FOREVER) => None,
        };
        let Some(step) = step else {
            self.give_up().await;
            let hangs = format!(
                "is in {}, whose handler waits for something that never happens; nothing else is due, and it",
                self.name()
            );
            panic!("{}", self.report(&hangs, &missed(), ""));
        };
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

    /// Waits until a time, or for observations. Returns whether there is a reason for another step.
    async fn wait(&self, until: Option<Duration>) -> bool {
        let timer = async {
            match until {
                Some(until) => sleep_until(self.world.instant(until)).await,
                None => sleep(FOREVER).await,
            }
        };
        tokio::select! {
            () = self.world.handle.0.queue.arrived() => true,
            () = timer => until.is_some(),
        }
    }

    /// The name of the state for messages.
    fn name(&self) -> String {
        self.state().map_or_else(
            || "a state that the machine does not know".to_owned(),
            |state| format!("`{}`", state.name()),
        )
    }

    /// The message of a failing test: the place of the object, what has not happened, its status, and its path.
    fn report(&self, is: &str, missed: &str, hint: &str) -> String {
        let mut report = format!("the object {is} {missed}.{hint}");
        let status = self.actor.manifest().status().map(|status| status.machine());
        let message = status.and_then(|status| status.message.as_deref());
        if let Some(message) = message.filter(|message| !message.is_empty()) {
            report += &format!("\nIts status says: {message}");
        }
        report += "\nIt entered:";
        let left_out = self.trace.len().saturating_sub(LISTED);
        if left_out > 0 {
            report += &format!("\n    {left_out} states, and then");
        }
        for (at, state) in &self.trace[left_out..] {
            report += &format!("\n    {} after {at:?}", state.name());
        }
        report
    }

    fn record(&mut self, former: Option<EntryId>) {
        let entered = former != Some(self.actor.entry());
        if let Some(state) = self.state().filter(|_| entered) {
            self.trace.push((self.world.now().elapsed, state));
        }
    }
}
