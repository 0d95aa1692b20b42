//! The writes of an actor (the status, the finalizer, the deletion of the object) and how it reacts to the answers.
use super::{Actor, Step};
use crate::{
    conditions,
    engine::Now,
    error::{Class, Error, Result},
    graph::Retry,
    machine::{Event, Machine, ManifestOf, Object as _, StatusOf},
    status::{Condition, MachineStatus, ObjectStatus},
    world::{RunEnd, World, WriteError, Written},
};
use std::{sync::Arc, time::Duration};
use tracing::Instrument as _;

impl<M: Machine> Actor<'_, M> {
    /// Sets the finalizer. `None` means that nothing had to be done.
    pub(super) async fn claim<W: World<M>>(&mut self, world: &W) -> Option<Step> {
        if self.is_claimed() {
            return None;
        }
        let written = world
            .set_finalizer(&self.manifest, self.graph().finalizer, true)
            .await;
        Some(self.written(written, world).await)
    }

    /// Whether the finalizer is set, if the object needs one. No state is stored before that.
    pub(super) fn is_claimed(&self) -> bool {
        let graph = self.graph();
        self.manifest.deleting() || !graph.takes_finalizer() || self.manifest.has_finalizer(graph.finalizer)
    }

    /// Removes the finalizer of a former deletion path, because no handler of this graph would remove it.
    pub(super) async fn release<W: World<M>>(&mut self, world: &W) -> Option<Step> {
        let deleting = self.manifest.deleting();
        let finalizer = self.graph().finalizer;
        let is_former = self.graph().deletion.is_none() && self.manifest.has_finalizer(finalizer);
        if !is_former || (self.kept_finalizer && !deleting) {
            return None;
        }
        match world.set_finalizer(&self.manifest, finalizer, false).await {
            Ok(_) if deleting => Some(self.over(world).await),
            // The permission may be missing. This is an error only if the object is being deleted.
            Err(WriteError::Other(error)) if !deleting => {
                let note =
                    format!("cannot remove the finalizer `{finalizer}` of a former description: {error}");
                self.kept_finalizer = true;
                world.publish(&self.manifest, Event::warning("FormerFinalizer", note));
                None
            }
            written => Some(self.written(written, world).await),
        }
    }

    /// Removes the finalizer or deletes the object after its machine has ended.
    pub(super) async fn finish<W: World<M>>(&mut self, world: &W) -> Step {
        if self.manifest.deleting() {
            if let Err(error) = world.end_children(&self.manifest).await {
                return self.later(&error, world);
            }
            let finalizer = self.graph().finalizer;
            let written = world.set_finalizer(&self.manifest, finalizer, false).await;
            return match written {
                Ok(_) | Err(WriteError::Gone) => {
                    // The last states may be unstored, because a deletion does not wait for the status.
                    self.report_moves(world);
                    self.over(world).await
                }
                other => self.written(other, world).await,
            };
        }
        let deleted = world.delete(&self.manifest).await;
        if deleted.is_ok() {
            self.report_moves(world);
        }
        match deleted {
            Ok(()) if self.manifest.has_finalizer(self.graph().finalizer) => {
                self.engine.rest();
                Step::Wait(None)
            }
            Ok(()) => self.over(world).await,
            Err(error) => self.written(Err(error), world).await,
        }
    }

    /// Writes a condition that the stored state is unknown, once for each generation: another operator that knows
    /// the state may run at the same time, and `kubectl wait` ignores conditions of earlier generations.
    pub(super) async fn park<W: World<M>>(&mut self, world: &W) -> Step {
        let none = MachineStatus::default();
        let stored = self.manifest.status().map_or(&none, |status| status.machine());
        let generation = self.manifest.generation();
        let is_said = |condition: &Condition| {
            conditions::says_unknown_state(condition) && condition.observed_generation == Some(generation)
        };
        if !stored.conditions.iter().any(is_said) {
            let condition = conditions::unknown_state(stored, generation, world.now().time);
            match world.write_condition(&self.manifest, &condition).await {
                Ok(stored) => self.absorb_own(stored),
                failed => return self.written(failed, world).await,
            }
        }
        if self.parked.replace(generation).is_some() {
            return Step::Again;
        }
        let note = "the stored state is unknown to this operator, so no handler runs for the object";
        tracing::warn!(
            group = self.graph().group(),
            kind = world.kind(),
            namespace = self.manifest.namespace(),
            name = self.manifest.name(),
            state = self
                .manifest
                .status()
                .and_then(|status| status.machine().state.as_deref()),
            "{note}"
        );
        world.publish(&self.manifest, Event::warning("UnknownState", note));
        Step::Again
    }

    /// The machine's part of the status that is to be stored; see [`Engine::render`](crate::engine::Engine::render).
    fn rendered(&self, now: Now) -> Option<MachineStatus> {
        let none = MachineStatus::default();
        let former = self.known_status().map_or(&none, |status| status.machine());
        self.engine.render(former, now)
    }

    /// Writes the status at the request of a running handler. `None` means that the run has to be dropped.
    pub(super) async fn save_now<W: World<M>>(
        &mut self,
        draft: &StatusOf<M>,
        world: &W,
    ) -> Option<Result<()>> {
        loop {
            let machine = self.rendered(world.now())?;
            let status = with_machine(draft.clone(), machine);
            match self.update(&status, world).await {
                Ok(stored) => {
                    self.accepted(world);
                    self.wrote(status, stored, world);
                    return Some(Ok(()));
                }
                Err(WriteError::Conflict) => match self.reread(world).await {
                    Ok(Some(false)) => {}
                    Ok(Some(true)) => return None,
                    Ok(None) => {
                        self.dropped = true;
                        return None;
                    }
                    Err(error) => return Some(Err(error)),
                },
                Err(WriteError::Gone) => {
                    self.dropped = true;
                    return None;
                }
                Err(WriteError::Invalid(error) | WriteError::Other(error)) => return Some(Err(error)),
            }
        }
    }

    /// The status, if it differs from the stored one or, where fields were pruned, from the written one. It
    /// is a separate function so that its variables do not live across the write. A status has many strings,
    /// so it is copied only if a handler has changed fields.
    fn unwritten(&mut self, now: Now) -> Option<StatusOf<M>> {
        let machine = self.rendered(now)?;
        let none = StatusOf::<M>::default();
        let stored = self.known_status().unwrap_or(&none);
        let is_stored = machine.is_in(stored.machine(), |kind| self.graph().sets_condition(kind))
            && self
                .draft
                .as_ref()
                .is_none_or(|draft| with_machine((**draft).clone(), stored.machine().clone()) == *stored);
        if is_stored {
            self.draft = None;
            return None;
        }
        let fields = self.draft.as_deref().unwrap_or(stored).clone();
        Some(with_machine(fields, machine))
    }

    /// Writes the status if it differs from what is stored. `None` means that it is stored.
    pub(super) async fn save<W: World<M>>(&mut self, world: &W) -> Option<Step> {
        let epoch = world.schema_epoch();
        self.pruned.take_if(|pruned| pruned.epoch != epoch);
        let Some(status) = self.unwritten(world.now()) else {
            self.accepted(world);
            return None;
        };
        let written = self.update(&status, world).await;
        if let Err(WriteError::Invalid(error)) = &written
            && let Some(before) = self.before_draft.take()
        {
            // The API server rejects the handler's fields, so they are dropped and the run counts as failed.
            self.draft = None;
            self.engine.go_back(*before);
            // A conflict may have revealed a deletion, another spec, or failures of other operators.
            self.look_again();
            self.see_status(world.now());
            let error = Error::from(format!("the status was rejected: {error}"));
            self.report_run(None, RunEnd::Failed(error.class()), world);
            self.failed(&error, world);
            return Some(Step::Again);
        }
        Some(match written {
            Ok(stored) => {
                self.draft = None;
                self.accepted(world);
                self.wrote(status, stored, world)
            }
            failed => self.written(failed, world).await,
        })
    }

    /// Writes a status.
    fn update<'a, W: World<M>>(&'a self, status: &'a StatusOf<M>, world: &'a W) -> impl Written<M> + 'a {
        let span = tracing::debug_span!(
            "update",
            group = self.graph().group(),
            kind = world.kind(),
            namespace = self.manifest.namespace(),
            object = self.manifest.name(),
            state = self.engine.policy().map(|policy| policy.name),
            entry = %self.engine.entry(),
        );
        world.write_status(&self.manifest, status).instrument(span)
    }

    /// Records that the decisions of the engine are stored.
    fn accepted<W: World<M>>(&mut self, world: &W) {
        self.failures = 0;
        self.engine.written();
        self.before_draft = None;
        self.report_moves(world);
    }

    pub(super) async fn save_and<W: World<M>>(&mut self, world: &W, then: Step) -> Step {
        match (self.save(world).await, then) {
            (None, then) => then,
            (Some(Step::Wait(Some(retry))), Step::Wait(Some(until))) => Step::Wait(Some(retry.min(until))),
            (Some(step), _) => step,
        }
    }

    /// Processes the answer to a write: takes over the stored object, or schedules a retry.
    pub(super) async fn written<W: World<M>>(
        &mut self,
        written: Result<Arc<ManifestOf<M>>, WriteError>,
        world: &W,
    ) -> Step {
        match written {
            Ok(stored) => {
                self.absorb_own(stored);
                Step::Again
            }
            Err(WriteError::Gone) => self.over(world).await,
            Err(WriteError::Conflict) => match self.reread(world).await {
                Ok(Some(_)) => Step::Again,
                Ok(None) => self.over(world).await,
                Err(error) => self.later(&error, world),
            },
            Err(WriteError::Invalid(error) | WriteError::Other(error)) => self.later(&error, world),
        }
    }

    /// Reads the object after a conflict. `None` means that it is gone; otherwise returns whether a running
    /// handler has to be dropped.
    async fn reread<W: World<M>>(&mut self, world: &W) -> Result<Option<bool>> {
        let Some(stored) = world.read(&self.manifest).await? else {
            return Ok(None);
        };
        // The same version was read again, so this read does not show the cause of the conflict.
        if stored.version() <= self.manifest.version() && stored.uid() == self.manifest.uid() {
            return Err(Error::from("a conflict on the version just read"));
        }
        Ok(Some(self.absorb(stored, world.now())))
    }

    fn later<W: World<M>>(&mut self, error: &Error, world: &W) -> Step {
        let now = world.now();
        self.failures = self.failures.saturating_add(1);
        let least = if let Class::After(least) = error.class() {
            least
        } else {
            Duration::ZERO
        };
        let delay = Retry::OF_REQUESTS.delay(self.failures, now.random).max(least);
        tracing::warn!(
            group = self.graph().group(),
            kind = world.kind(),
            namespace = self.manifest.namespace(),
            name = self.manifest.name(),
            state = self.engine.policy().map(|policy| policy.name),
            entry = %self.engine.entry(),
            %error,
            delay_ms = delay.as_millis(),
            "a request failed"
        );
        // The event is repeated with exponential distance, because events expire.
        if error.class() == Class::Refused && self.failures.is_power_of_two() {
            let note = format!(
                "an admission policy denied a write of the operator: {error}; apply `deploy/` of its release"
            );
            world.publish(&self.manifest, Event::warning("WriteRefused", note));
        }
        Step::Wait(Some(now.elapsed + delay))
    }
}

/// A status with the machine's part replaced.
pub(super) fn with_machine<S: ObjectStatus>(mut fields: S, machine: MachineStatus) -> S {
    *fields.machine_mut() = machine;
    fields
}
