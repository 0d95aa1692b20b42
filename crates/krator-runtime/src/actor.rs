//! One object on its way through the machine: the engine decides, the actor does. The same code drives objects of
//! a cluster and those of a test; what differs is the [`World`].
//!
//! Guarantees: the finalizer is set before the first handler runs; a state that checkpoints is written before its
//! handler runs; a handler never sees its object older than the operator's own last write; the operator's own
//! writes wake nothing.
mod writes;

use crate::{
    Context, Error, Event, Machine, Manifest, ManifestOf, Object as _, ObjectState as _, ObjectStatus as _,
    StatusOf, Watch,
    applied::Applied,
    context::{Run, Saves},
    engine::{Do, Engine, Now, Outcome},
    world::{Change, Mail, Mailbox, World},
};
use futures::FutureExt as _;
use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

/// What one object needs between its runs.
pub(crate) struct Actor<M: Machine> {
    engine: Engine,
    manifest: Arc<ManifestOf<M>>,
    object: Option<M::ObjectState>,
    /// The user's fields as a handler left them, until they are written.
    draft: Option<StatusOf<M>>,
    /// The machine as it was before a run that changed the user's fields, until these are accepted.
    before_draft: Option<Box<Engine>>,
    /// Requests in a row that failed.
    failures: u32,
    /// Somebody else has written another entry: go on from what is stored.
    moved: bool,
    dropped: bool,
    /// A finalizer of a description that had a deletion path could not be taken off: not tried again before the
    /// object is deleted.
    kept_finalizer: bool,
    /// Something was seen that may change what is stored.
    look: bool,
    /// Changes of other objects, seen while a handler ran: which of them are its own doing shows at its end.
    unjudged: Vec<Change>,
    /// What handlers have applied.
    applied: Arc<Applied>,
}

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// There is more to do.
    Again,
    /// Nothing before this time, or before mail.
    Wait(Option<Duration>),
    /// The object is gone, or no longer ours.
    Over,
}

impl<M: Machine> Actor<M> {
    pub fn new(manifest: Arc<ManifestOf<M>>, object: Option<M::ObjectState>, now: Now) -> Self {
        let stored = manifest.status().map(|s| s.machine());
        let told = M::told(&manifest, manifest.status());
        let mut engine = Engine::new(M::GRAPH, stored, manifest.generation(), told, now);
        if manifest.deleting() {
            engine.saw_deletion();
        }
        Self {
            engine,
            manifest,
            object,
            draft: None,
            before_draft: None,
            failures: 0,
            moved: false,
            dropped: false,
            kept_finalizer: false,
            look: false,
            unjudged: Vec::new(),
            applied: Arc::default(),
        }
    }

    /// Whether an object needs this machine at all: one that is being deleted without our finalizer does not.
    pub fn concerns(manifest: &ManifestOf<M>) -> bool {
        !manifest.deleting() || manifest.has_finalizer(M::GRAPH.finalizer())
    }

    pub fn manifest(&self) -> &Arc<ManifestOf<M>> {
        &self.manifest
    }
    pub fn state(&self) -> Option<M> {
        self.engine.at().and_then(M::from_id)
    }
    pub fn entry(&self) -> String {
        self.engine.entry()
    }
    pub fn object_mut(&mut self) -> Option<&mut M::ObjectState> {
        self.object.as_mut()
    }

    /// Takes mail while nothing runs, and says what is to be done.
    pub fn hear(&mut self, mail: Mail<ManifestOf<M>>, now: Now) -> Step {
        self.read(mail, now);
        self.judge_changes(now);
        if self.dropped {
            return Step::Over;
        }
        if std::mem::take(&mut self.moved) {
            let applied = Arc::clone(&self.applied);
            *self = Self::new(Arc::clone(&self.manifest), self.object.take(), now);
            self.applied = applied;
        }
        match self.engine.rests_until(now) {
            Some(until) if !self.look => Step::Wait(until),
            _ => Step::Again,
        }
    }

    /// Does the next thing that is due.
    pub async fn step<W: World<M>>(&mut self, world: &W, mailbox: &Mailbox<ManifestOf<M>>) -> Step {
        let mail = mailbox.take();
        let stop = mail.stop;
        if self.hear(mail, world.now()) == Step::Over {
            return self.over(world).await;
        }
        self.look = false;
        if let Some(step) = self.release(world).await {
            return step;
        }
        let came_from = self.engine.at();
        match self.engine.decide(world.now()) {
            Do::Entered => {
                self.log(came_from, world);
                Step::Again
            }
            Do::Wait(until) => self.save_and(world, Step::Wait(until)).await,
            Do::Run if stop => self.save_and(world, Step::Wait(None)).await,
            Do::Run => self.run(world, mailbox).await,
            Do::Finish => self.finish(world).await,
        }
    }

