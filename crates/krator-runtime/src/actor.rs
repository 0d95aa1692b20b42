//! Drives one object through its machine: the engine decides, the actor acts. The same code drives the objects of a
//! cluster and those of tests; they differ in their [`World`].
//!
//! Guarantees: the finalizer is set before the first handler runs; the status of a state with a checkpoint is written
//! before its handler runs; a handler never sees its object older than the operator's own last write; the operator's
//! own writes wake no handler.
mod annotations;
mod idle;
mod pruned;
mod run;
mod recorded;
mod writes;

use crate::{
    applied::Applied,
    engine::{Decision, Engine, Now, Place},
    graph::{Graph, Watch},
    machine::{Machine, ManifestOf, Object as _, ObjectState as _, RelatedObject, StatusOf},
    status::{EntryId, ObjectStatus as _},
    world::{Change, Queued, WorkQueue, World},
};
use annotations::{Annotations, Pause};
use pruned::Pruned;
use recorded::RecordedEvents;
use std::{sync::Arc, time::Duration};

/// The machine of one object, with the data that it keeps between runs.
///
/// The graph is a value: generated machines pass [`Machine::GRAPH`], tests may pass one that they built at run time.
///
/// `K` is the form in which the object is kept; an actor with a packed object has to be unpacked before it
/// acts.
pub(crate) struct Actor<'g, M: Machine, K = Arc<ManifestOf<M>>> {
    engine: Engine<'g>,
    manifest: K,
    retained: Retained<M>,
    /// The unwritten status of the last run. It is boxed because an object at rest has none.
    draft: Option<Box<StatusOf<M>>>,
    /// The engine before the run that made the draft, until the draft is accepted.
    before_draft: Option<Box<Engine<'g>>>,
    /// The last written status, if the server has stored only a part of it.
    pruned: Option<Box<Pruned<StatusOf<M>>>>,
    /// Consecutive requests that failed.
    failures: u32,
    annotations: Annotations,
    pause: Pause,
    /// Another client has written another entry, so the machine has to resume from the stored status.
    moved: bool,
    /// The object is gone, or the machine does not have to handle it any more.
    dropped: bool,
    /// The finalizer of a former description could not be removed. The removal is retried only when the
    /// object is deleted.
    kept_finalizer: bool,
    /// The generation for which the status says that the stored state is unknown.
    parked: Option<i64>,
    /// An observation may require a write.
    must_step: bool,
    /// Changes of other objects during a run. Only after the run is known which of them its handler caused.
    unjudged: Vec<Change>,
    /// The other objects that the last handler could read, kept as a cache until they change.
    found: Vec<RelatedObject>,
}

/// The memory of an actor that survives a resume from the stored status.
struct Retained<M: Machine> {
    /// The memory of the object's handlers.
    object: Option<M::ObjectState>,
    /// The children that handlers have applied; `None` if there are none, so that it takes no memory for kinds without
    /// children.
    applied: Option<Arc<Applied>>,
    /// The events that handlers have recorded in the current entry; `None` if there are none, because most handlers record
    /// no events.
    recorded: Option<Box<RecordedEvents>>,
}

/// The continuation after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Take another step at once.
    Again,
    /// Do nothing before this time ([`Now::elapsed`]), or before an observation arrives.
    Wait(Option<Duration>),
    /// Stop: the object is gone, or the machine does not have to handle it any more.
    Over,
}

impl<'g, M: Machine> Actor<'g, M> {
    /// An actor for a stored object. `object` is the object's memory; without it, the world makes one before
    /// the first run.
    pub fn new(
        graph: &'g Graph<'g>,
        manifest: Arc<ManifestOf<M>>,
        object: Option<M::ObjectState>,
        now: Now,
    ) -> Self {
        let stored = manifest.status().map(|s| s.machine());
        let field_values = M::field_values(&manifest, manifest.status());
        let mut engine = Engine::new(graph, stored, manifest.generation(), field_values, now);
        engine.found_spec(stored, M::spec_digest(&manifest), M::spec_digests(&manifest));
        if manifest.deleting() {
            engine.saw_deletion();
        }
        let mut actor = Self {
            engine,
            manifest,
            retained: Retained {
                object,
                applied: None,
                recorded: None,
            },
            draft: None,
            before_draft: None,
            pruned: None,
            failures: 0,
            annotations: Annotations::default(),
            pause: Pause::No,
            moved: false,
            dropped: false,
            kept_finalizer: false,
            parked: None,
            must_step: false,
            unjudged: Vec::new(),
            found: Vec::new(),
        };
        actor.read_annotations();
        if actor.annotations.paused {
            actor.pause = Pause::Holds;
        }
        actor
    }

