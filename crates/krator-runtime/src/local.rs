//! A machine without Kubernetes: one object, in memory, on tokio's clock, which a test may pause.
use crate::{
    Context, Edit, Error, Event, Machine, Manifest, ManifestOf, Node, Object as _, Result, SharedOf, State,
    StatusOf, Transition, Watch,
    actor::{Actor, Step},
    context::Run,
    engine::Now,
    world::{Change, Mailbox, World, WriteError},
};
use jiff::Timestamp;
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

/// Drives one object through its machine, with the same code that drives those of a cluster.
pub struct Local<M: Machine> {
    actor: Actor<M>,
    world: Memory<M>,
    trace: Vec<(Duration, M)>,
    over: bool,
}

/// The world, as the object's machine hears of it.
pub struct Handle<M: Machine> {
    stored: Stored<M>,
    pub(crate) mailbox: Arc<Mailbox<ManifestOf<M>>>,
    #[cfg(feature = "kube")]
    pub(crate) others: Arc<crate::cluster::Others>,
}

type Stored<M> = Arc<Mutex<Option<Arc<ManifestOf<M>>>>>;

impl<M: Machine> Clone for Handle<M> {
    fn clone(&self) -> Self {
        Self {
            stored: Arc::clone(&self.stored),
            mailbox: Arc::clone(&self.mailbox),
            #[cfg(feature = "kube")]
            others: Arc::clone(&self.others),
        }
    }
}

impl<M: Machine> Handle<M> {
    /// Changes the object as somebody else would; its spec too if `generation` is to move.
    pub fn update(&self, change: impl FnOnce(&mut ManifestOf<M>)) {
        if let Some(object) = self.update_unseen(change) {
            self.mailbox.post(|mail| mail.object = Some(object.into()));
        }
    }
    /// The same, before anybody hears of it; `None` when there is no object any more.
    pub(crate) fn update_unseen(
        &self,
        change: impl FnOnce(&mut ManifestOf<M>),
    ) -> Option<Arc<ManifestOf<M>>> {
        let mut stored = locked(&self.stored);
        let mut object = ManifestOf::<M>::clone(stored.as_ref()?);
        change(&mut object);
        object.edit(Edit::Version(object.version() + 1));
        let object = Arc::new(object);
        // One that is being deleted goes when nothing holds it.
        let goes = object.deleting() && !object.has_finalizer(M::GRAPH.finalizer());
        *stored = (!goes).then(|| Arc::clone(&object));
        Some(object)
    }
    /// The object as stored; `None` when there is none any more.
    pub(crate) fn stored(&self) -> Option<Arc<ManifestOf<M>>> {
        locked(&self.stored).clone()
    }
    /// Changes the spec: what `change` does, as a new generation.
    pub fn update_spec(&self, change: impl FnOnce(&mut ManifestOf<M>)) {
        self.update(|object| {
            change(object);
            object.edit(Edit::Generation(object.generation() + 1));
        });
    }
    /// Deletes the object: at once, or when its machine has let it go.
    pub fn delete(&self) {
        self.update_spec(|object| object.edit(Edit::Delete));
        if self.stored().is_none() {
            self.mailbox.post(|mail| mail.gone = true);
        }
    }
    /// An owned or watched object has changed.
    pub fn changed(&self, what: Watch) {
        let change = Change {
            names: vec![what],
            child: None,
        };
        self.mailbox.post(|mail| mail.changes.push(change));
    }
}

