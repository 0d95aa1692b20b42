//! What an actor writes: the status, the finalizer, the end of the object; and what it makes of the answers.
use super::{Actor, Step};
use crate::{
    Class, Error, Event, Machine, MachineStatus, ManifestOf, Object as _, ObjectStatus, StatusOf,
    engine::Now,
    world::{World, WriteError, request_backoff},
};
use std::{sync::Arc, time::Duration};

impl<M: Machine> Actor<M> {
    /// Takes the finalizer off where the graph has no deletion path any more: nothing else would.
    pub(super) async fn release<W: World<M>>(&mut self, world: &W) -> Option<Step> {
        let deleting = self.manifest.deleting();
        let is_former = M::GRAPH.deletion().is_none() && self.manifest.has_finalizer(M::GRAPH.finalizer());
        if !is_former || (self.kept_finalizer && !deleting) {
            return None;
        }
        match world.set_finalizer(&self.manifest, false).await {
            Ok(_) if deleting => Some(self.over(world).await),
            // An operator without a deletion path may lack the right. What waits for it is the deletion alone.
            Err(WriteError::Other(error)) if !deleting => {
                let finalizer = M::GRAPH.finalizer();
                let note = format!(
                    "the finalizer `{finalizer}` of a former description cannot be taken off: {error}"
                );
                self.kept_finalizer = true;
                world.publish(&self.manifest, Event::warning("FormerFinalizer", note));
                None
            }
            written => Some(self.written(written, world).await),
        }
    }

    /// Lets the object go when its machine is over.
    pub(super) async fn finish<W: World<M>>(&mut self, world: &W) -> Step {
        if self.manifest.deleting() {
            let written = world.set_finalizer(&self.manifest, false).await;
            return match written {
                Ok(_) | Err(WriteError::Gone) => self.over(world).await,
                other => self.written(other, world).await,
            };
        }
        match world.delete(&self.manifest).await {
            Ok(()) if M::GRAPH.deletion().is_some() => {
                self.engine.rest();
                Step::Wait(None)
            }
            Ok(()) => self.over(world).await,
            Err(error) => self.written(Err(error), world).await,
        }
    }

    /// What the machine has to say over what is stored. `None` while parked.
    fn rendered(&self, now: Now) -> Option<MachineStatus> {
        let none = MachineStatus::default();
        let former = self.manifest.status().map_or(&none, |status| status.machine());
        self.engine.render(former, now)
    }

    /// Writes the user's fields in the middle of a run. `None`: the run is to be dropped.
    pub(super) async fn save_now<W: World<M>>(
        &mut self,
        draft: &StatusOf<M>,
        world: &W,
    ) -> Option<crate::Result<()>> {
        loop {
            let machine = self.rendered(world.now())?;
            let status = with_machine(draft.clone(), machine);
            match world.write_status(&self.manifest, &status).await {
                Ok(stored) => {
                    self.engine.written();
                    self.absorb_own(stored);
                    return Some(Ok(()));
                }
                Err(WriteError::Conflict) => match self.look_again(world).await {
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

    /// The status, if it says something new. A function of its own: nothing of it waits for the write. Statuses have
    /// many texts: none is copied to be compared, unless a handler has changed its fields.
    fn unwritten(&mut self, now: Now) -> Option<StatusOf<M>> {
        let machine = self.rendered(now)?;
        let none = StatusOf::<M>::default();
        let stored = self.manifest.status().unwrap_or(&none);
        let is_known = machine.is_in(stored.machine(), |kind| M::GRAPH.sets_condition(kind))
            && self
                .draft
                .as_ref()
                .is_none_or(|draft| with_machine(draft.clone(), stored.machine().clone()) == *stored);
        if is_known {
            self.engine.written();
            self.draft = None;
            return None;
        }
        let fields = self.draft.as_ref().unwrap_or(stored).clone();
        Some(with_machine(fields, machine))
    }

    /// Writes the status if it says something new; `None`: it is written.
    pub(super) async fn save<W: World<M>>(&mut self, world: &W) -> Option<Step> {
        let status = self.unwritten(world.now())?;
        let written = world.write_status(&self.manifest, &status).await;
        if let Err(WriteError::Invalid(error)) = &written
            && let Some(before) = self.before_draft.take()
        {
            // The handler's fields are refused: the former ones stay, and its run has failed.
            (self.draft, self.engine) = (None, *before);
            self.failed(&Error::from(format!("the status was refused: {error}")), world);
            return Some(Step::Again);
        }
        if written.is_ok() {
            self.engine.written();
            (self.draft, self.before_draft) = (None, None);
        }
        Some(self.written(written, world).await)
    }

    pub(super) async fn save_and<W: World<M>>(&mut self, world: &W, then: Step) -> Step {
        match (self.save(world).await, then) {
            (None, then) => then,
            (Some(Step::Wait(Some(retry))), Step::Wait(Some(until))) => Step::Wait(Some(retry.min(until))),
            (Some(step), _) => step,
        }
    }

    /// What a write came to: the world is looked at again, or the write is tried again later.
    pub(super) async fn written<W: World<M>>(
        &mut self,
        written: Result<Arc<ManifestOf<M>>, WriteError>,
        world: &W,
    ) -> Step {
        let now = world.now();
        match written {
            Ok(stored) => {
                self.absorb_own(stored);
                Step::Again
            }
            Err(WriteError::Gone) => self.over(world).await,
            Err(WriteError::Conflict) => match self.look_again(world).await {
                Ok(Some(_)) => Step::Again,
                Ok(None) => self.over(world).await,
                Err(error) => self.later(&error, now),
            },
            Err(WriteError::Invalid(error) | WriteError::Other(error)) => self.later(&error, now),
        }
    }

    /// Takes notice of what has refused a write: whether a running handler is to be dropped for it, and nothing when
    /// the object is gone.
    async fn look_again<W: World<M>>(&mut self, world: &W) -> crate::Result<Option<bool>> {
        let Some(stored) = world.read(&self.manifest).await? else {
            return Ok(None);
        };
        // The same version again: what refused the write is not seen yet.
        if stored.version() <= self.manifest.version() && stored.uid() == self.manifest.uid() {
            return Err(Error::from("a conflict on the version just read"));
        }
        Ok(Some(self.absorb(stored, world.now())))
    }

    fn later(&mut self, error: &Error, now: Now) -> Step {
        self.failures = self.failures.saturating_add(1);
        let least = if let Class::After(least) = error.class() {
            least
        } else {
            Duration::ZERO
        };
        let delay = request_backoff(self.failures, now.random).max(least);
        tracing::warn!(
            namespace = self.manifest.namespace(),
            name = self.manifest.name(),
            %error,
            delay_ms = delay.as_millis(),
            "a request failed"
        );
        Step::Wait(Some(now.elapsed + delay))
    }
}

/// The user's fields of one status, and the machine's of another.
fn with_machine<S: ObjectStatus>(mut fields: S, machine: MachineStatus) -> S {
    *fields.machine_mut() = machine;
    fields
}