    /// Resumes from the stored status, as after a restart.
    fn restart(&mut self, now: Now) {
        let moves = self.engine.take_moves();
        let next = Self::new(self.graph(), Arc::clone(&self.manifest), None, now);
        let former = std::mem::replace(self, next);
        (self.retained, self.annotations) = (former.retained, former.annotations);
        let stored = self.manifest.status().and_then(|status| status.machine().entry);
        self.engine.keep_moves(moves, stored);
        self.engine.keep_pace(&former.engine, now);
    }

    /// Whether the machine has to handle the object. An object that is being deleted without the machine's
    /// finalizer is ignored.
    pub fn is_responsible_for(graph: &Graph<'_>, manifest: &ManifestOf<M>) -> bool {
        !manifest.deleting() || manifest.has_finalizer(graph.finalizer)
    }

    pub fn state(&self) -> Option<M> {
        self.engine.at().and_then(M::from_id)
    }
    pub fn entry(&self) -> EntryId {
        self.engine.entry()
    }
    pub fn object_mut(&mut self) -> Option<&mut M::ObjectState> {
        self.retained.object.as_mut()
    }
    /// Whether a handler or a request has failed and is to be tried again.
    pub fn is_failing(&self) -> bool {
        self.failures > 0 || self.engine.attempt() > 1
    }
    fn graph(&self) -> &'g Graph<'g> {
        self.engine.graph()
    }

    /// Processes observations while no handler runs, and returns the next step.
    pub fn receive(&mut self, queued: Queued<ManifestOf<M>>, now: Now) -> Step {
        self.read(queued, now);
        self.judge_changes(now);
        if self.dropped {
            return Step::Over;
        }
        if std::mem::take(&mut self.moved) {
            self.restart(now);
        }
        if self.annotations.paused || self.pause != Pause::No {
            return if self.rests_paused() && self.failures == 0 {
                Step::Wait(None)
            } else {
                Step::Again
            };
        }
        match self.engine.rests_until(now) {
            // A failed request has to be repeated, and its backoff is the only known time for that.
            Some(until) if !self.must_step && self.failures == 0 => Step::Wait(until),
            _ => Step::Again,
        }
    }

    /// Takes the next action that is due.
    pub async fn step<W: World<M>>(&mut self, world: &W, queue: &WorkQueue<ManifestOf<M>>) -> Step {
        if self.graph().limits.is_empty() {
            return self.next(world, queue).await;
        }
        let had_turn = self.claim_places(world);
        match self.next(world, queue).await {
            Step::Over => Step::Over,
            // The place was granted during this step.
            Step::Wait(_) if self.claim_places(world) && !had_turn => Step::Again,
            step => step,
        }
    }

    /// Reports to the ledger which places the object holds and needs, if the kind has limits. Returns whether
    /// the needed places are granted.
    pub fn claim_places<W: World<M>>(&mut self, world: &W) -> bool {
        if self.graph().limits.is_empty() {
            return false;
        }
        let stored = self.manifest.status().map(|status| status.machine());
        let is_stored = stored.is_some_and(|stored| stored.entry == Some(self.engine.entry()));
        let mut claim = self.engine.claim(stored, world.now());
        if self.annotations.paused || self.failures > 0 {
            claim.wish = None;
        }
        let has_turn = world.claim(&self.manifest, claim, self.failures > 0 && !is_stored);
        self.engine.grant(has_turn);
        has_turn
    }

    async fn next<W: World<M>>(&mut self, world: &W, queue: &WorkQueue<ManifestOf<M>>) -> Step {
        let queued = queue.take();
        let stop = queued.stop;
        if self.receive(queued, world.now()) == Step::Over {
            return self.over(world).await;
        }
        self.must_step = false;
        if self.annotations.paused {
            return self.hold(world).await;
        }
        match std::mem::replace(&mut self.pause, Pause::No) {
            Pause::No => {}
            // Some results are unwritten, so the machine continues as if there had been no pause.
            Pause::Begins => self.engine.set_pausing(false),
            Pause::Holds => self.restart(world.now()),
        }
        self.report_missed(world);
        self.report_long_request(world);
        self.report_failed_conversions(world);
        if let Some(step) = self.release(world).await {
            return step;
        }
        match self.engine.decide(world.now()) {
            Decision::Entered => Step::Again,
            Decision::Wait(_)
                if self.engine.at().is_none() && self.parked != Some(self.manifest.generation()) =>
            {
                self.park(world).await
            }
            Decision::Wait(until) => {
                // Without a handler no run sets the finalizer, so it is set here.
                let is_written = self.engine.policy().is_none_or(|policy| policy.written);
                if !is_written && let Some(step) = self.claim(world).await {
                    return step;
                }
                self.save_and(world, Step::Wait(until)).await
            }
            // No state is stored before the finalizer is set, so the next process sets it.
            Decision::Run if stop && !self.is_claimed() => Step::Wait(None),
            Decision::Run if stop => self.save_and(world, Step::Wait(None)).await,
            Decision::Run => self.run(world, queue).await,
            Decision::Finish => self.finish(world).await,
        }
    }