fn locked<T>(stored: &Mutex<T>) -> MutexGuard<'_, T> {
    stored.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<M: Machine> Local<M> {
    /// An object as stored: a new one, or one with a status from an earlier life.
    pub fn new(manifest: ManifestOf<M>, object: M::ObjectState, shared: Arc<SharedOf<M>>) -> Self {
        let world = Memory::<M>::new(manifest.clone(), shared);
        let actor = Actor::new(Arc::new(manifest), Some(object), world.now());
        let mut local = Self {
            actor,
            world,
            trace: Vec::new(),
            over: false,
        };
        local.record(None);
        local
    }

    /// A way to change the object from elsewhere.
    pub fn handle(&self) -> Handle<M> {
        self.world.handle.clone()
    }
    /// Where the object is; `None` while its stored state is none of this machine's.
    pub fn state(&self) -> Option<M> {
        self.actor.state()
    }
    /// The object as stored last.
    pub fn manifest(&self) -> Arc<ManifestOf<M>> {
        Arc::clone(self.actor.manifest())
    }
    /// What the object carries in memory; `None` once it is gone.
    pub fn object_mut(&mut self) -> Option<&mut M::ObjectState> {
        self.actor.object_mut()
    }
    /// States in order of entry, with the time since the start.
    pub fn trace(&self) -> &[(Duration, M)] {
        &self.trace
    }
    /// Events so far.
    pub fn events(&self) -> Vec<Event> {
        locked(&self.world.events).clone()
    }
    /// Whether the object is gone.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Until the object is gone.
    pub async fn run(&mut self) {
        self.run_until(|_| false).await;
    }

    /// Until nothing is due before something from outside, or the object is gone.
    pub async fn run_until_idle(&mut self) {
        while let Some(None) = self.step().await {}
    }

    /// Until the object has come into a state that `stop` names (before its handler runs), or is gone. Waits as
    /// long as it takes.
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

    /// One step: `Some(Some(_))` says until when there is nothing to do, `None` that the object is gone.
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
                Some(until) => sleep_until(self.world.origin + until).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.world.handle.mailbox.arrived() => {}
            () = timer => {}
        }
    }

    fn record(&mut self, former: Option<String>) {
        let entered = former.is_none_or(|former| former != self.actor.entry());
        if let Some(state) = self.state().filter(|_| entered) {
            self.trace.push((self.world.now().elapsed, state));
        }
    }
}

/// A world of one object.
pub(crate) struct Memory<M: Machine> {
    pub handle: Handle<M>,
    shared: Arc<SharedOf<M>>,
    origin: Instant,
    began: Timestamp,
    drawn: Mutex<u64>,
    events: Mutex<Vec<Event>>,
}

impl<M: Machine> Memory<M> {
    pub fn new(object: ManifestOf<M>, shared: Arc<SharedOf<M>>) -> Self {
        Self {
            handle: Handle {
                stored: Arc::new(Mutex::new(Some(Arc::new(object)))),
                mailbox: Arc::default(),
                #[cfg(feature = "kube")]
                others: Arc::default(),
            },
            shared,
            origin: Instant::now(),
            began: Timestamp::now(),
            drawn: Mutex::new(0),
            events: Mutex::default(),
        }
    }

    fn write(
        &self,
        seen: &ManifestOf<M>,
        change: impl FnOnce(&mut ManifestOf<M>),
    ) -> Result<Arc<ManifestOf<M>>, WriteError> {
        match self.handle.stored().map(|object| object.version()) {
            None => Err(WriteError::Gone),
            Some(version) if version != seen.version() => Err(WriteError::Conflict),
            Some(_) => self.handle.update_unseen(change).ok_or(WriteError::Gone),
        }
    }
}

