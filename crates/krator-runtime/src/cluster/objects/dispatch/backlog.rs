//! Objects without a task: those at rest, and those that have something to do while the API server is busy with others.
use super::{Dispatcher, Idle, Life, Packed, Tracked};
use crate::{
    actor::Step,
    cluster::others::{links::Linked, watch_index::Uid},
    machine::{ManifestOf, Object as _},
    operator::Operator,
    resource::KubeObject,
    world::{Mail, World as _},
};
use std::sync::Arc;
use tokio_util::time::delay_queue;

impl<O: Operator<Machine: Linked>> Dispatcher<O>
where
    ManifestOf<O::Machine>: KubeObject,
{
    /// Gives mail to an object at rest. `None` if it is no longer looked after.
    pub(super) fn wake(
        &mut self,
        uid: &Uid,
        idle: Tracked<O::Machine, Packed>,
        timer: Option<delay_queue::Key>,
        mail: Mail<ManifestOf<O::Machine>>,
    ) -> Option<Life<O>> {
        let left = Mail {
            gone: mail.gone,
            has_turn: mail.has_turn,
            ..Mail::default()
        };
        let received = self.unpack(idle).map(|mut tracked| {
            let step = tracked.actor.receive(mail, self.world.now());
            if matches!(step, Step::Wait(_)) {
                tracked.actor.stand(&*self.world);
            }
            (step, tracked)
        });
        let due = match received {
            Some((Step::Wait(until), tracked)) => return self.rest(uid, tracked, until, timer),
            due => due.map(|(_, tracked)| tracked),
        };
        if let Some(timer) = timer {
            self.timers.remove(&timer);
        }
        self.start(uid, due?, left)
    }

    /// Gives an object a task, at once or when it is its turn.
    pub(super) fn start(
        &mut self,
        uid: &Uid,
        tracked: Tracked<O::Machine>,
        mail: Mail<ManifestOf<O::Machine>>,
    ) -> Option<Life<O>> {
        if self.backlog.is_empty() && self.world.cluster.turns.has_room() {
            return Some(self.spawn(Arc::clone(uid), tracked, mail));
        }
        let idle = self.pack(tracked, false)?;
        self.backlog.push_back(Arc::clone(uid));
        self.count();
        Some(Life::Waiting { idle, mail })
    }

    /// Gives the object that has waited longest its task.
    pub(super) fn begin(&mut self) {
        let Some(uid) = self.backlog.pop_front() else {
            return;
        };
        let Some((uid, slot)) = self.slots.remove_entry(&uid) else {
            return;
        };
        let life = match slot.life {
            Life::Waiting { idle, mail } => self
                .unpack(*idle)
                .map(|tracked| self.spawn(Arc::clone(&uid), tracked, mail)),
            other => Some(other),
        };
        self.keep(uid, life, slot.source, slot.listing);
    }

    /// Counts the objects that have something to do.
    pub(super) fn count(&self) {
        self.world.metrics.busy(self.tasks.len() + self.backlog.len());
    }

    /// Keeps an object as packed text. `None` if that is impossible, which is a defect: the object is looked after again from its
    /// next event on.
    pub(super) fn pack(&self, tracked: Tracked<O::Machine>, at_rest: bool) -> Option<Idle<O>> {
        let Tracked { actor, counted } = tracked;
        let object = &**actor.manifest();
        let version = object.version();
        let text = self
            .packer
            .pack(object, at_rest)
            .inspect_err(self.defect())
            .ok()?;
        let actor = actor.keep(Packed { version, text });
        Some(Box::new(Tracked { actor, counted }))
    }

    fn unpack(&self, idle: Tracked<O::Machine, Packed>) -> Option<Tracked<O::Machine>> {
        let Tracked { actor, counted } = idle;
        let object = self.packer.unpack(&actor.manifest().text);
        let object = object.inspect_err(self.defect()).ok()?;
        let actor = actor.keep(Arc::new(object));
        Some(Tracked { actor, counted })
    }

    fn defect(&self) -> impl Fn(&serde_json::Error) {
        let kind = self.world.kind();
        move |error| tracing::error!(kind, %error, "an object that was decoded cannot be kept as text")
    }
}