    /// Releases the memory of the object.
    pub async fn over<W: World<M>>(&mut self, world: &W) -> Step {
        self.engine
            .abandon()
            .into_iter()
            .for_each(|ended| world.measured(ended));
        if let Some(object) = self.retained.object.take() {
            object.async_drop(world.shared()).await;
        }
        Step::Over
    }

    /// Processes observations. Returns whether a running handler has to be dropped.
    fn read(&mut self, queued: Queued<ManifestOf<M>>, now: Now) -> bool {
        let mut interrupt = queued.gone;
        self.dropped |= queued.gone;
        if let Some(observed) = queued.object
            && observed.version > self.manifest.version()
            && let Some(object) = observed.decode()
        {
            interrupt |= self.absorb(object, now);
        }
        self.unjudged.extend(queued.changes);
        #[cfg(feature = "kube")]
        {
            self.must_step |= queued.has_turn;
        }
        #[cfg(feature = "dev")]
        if let Some(to) = queued.by_hand.filter(|_| !self.annotations.paused) {
            self.must_step |= self.engine.take_by_hand(to, now);
        }
        interrupt
    }

    /// Reports to the engine the changes of other objects that the handlers of this object did not cause.
    fn judge_changes(&mut self, now: Now) {
        for change in std::mem::take(&mut self.unjudged) {
            let delay = match (&change.child, &self.retained.applied) {
                (Some((child, version)), Some(applied)) => {
                    applied.reaction_delay(child, *version, now.random)
                }
                _ => Some(Duration::ZERO),
            };
            if let Some(delay) = delay {
                self.engine.saw_change(&change.names, delay, now);
            }
        }
    }

    /// Processes an observed version of the object. Returns whether a running handler has to be dropped.
    fn absorb(&mut self, observed: Arc<ManifestOf<M>>, now: Now) -> bool {
        if observed.uid() != self.manifest.uid() {
            self.dropped = true;
            return true;
        }
        if observed.version() <= self.manifest.version() {
            return false;
        }
        let entry = |m: &ManifestOf<M>| m.status().and_then(|s| s.machine().entry);
        let observed_entry = entry(&observed);
        let is_this_stay = observed_entry == Some(self.engine.entry());
        // An unstored entry is invalid if another operator has handled an edit in the stay before it, because
        // the decision to enter was made without that edit.
        let is_outrun = || {
            observed
                .status()
                .is_some_and(|status| self.engine.is_behind(status.machine()))
        };
        let moved = !is_this_stay && (observed_entry != entry(&self.manifest) || is_outrun());
        let changed = !observed.same_labels(&self.manifest) || observed.status() != self.manifest.status();
        let deleted = observed.deleting() && !self.manifest.deleting();
        self.forget_pruned(&observed);
        self.must_step |= deleted;
        self.manifest = observed;
        self.see_status(now);
        let places = self.places();
        self.must_step |= self.look();
        // A grant is void if the fields that limits count by, or the stored ask, have changed.
        let status = self.manifest.status();
        let has_lost_grant =
            || status.is_some_and(|status| self.engine.has_lost_grant(status.machine(), now));
        let moved = moved || !is_this_stay && (self.places() != places || has_lost_grant());
        if changed {
            self.engine.saw_change(&[Watch::Itself], Duration::ZERO, now);
        }
        self.moved |= moved;
        self.dropped |= !Self::is_responsible_for(self.graph(), &self.manifest);
        moved | self.dropped | (deleted && self.engine.saw_deletion())
    }

    /// The places that the object holds in its state.
    fn places(&self) -> Vec<Place> {
        let at = self.engine.at();
        at.map_or_else(Vec::new, |at| self.engine.places_in(at))
    }

    /// Takes over the stored status, if it is of this stay.
    fn see_status(&mut self, now: Now) {
        if let Some(stored) = self.manifest.status().map(|status| status.machine())
            && stored.entry == Some(self.engine.entry())
        {
            self.engine.saw_others_status(stored, now);
        }
    }

    /// Reads the object, except for its deletion. Returns whether the spec has changed.
    fn look(&mut self) -> bool {
        let manifest = &self.manifest;
        let digests = || M::spec_digests(manifest);
        let changed = self
            .engine
            .saw_spec(manifest.generation(), M::spec_digest(manifest), digests);
        self.read_annotations();
        let values = M::field_values(&self.manifest, self.manifest.status());
        self.engine.saw_field_values(values);
        changed
    }

    /// Takes over the object from the answer to a write of this actor.
    fn absorb_own(&mut self, stored: Arc<ManifestOf<M>>) {
        self.failures = 0;
        self.forget_pruned(&stored);
        self.manifest = stored;
        self.look_again();
    }

    /// Reads all of the object again.
    fn look_again(&mut self) {
        self.look();
        if self.manifest.deleting() {
            self.engine.saw_deletion();
        }
    }
}