impl<M: Machine> World<M> for Memory<M> {
    fn now(&self) -> Now {
        let elapsed = self.origin.elapsed();
        let mut drawn = locked(&self.drawn);
        // SplitMix64: the same numbers in every run of a test.
        *drawn = drawn.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut random = *drawn;
        random = (random ^ (random >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        random = (random ^ (random >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Now {
            elapsed,
            time: self.began + elapsed,
            random: random ^ (random >> 31),
        }
    }
    fn origin(&self) -> Instant {
        self.origin
    }
    fn shared(&self) -> &Arc<SharedOf<M>> {
        &self.shared
    }
    async fn initialize(&self, _: &ManifestOf<M>) -> Result<M::ObjectState> {
        Err(Error::permanent("an object in memory comes with its state"))
    }
    async fn write_status(
        &self,
        manifest: &ManifestOf<M>,
        status: &StatusOf<M>,
    ) -> Result<Arc<ManifestOf<M>>, WriteError> {
        self.write(manifest, |object| object.edit(Edit::Status(status.clone())))
    }
    async fn set_finalizer(
        &self,
        manifest: &ManifestOf<M>,
        present: bool,
    ) -> Result<Arc<ManifestOf<M>>, WriteError> {
        self.write(manifest, |object| {
            object.edit(Edit::Finalizer(M::GRAPH.finalizer(), present))
        })
    }
    async fn delete(&self, _: &ManifestOf<M>) -> Result<(), WriteError> {
        self.handle.delete();
        Ok(())
    }
    async fn read(&self, _: &ManifestOf<M>) -> Result<Option<Arc<ManifestOf<M>>>> {
        Ok(self.handle.stored())
    }
    fn publish(&self, _: &ManifestOf<M>, event: Event) {
        locked(&self.events).push(event);
    }
    #[cfg(feature = "kube")]
    fn around(&self) -> crate::cluster::Around<'_, M> {
        crate::cluster::Around::Memory(&self.handle.others)
    }
}

/// One handler at a time, for unit tests: no clock, no cluster.
pub struct Fixture<M: Machine> {
    /// What the object carries in memory.
    pub object: M::ObjectState,
    /// What all objects share.
    pub shared: Arc<SharedOf<M>>,
    /// Your fields of `.status`.
    pub status: StatusOf<M>,
    /// What the handler said last.
    pub message: Option<String>,
    manifest: watch::Sender<Arc<ManifestOf<M>>>,
    events: Mutex<Vec<Event>>,
    run: Run,
    #[cfg(feature = "kube")]
    applied: Arc<crate::applied::Applied>,
    #[cfg(feature = "kube")]
    pub(crate) others: Arc<crate::cluster::Others>,
}

impl<M: Machine> Fixture<M> {
    /// The first run of a handler, on this object.
    pub fn new(manifest: ManifestOf<M>, object: M::ObjectState, shared: Arc<SharedOf<M>>) -> Self {
        let status = manifest.status().cloned().unwrap_or_default();
        Self {
            object,
            shared,
            status,
            message: None,
            manifest: watch::channel(Arc::new(manifest)).0,
            events: Mutex::default(),
            run: Run {
                first: true,
                attempt: 1,
                in_state_for: Duration::ZERO,
                entry: "0000000000000000".to_owned(),
                deleting: false,
            },
            #[cfg(feature = "kube")]
            applied: Arc::default(),
            #[cfg(feature = "kube")]
            others: Arc::default(),
        }
    }
    /// As the `attempt`th try.
    #[must_use]
    pub fn attempt(mut self, attempt: u32) -> Self {
        self.run.attempt = attempt;
        self
    }
    /// As a later run, after this time in the state.
    #[must_use]
    pub fn later(mut self, after: Duration) -> Self {
        (self.run.first, self.run.in_state_for) = (false, after);
        self
    }
    /// As on an object that is being deleted.
    #[must_use]
    pub fn deleting(mut self) -> Self {
        self.run.deleting = true;
        self
    }
    /// Another version of the object.
    pub fn update(&self, manifest: ManifestOf<M>) {
        self.manifest.send_replace(Arc::new(manifest));
    }
    /// Events so far.
    pub fn events(&self) -> Vec<Event> {
        locked(&self.events).clone()
    }

    /// Runs the handler of `state` once.
    pub async fn next<S: State + Node<Machine = M>>(&mut self, state: S) -> Result<Transition<S>> {
        let manifest = Manifest(self.manifest.subscribe());
        let events = |event| locked(&self.events).push(event);
        let mut cx = Context {
            object: &mut self.object,
            shared: &self.shared,
            status: &mut self.status,
            manifest: &manifest,
            message: &mut self.message,
            conditions: &mut Vec::new(),
            events: &events,
            run: &self.run,
            saves: None,
            #[cfg(feature = "kube")]
            applied: &self.applied,
            #[cfg(feature = "kube")]
            around: crate::cluster::Around::Memory(&self.others),
        };
        state.next(&mut cx).await
    }
}