    /// The object's memory is let go.
    pub async fn over<W: World<M>>(&mut self, world: &W) -> Step {
        if let Some(object) = self.object.take() {
            object.async_drop(world.shared()).await;
        }
        Step::Over
    }

    /// Reads mail; `true`: a running handler is to be dropped.
    fn read(&mut self, mail: Mail<ManifestOf<M>>, now: Now) -> bool {
        let mut interrupt = mail.gone;
        self.dropped |= mail.gone;
        if let Some(seen) = mail.object
            && seen.version > self.manifest.version()
            && let Some(object) = seen.decode()
        {
            interrupt |= self.absorb(object, now);
        }
        self.unjudged.extend(mail.changes);
        interrupt
    }

    /// Takes notice of changes of other objects that are not our own doing.
    fn judge_changes(&mut self, now: Now) {
        for change in std::mem::take(&mut self.unjudged) {
            if let Some(after) = self.applied.notice(&change, now.random) {
                self.engine.saw_change(&change.names, after, now);
            }
        }
    }

    /// Takes notice of a version of the object; `true`: a running handler is to be dropped.
    fn absorb(&mut self, seen: Arc<ManifestOf<M>>, now: Now) -> bool {
        if seen.uid() != self.manifest.uid() {
            self.dropped = true;
            return true;
        }
        if seen.version() <= self.manifest.version() {
            return false;
        }
        let entry = |m: &ManifestOf<M>| m.status().and_then(|s| s.machine().entry.clone());
        let entry_seen = entry(&seen);
        let is_this_stay = entry_seen == Some(self.engine.entry());
        let moved = !is_this_stay && entry_seen != entry(&self.manifest);
        if is_this_stay && let Some(status) = seen.status() {
            self.engine.saw_others_status(status.machine(), now);
        }
        let changed = !seen.same_labels(&self.manifest) || seen.status() != self.manifest.status();
        let deleted = seen.deleting() && !self.manifest.deleting();
        self.look |= deleted || seen.generation() != self.manifest.generation();
        self.manifest = seen;
        self.engine.saw_generation(self.manifest.generation());
        self.engine.hear(M::told(&self.manifest, self.manifest.status()));
        if changed {
            self.engine.saw_change(&[Watch::Itself], Duration::ZERO, now);
        }
        self.moved |= moved;
        self.dropped |= !Self::concerns(&self.manifest);
        moved | self.dropped | (deleted && self.engine.saw_deletion())
    }

    /// Takes what a write of ours was answered with.
    fn absorb_own(&mut self, stored: Arc<ManifestOf<M>>) {
        self.failures = 0;
        let deleted = stored.deleting() && !self.manifest.deleting();
        self.manifest = stored;
        self.engine.saw_generation(self.manifest.generation());
        if deleted {
            self.engine.saw_deletion();
        }
    }

    async fn run<W: World<M>>(&mut self, world: &W, mailbox: &Mailbox<ManifestOf<M>>) -> Step {
        let (Some(state), Some(policy)) = (self.state(), self.engine.policy()) else {
            return Step::Again;
        };
        let to_be_held = M::GRAPH.deletion().is_some() && !self.manifest.deleting();
        if to_be_held && !self.manifest.has_finalizer(M::GRAPH.finalizer()) {
            let written = world.set_finalizer(&self.manifest, true).await;
            return self.written(written, world).await;
        }
        if policy.checkpoint {
            match self.save(world).await {
                None => {}
                // What is on its way out does not wait for its status.
                Some(Step::Wait(_)) if policy.deletion_path => {}
                Some(step) => return step,
            }
        }
        if self.object.is_none() {
            match world.initialize(&self.manifest).await {
                Ok(object) => self.object = Some(object),
                Err(error) => {
                    self.engine.begin();
                    self.failed(&error, world);
                    return Step::Again;
                }
            }
        }
        self.handle(state, world, mailbox).await;
        Step::Again
    }

