//! One run of a handler: the writes before it, the observations during it, and the reaction to its result.
use super::{Actor, Step};
use crate::{
    engine::Outcome,
    error::Error,
    machine::{Context, Event, Machine, Manifest, ManifestOf, Object as _, Run},
    poll_times::poll_inline,
    world::{RunEnd, WorkQueue, World},
};
use futures::{FutureExt as _, StreamExt as _, channel::mpsc};
use std::{panic::AssertUnwindSafe, pin::pin, sync::Arc, time::Duration};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};
use tracing::Instrument as _;

impl<M: Machine> Actor<'_, M> {
    /// Runs the handler of the current state, after writing what the run depends on.
    pub(super) async fn run<W: World<M>>(&mut self, world: &W, queue: &WorkQueue<ManifestOf<M>>) -> Step {
        let (Some(state), Some(policy)) = (self.state(), self.engine.policy()) else {
            return Step::Again;
        };
        if let Some(step) = self.claim(world).await {
            return step;
        }
        if policy.checkpoint {
            match self.save(world).await {
                None => {}
                // A deletion must not depend on whether the status can be written.
                Some(Step::Wait(_)) if policy.deletion_path => {}
                Some(step) => return step,
            }
        }
        if self.retained.object.is_none() {
            match world.initialize(&self.manifest).await {
                Ok(object) => self.retained.object = Some(object),
                Err(error) => return self.cannot_begin(&error, world),
            }
        }
        let found = world.find(&self.manifest).await;
        // This process is not the leader any more and will end; another replica runs this handler.
        if !world.may_act() {
            return Step::Wait(None);
        }
        match found {
            Ok(found) => self.found = found,
            Err(error) => return self.cannot_begin(&error, world),
        }
        self.handle(state, world, queue).await;
        Step::Again
    }

    /// Handles a failure before the handler has started.
    fn cannot_begin<W: World<M>>(&mut self, error: &Error, world: &W) -> Step {
        self.engine.begin();
        self.report_run(None, RunEnd::Failed(error.class()), world);
        self.failed(error, world);
        Step::Again
    }

    /// Runs the handler of `state` until it ends or is dropped.
    async fn handle<W: World<M>>(&mut self, state: M, world: &W, queue: &WorkQueue<ManifestOf<M>>) {
        let Some(mut object) = self.retained.object.take() else {
            return;
        };
        let mut status = match self.draft.take() {
            Some(draft) => *draft,
            None => self.manifest.status().cloned().unwrap_or_default(),
        };
        let (sender, receiver) = watch::channel(Arc::clone(&self.manifest));
        let (manifest, mut message, mut conditions) = (Manifest(receiver), None, Vec::new());
        let run = Run {
            first: self.engine.first_run(),
            attempt: self.engine.attempt(),
            in_state_for: self.engine.in_state_for(world.now()),
            entry: self.engine.entry().to_string(),
            deleting: self.engine.deleting(),
            name: self.manifest.name().to_owned(),
            namespace: self.manifest.namespace().to_owned(),
        };
        self.engine.begin();
        let (applied, found) = (
            self.retained.applied.take().unwrap_or_default(),
            std::mem::take(&mut self.found),
        );
        applied.begin_run();
        let about = Arc::clone(&self.manifest);
        let recorded = self.retained.recorded.take().unwrap_or_default();
        recorded.begin(self.engine.entry());
        let events = |event| {
            if recorded.is_new(&event) {
                world.publish(&about, event);
            }
        };
        let clock = || world.now().time;
        let (saves, mut saved) = mpsc::unbounded();
        let mut cx = Context {
            object: &mut object,
            shared: world.shared(),
            graph: self.graph(),
            status: &mut status,
            manifest: &manifest,
            message: &mut message,
            conditions: &mut conditions,
            events: &events,
            clock: &clock,
            run: &run,
            saves: Some(saves),
            backend: world.backend(),
            applied: &applied,
            found: &found,
        };
        let began = world.now().elapsed;
        let deadline = self.engine.deadline(world.now());
        let at = self.engine.at();
        let ended = {
            let span = tracing::info_span!(
                "state",
                group = self.graph().group(),
                kind = world.kind(),
                namespace = about.namespace(),
                // The field is not called `name`, which is the name of the span in JSON logs.
                object = about.name(),
                state = self.engine.policy().map(|policy| policy.name),
                entry = %self.engine.entry(),
            );
            let handler = AssertUnwindSafe(async { state.run(&mut cx).await }.instrument(span))
                .catch_unwind()
                .boxed();
            let times = at.and_then(|at| world.poll_times(at));
            let mut handler = pin!(poll_inline(times, handler, |slow, took| {
                if let Some(at) = at {
                    world.polled(at, slow, took);
                }
            }));
            loop {
                tokio::select! {
                    biased;
                    () = queue.arrived() => {
                        if self.read(queue.take(), world.now()) {
                            break None;
                        }
                    }
                    Some((draft, answer)) = saved.next() => match self.save_now(&draft, world).await {
                        // Sending fails if the handler has dropped its call of `save`, which is not an error.
                        Some(saved) => drop(answer.send(saved)),
                        None => break None,
                    },
                    // In a development build the clock may have been advanced, so the deadline is converted
                    // again.
                    () = until(deadline.map(|at| world.instant(at))) => break None,
                    () = until(self.engine.objective_due(world.now()).map(|at| world.instant(at))) => {
                        self.report_missed(world);
                    }
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
        let took = world.now().elapsed.saturating_sub(began);
        let end = match &ended {
            Some(Ok(_)) => RunEnd::Done,
            Some(Err(error)) => RunEnd::Failed(error.class()),
            None => RunEnd::Interrupted,
        };
        self.report_run(Some(took), end, world);
        (self.retained.object, self.found) = (Some(object), found);
        (self.retained.applied, self.retained.recorded) = (applied.unless_empty(), recorded.unless_empty());
        if self.moved || self.dropped {
            return;
        }
        if let Some(message) = message {
            self.engine.set_message(&message);
        }
        self.engine
            .saw_field_values(M::field_values(&self.manifest, Some(&status)));
        self.engine.set_conditions(conditions);
        if self.manifest.status() != Some(&status) {
            self.draft = Some(Box::new(status));
            self.before_draft = Some(Box::new(self.engine.clone()));
        }
        match ended {
            Some(Ok(exit)) => self.engine.ended(Outcome::Exit(exit), world.now()),
            Some(Err(error)) => self.failed(&error, world),
            None => self.engine.ended(Outcome::Interrupted, world.now()),
        }
        // Before the result is applied, because a success resets the failures, which suppress wake-ups.
        self.judge_changes(world.now());
    }

    /// Reports a run of the current state's handler. `took` is its duration, if it has started.
    pub(super) fn report_run<W: World<M>>(&self, took: Option<Duration>, end: RunEnd, world: &W) {
        if let Some(state) = self.engine.at() {
            world.ran(state, took, end);
        }
    }

    pub(super) fn failed<W: World<M>>(&mut self, error: &Error, world: &W) {
        tracing::warn!(
            group = self.graph().group(),
            kind = world.kind(),
            namespace = self.manifest.namespace(),
            name = self.manifest.name(),
            state = self.engine.policy().map(|policy| policy.name),
            entry = %self.engine.entry(),
            attempt = self.engine.attempt(),
            %error,
            "the handler failed"
        );
        self.engine
            .ended(Outcome::Failed(error.class(), error.to_string()), world.now());
    }

    /// Reports missed objectives.
    pub(super) fn report_missed<W: World<M>>(&mut self, world: &W) {
        let missed = self.engine.miss(world.now());
        missed.into_iter().for_each(|ended| world.measured(ended));
    }

    /// Reports the entries since the last report, which are stored now.
    pub(super) fn report_moves<W: World<M>>(&mut self, world: &W) {
        for moved in self.engine.take_moves() {
            tracing::info!(
                group = self.graph().group(),
                kind = world.kind(),
                namespace = self.manifest.namespace(),
                name = self.manifest.name(),
                state = moved.to.name,
                from = moved.from.map(|from| from.name),
                to = moved.to.name,
                cause = moved.cause.name(),
                entry = %moved.entry,
                stayed_ms = moved.stayed.as_millis(),
                "transition"
            );
            world.moved(&self.manifest, &moved);
            if moved.slowed {
                let note = "slowed to one transition a second after 100 transitions at a higher rate";
                world.publish(&self.manifest, Event::warning("Slowed", note));
            }
        }
    }
}

/// Waits until a time, or forever without one.
async fn until(when: Option<Instant>) {
    match when {
        Some(when) => sleep_until(when).await,
        None => std::future::pending().await,
    }
}
