//! The world of one object in memory, and the handle with which a test acts on it from outside.
use super::InMemoryApi;
use crate::{
    engine::{Claim, Moved, Now, Place},
    error::Result,
    graph::{StateId, Watch},
    lock::Lock as _,
    machine::{Edit, Event, Machine, ManifestOf, Object as _, SharedOf, StatusOf},
    spec_digest::{STEP, mixed},
    status::{Condition, ObjectStatus as _},
    world::{Change, RunEnd, WorkQueue, World, WriteError},
};
use jiff::Timestamp;
use std::{
    any::{Any, type_name},
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::time::Instant;

/// Changes an object in memory from outside of its machine; see [`Local::handle`](crate::Local::handle).
///
/// ```
#[doc = include_str!("../doc/website.txt")]
#[doc = include_str!("../doc/publish.txt")]
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
/// let mut website = Local::<WebsiteMachine>::new(Website::default(), WebsiteMemory::default(), Arc::default());
/// website.run_until(|state| state == WebsiteMachine::Live).await;
///
/// // As `kubectl edit` would do it: the generation increases, and the state reacts as its `onSpecChange` says.
/// website.handle().update_spec(|website| website.spec.replicas = 4);
/// website.run_until_idle().await;
/// let status = website.manifest().status.clone().unwrap();
/// assert_eq!(status.machine.observed_generation, Some(1));
/// # });
/// ```
pub struct Handle<M: Machine>(pub(crate) Arc<Outside<M>>);

/// The state that a machine in memory shares with the test.
pub(crate) struct Outside<M: Machine> {
    /// The object as stored; `None` after it is gone.
    stored: Mutex<Option<Arc<ManifestOf<M>>>>,
    /// The finalizer that holds a deleted object.
    finalizer: String,
    pub queue: WorkQueue<ManifestOf<M>>,
    pub others: Arc<InMemoryApi>,
    /// The limits without a free place.
    full: Mutex<BTreeSet<String>>,
}

impl<M: Machine> Clone for Handle<M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<M: Machine> Handle<M> {
    fn new(object: ManifestOf<M>, others: Arc<InMemoryApi>, finalizer: &str) -> Self {
        Self(Arc::new(Outside {
            stored: Mutex::new(Some(Arc::new(object))),
            finalizer: finalizer.to_owned(),
            queue: WorkQueue::default(),
            others,
            full: Mutex::default(),
        }))
    }
    /// Changes the object as another client would, for example its labels or its status. To change the spec use
    /// [`update_spec`](Self::update_spec). Nothing happens if the object is gone.
    pub fn update(&self, change: impl FnOnce(&mut ManifestOf<M>)) {
        if let Some(object) = self.update_unseen(change) {
            self.0.queue.push(|queued| queued.object = Some(object.into()));
        }
    }
    /// Changes the object without notifying its machine. `None` if the object is gone before or after the change.
    pub(crate) fn update_unseen(
        &self,
        change: impl FnOnce(&mut ManifestOf<M>),
    ) -> Option<Arc<ManifestOf<M>>> {
        let mut stored = self.0.stored.locked();
        let mut object = ManifestOf::<M>::clone(stored.as_ref()?);
        change(&mut object);
        object.edit(Edit::Version(object.version() + 1));
        let object = Arc::new(object);
        // An object that is being deleted is gone when it has no finalizer.
        let goes = object.deleting() && !object.has_finalizer(&self.0.finalizer);
        *stored = (!goes).then(|| Arc::clone(&object));
        Some(object)
    }
    /// The object as stored; `None` if it is gone.
    pub(crate) fn stored(&self) -> Option<Arc<ManifestOf<M>>> {
        self.0.stored.locked().clone()
    }
    /// Changes the object and increments its generation, as the API server does when the spec changes.
    pub fn update_spec(&self, change: impl FnOnce(&mut ManifestOf<M>)) {
        self.update(|object| {
            change(object);
            object.edit(Edit::Generation(object.generation() + 1));
        });
    }
    /// Deletes the object. It is gone at once, or when its machine has removed the finalizer.
    pub fn delete(&self) {
        self.update_spec(|object| object.edit(Edit::Delete));
        if self.stored().is_none() {
            self.0.queue.push(|queued| queued.gone = true);
        }
    }
    /// Other objects take all places of a limit until [`free`](Self::free) is called, so that the object has to wait.
    ///
    /// # Panics
    ///
    /// If the machine has no such limit.
    pub fn fill(&self, limit: &str) {
        let limits: Vec<&str> = M::GRAPH.limits.iter().map(|limit| limit.name).collect();
        assert!(
            limits.contains(&limit),
            "there is no limit `{limit}`, only {limits:?}"
        );
        self.0.full.locked().insert(limit.to_owned());
    }
    /// Frees the places of a limit.
    pub fn free(&self, limit: &str) {
        self.0.full.locked().remove(limit);
        self.0.queue.push(|_| ());
    }
    /// Approves the ask of the object, as `krator approve` does.
    ///
    /// # Panics
    ///
    /// If the object has no ask that needs an approval.
    pub fn approve(&self) {
        let stored = self.stored();
        let status = stored.as_ref().and_then(|stored| stored.status());
        let ask = status.and_then(|status| status.machine().ask.as_ref());
        let id = ask.and_then(|ask| ask.id.as_deref());
        let id = id.expect("the object asks for nothing that needs an approval");
        let name = format!("{}/approve", M::GRAPH.group());
        self.update(|object| object.edit(Edit::Annotation(&name, &format!("{id} by tester"))));
    }
    /// Notifies the machine that an owned or watched object has changed, so that a handler that waits for `what` runs.
    pub fn changed(&self, what: Watch) {
        let change = Change {
            names: vec![what],
            child: None,
        };
        self.0.queue.push(|queued| queued.changes.push(change));
    }
}

/// Observes a world in memory and injects faults into its writes, for tests of the runtime.
pub(crate) trait Hooks<M: Machine>: Send + Sync {
    /// Writes this part of the object, or injects a fault.
    fn write<T: Send>(
        &self,
        what: &'static str,
        write: impl FnOnce() -> Result<T, WriteError> + Send,
    ) -> impl Future<Output = Result<T, WriteError>> + Send;
    /// Creates the memory of an object that has none.
    fn initialize(&self) -> Result<M::ObjectState>;
    /// Whether the other objects leave a place for the object in the state that it asks for.
    fn has_place(&self) -> bool {
        true
    }
    /// Notified of an entry into a state.
    fn moved(&self, _: &Moved<'_>) {}
    /// Notified of the end of a run of a handler.
    fn ran(&self, _: StateId, _: &RunEnd) {}
}

/// A world of one object.
pub(crate) struct Memory<M: Machine, H> {
    pub handle: Handle<M>,
    pub hooks: H,
    shared: Arc<SharedOf<M>>,
    origin: Instant,
    began: Timestamp,
    /// The state of the random number generator.
    drawn: Mutex<u64>,
    events: Mutex<Vec<Event>>,
}

impl<M: Machine, H: Hooks<M>> Memory<M, H> {
    /// A world with this object, at this time. A deleted object is gone when it does not have the finalizer.
    pub fn new(
        object: ManifestOf<M>,
        others: Arc<InMemoryApi>,
        shared: Arc<SharedOf<M>>,
        finalizer: &str,
        began: Timestamp,
        hooks: impl FnOnce(&Handle<M>) -> H,
    ) -> Self {
        let handle = Handle::new(object, others, finalizer);
        Self {
            hooks: hooks(&handle),
            handle,
            shared,
            origin: Instant::now(),
            began,
            drawn: Mutex::new(0),
            events: Mutex::default(),
        }
    }

    /// The same world with other random numbers.
    pub fn seeded(mut self, seed: u64) -> Self {
        self.drawn = Mutex::new(seed);
        self
    }

    /// Starts another process with this shared state.
    pub fn share(&mut self, shared: Arc<SharedOf<M>>) {
        self.shared = shared;
    }

    pub fn events(&self) -> Vec<Event> {
        self.events.locked().clone()
    }

    async fn write(
        &self,
        what: &'static str,
        known: &ManifestOf<M>,
        change: impl FnOnce(&mut ManifestOf<M>) + Send,
    ) -> Result<Arc<ManifestOf<M>>, WriteError> {
        let write = || match self.handle.stored().map(|object| object.version()) {
            None => Err(WriteError::Gone),
            Some(version) if version != known.version() => Err(WriteError::Conflict),
            Some(_) => self.handle.update_unseen(change).ok_or(WriteError::Gone),
        };
        self.hooks.write(what, write).await
    }
}

impl<M: Machine, H: Hooks<M>> World<M> for Memory<M, H> {
    fn now(&self) -> Now {
        let elapsed = self.origin.elapsed();
        let mut drawn = self.drawn.locked();
        // SplitMix64 from a fixed seed: every run of a test draws the same numbers.
        *drawn = drawn.wrapping_add(STEP);
        Now {
            elapsed,
            time: self.began + elapsed,
            random: mixed(*drawn),
            leader: 0,
        }
    }
    fn instant(&self, elapsed: Duration) -> Instant {
        self.origin + elapsed
    }
    fn shared(&self) -> &Arc<SharedOf<M>> {
        &self.shared
    }
    async fn initialize(&self, _: &ManifestOf<M>) -> Result<M::ObjectState> {
        self.hooks.initialize()
    }
    async fn write_status(
        &self,
        manifest: &ManifestOf<M>,
        status: &StatusOf<M>,
    ) -> Result<Arc<ManifestOf<M>>, WriteError> {
        self.write("the status", manifest, |object| {
            object.edit(Edit::Status(status.clone()));
        })
        .await
    }
    async fn write_condition(
        &self,
        manifest: &ManifestOf<M>,
        condition: &Condition,
    ) -> Result<Arc<ManifestOf<M>>, WriteError> {
        self.write("a condition", manifest, |object| {
            let mut status = object.status().cloned().unwrap_or_default();
            let conditions = &mut status.machine_mut().conditions;
            conditions.retain(|known| known.kind != condition.kind);
            conditions.push(condition.clone());
            object.edit(Edit::Status(status));
        })
        .await
    }
    async fn set_finalizer(
        &self,
        manifest: &ManifestOf<M>,
        finalizer: &str,
        present: bool,
    ) -> Result<Arc<ManifestOf<M>>, WriteError> {
        self.write("the finalizer", manifest, |object| {
            object.edit(Edit::Finalizer(finalizer, present))
        })
        .await
    }
    #[cfg(feature = "kube")]
    async fn end_children(&self, manifest: &ManifestOf<M>) -> Result<()> {
        let owner = (manifest.name(), manifest.uid());
        for child in self.handle.0.others.end_children(M::GRAPH.finalizer, owner) {
            self.publish(manifest, Event::released(&child));
        }
        Ok(())
    }
    async fn delete(&self, _: &ManifestOf<M>) -> Result<(), WriteError> {
        let delete = || {
            self.handle.delete();
            Ok(())
        };
        self.hooks.write("its own deletion", delete).await
    }
    async fn read(&self, _: &ManifestOf<M>) -> Result<Option<Arc<ManifestOf<M>>>> {
        Ok(self.handle.stored())
    }
    fn kind(&self) -> &str {
        let path = type_name::<ManifestOf<M>>();
        path.rsplit("::").next().unwrap_or(path)
    }
    fn claim(&self, _: &ManifestOf<M>, claim: Claim, _: bool) -> bool {
        let full = self.handle.0.full.locked();
        let is_free = |place: &Place| {
            let limit = M::GRAPH.limits.get(usize::from(place.limit));
            limit.is_none_or(|limit| !full.contains(limit.name))
        };
        let wish = claim.wish;
        wish.is_some_and(|wish| wish.places.iter().all(is_free) && self.hooks.has_place())
    }
    fn moved(&self, _: &ManifestOf<M>, moved: &Moved<'_>) {
        self.hooks.moved(moved);
    }
    fn ran(&self, state: StateId, _: Option<Duration>, end: RunEnd) {
        self.hooks.ran(state, &end);
    }
    fn publish(&self, _: &ManifestOf<M>, event: Event) {
        self.events.locked().push(event);
    }
    fn backend(&self) -> &(dyn Any + Send + Sync) {
        &self.handle.0.others
    }
}