    /// Runs the handler of `state` to its end, or until something drops it.
    async fn handle<W: World<M>>(&mut self, state: M, world: &W, mailbox: &Mailbox<ManifestOf<M>>) {
        let Some(mut object) = self.object.take() else {
            return;
        };
        let mut status = match self.draft.take() {
            Some(draft) => draft,
            None => self.manifest.status().cloned().unwrap_or_default(),
        };
        let (sender, receiver) = watch::channel(Arc::clone(&self.manifest));
        let (manifest, mut message, mut conditions) = (Manifest(receiver), None, Vec::new());
        let run = Run {
            first: self.engine.first_run(),
            attempt: self.engine.attempt(),
            in_state_for: self.engine.in_state_for(world.now()),
            entry: self.engine.entry(),
            deleting: self.engine.deleting(),
        };
        self.engine.begin();
        #[cfg(feature = "kube")]
        let applied = Arc::clone(&self.applied);
        let about = Arc::clone(&self.manifest);
        let events = |event| world.publish(&about, event);
        let saves = Saves::default();
        let mut cx = Context {
            object: &mut object,
            shared: world.shared(),
            status: &mut status,
            manifest: &manifest,
            message: &mut message,
            conditions: &mut conditions,
            events: &events,
            run: &run,
            saves: Some(&saves),
            #[cfg(feature = "kube")]
            applied: &applied,
            #[cfg(feature = "kube")]
            around: world.around(),
        };
        let deadline = self.engine.deadline(world.now()).map(|at| world.origin() + at);
        let ended = {
            let mut handler = AssertUnwindSafe(async { state.run(&mut cx).await })
                .catch_unwind()
                .boxed();
            loop {
                tokio::select! {
                    biased;
                    () = mailbox.arrived() => {
                        if self.read(mailbox.take(), world.now()) {
                            break None;
                        }
                    }
                    (draft, answer) = saves.next() => match self.save_now(&draft, world).await {
                        // Nobody listens where the handler has dropped its save.
                        Some(saved) => drop(answer.send(saved)),
                        None => break None,
                    },
                    () = at(deadline) => break None,
                    result = &mut handler => {
                        break Some(result.unwrap_or_else(|panic| Err(Error::panicked(&*panic))));
                    }
                }
                sender.send_if_modified(|known| {
                    let newer = known.version() < self.manifest.version();
                    if newer {
                        *known = Arc::clone(&self.manifest);
                    }
                    newer
                });
            }
        };
        self.object = Some(object);
        if self.moved || self.dropped {
            return;
        }
        self.judge_changes(world.now());
        if let Some(message) = message {
            self.engine.say(&message);
        }
        self.engine.hear(M::told(&self.manifest, Some(&status)));
        self.engine.set_conditions(conditions);
        if self.manifest.status() != Some(&status) {
            self.draft = Some(status);
            self.before_draft = Some(Box::new(self.engine.clone()));
        }
        let came_from = self.engine.at();
        match ended {
            Some(Ok(exit)) => {
                self.engine.ended(Outcome::Exit(exit), world.now());
                self.log(came_from, world);
            }
            Some(Err(error)) => self.failed(&error, world),
            None => self.engine.ended(Outcome::Interrupted, world.now()),
        }
    }

    fn failed<W: World<M>>(&mut self, error: &Error, world: &W) {
        let came_from = self.engine.at();
        tracing::warn!(
            namespace = self.manifest.namespace(),
            name = self.manifest.name(),
            state = came_from.map_or("", |at| M::GRAPH.state(at).name),
            attempt = self.engine.attempt(),
            %error,
            "the handler failed"
        );
        self.engine
            .ended(Outcome::Failed(error.class(), error.to_string()), world.now());
        self.log(came_from, world);
    }

    /// Says where the object went, if it went anywhere.
    fn log<W: World<M>>(&self, from: Option<crate::StateId>, world: &W) {
        let name = |at: Option<crate::StateId>| at.map_or("", |at| M::GRAPH.state(at).name);
        let (namespace, object, to) = (self.manifest.namespace(), self.manifest.name(), self.engine.at());
        if from != to {
            tracing::info!(
                namespace,
                name = object,
                from = name(from),
                to = name(to),
                "transition"
            );
        }
        if self.engine.slowed() {
            let note = "100 transitions without a wait: slowed to one a second";
            world.publish(&self.manifest, Event::warning("Slowed", note));
        }
    }
}

/// At a time, or never.
async fn at(when: Option<Instant>) {
    match when {
        Some(when) => sleep_until(when).await,
        None => std::future::pending().await,
    }
}
