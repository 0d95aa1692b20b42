//! Objects without a task: those at rest, and those that wait for a task while the API server is busy.
use super::{Dispatcher, Idle, Life, Packed, Tracked};
use crate::{
    actor::Step,
    cluster::related::{links::Linked, watch_index::Uid},
    machine::{ManifestOf, Object as _},
    operator::Operator,
    resource::KubeObject,
    world::{Queued, World as _},
};
use std::{collections::BTreeMap, sync::Arc};
use tokio_util::time::delay_queue;

/// The objects that wait for a task. Changed objects come before those at rest, all of which run after a
/// restart: otherwise an edit would have to wait for the whole fleet.
#[derive(Default)]
pub(super) struct Backlog {
    waiting: BTreeMap<Rank, Uid>,
    last: u64,
}

/// The position of an object in the backlog; the smallest is next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    at_rest: bool,
    number: u64,
}

impl Backlog {
    fn push(&mut self, uid: Uid, at_rest: bool) -> Rank {
        self.last += 1;
        let rank = Rank {
            at_rest,
            number: self.last,
        };
        self.waiting.insert(rank, uid);
        rank
    }

    /// Moves an object that has changed ahead of those at rest.
    pub fn hurry(&mut self, rank: &mut Rank) {
        if rank.at_rest
            && let Some(uid) = self.waiting.remove(rank)
        {
            *rank = self.push(uid, false);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

impl<O: Operator<Machine: Linked>> Dispatcher<O>
where
    ManifestOf<O::Machine>: KubeObject,
{
    /// Passes observations to an object at rest. `None` if it is dropped.
    pub(super) fn wake(
        &mut self,
        uid: &Uid,
        idle: Tracked<O::Machine, Packed>,
        timer: Option<delay_queue::Key>,
        queued: Queued<ManifestOf<O::Machine>>,
    ) -> Option<Life<O>> {
        // Polls have the lower priority as well, so that many of them do not delay the runs after a restart.
        let at_rest = queued.is_empty();
        let left = Queued {
            gone: queued.gone,
            has_turn: queued.has_turn,
            ..Queued::default()
        };
        let received = self.unpack(idle).map(|mut tracked| {
            let step = tracked.actor.receive(queued, self.world.now());
            if matches!(step, Step::Wait(_)) {
                tracked.actor.claim_places(&*self.world);
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
        self.start(uid, due?, left, at_rest)
    }

    /// Gives an object a task, at once or when it is next in the backlog.
    pub(super) fn start(
        &mut self,
        uid: &Uid,
        tracked: Tracked<O::Machine>,
        queued: Queued<ManifestOf<O::Machine>>,
        at_rest: bool,
    ) -> Option<Life<O>> {
        if self.backlog.is_empty() && self.world.cluster.limiter.is_below_limit() {
            return Some(self.spawn(Arc::clone(uid), tracked, queued));
        }
        let idle = self.pack(tracked, false)?;
        let rank = self.backlog.push(Arc::clone(uid), at_rest);
        self.count();
        Some(Life::Waiting { idle, queued, rank })
    }

    /// Gives the next object in the backlog its task.
    pub(super) fn begin(&mut self) {
        let Some((_, uid)) = self.backlog.waiting.pop_first() else {
            return;
        };
        let Some((uid, slot)) = self.slots.remove_entry(&uid) else {
            return;
        };
        let life = match slot.life {
            Life::Waiting { idle, queued, .. } => self
                .unpack(*idle)
                .map(|tracked| self.spawn(Arc::clone(&uid), tracked, queued)),
            other => Some(other),
        };
        self.keep(uid, life, slot.source, slot.listing);
    }

    /// Counts the objects that have something to do.
    pub(super) fn count(&self) {
        self.world
            .metrics
            .busy(self.tasks.len() + self.backlog.waiting.len());
    }

    /// Packs an object. `None` if that fails, which is a defect: the object is then handled again from its
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
        move |error| tracing::error!(kind, %error, "cannot serialize a decoded object")
    }
}
