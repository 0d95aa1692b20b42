//! The dispatcher of one kind: passes the events of watches to the objects that they concern. An object has a
//! task only while something is due.
mod backlog;
mod tasks;
mod turns;

use super::{remote::Remote, undecodable};
use crate::{
    actor::{Actor, Step},
    cluster::{
        api::raw::Raw,
        children::Orphan,
        host,
        observability::{
            inspect::{FoundObject, Position, Shown, View, ViewRequest},
            metrics::Counted,
        },
        packed::Packer,
        process::health::{self, Heartbeat},
        related::{
            links::{Link, Linked},
            watch_index::{Uid, WatchIndex},
            watches::{LinkEvent, ObservedChange, OwnObjects, OwnSeen},
        },
    },
    engine::Now,
    lock::Lock as _,
    machine::{Machine, ManifestOf, Object as _},
    operator::Operator,
    resource::{KubeObject, version},
    status::ObjectStatus as _,
    world::{Change, ObservedObject, Queued, WorkQueue, World as _},
};
use backlog::{Backlog, Rank};
use futures::{
    StreamExt as _,
    stream::{BoxStream, select_all},
};
use kube::runtime::watcher;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    pin::pin,
    sync::Arc,
    time::Duration,
};
use tokio::{
    sync::{mpsc, watch},
    task::{Id, JoinSet},
    time::MissedTickBehavior,
};
use tokio_util::time::{DelayQueue, delay_queue};

/// The longest timer. The timer queue accepts at most two years; an object whose timer fires early gets
/// another one.
const LONGEST_TIMER: Duration = Duration::from_secs(365 * 24 * 3600);
/// How long the next write of an object waits for the echo of the last one.
const LONGEST_ECHO: Duration = Duration::from_millis(100);
/// The result of an object's task.
type Ended<O> = (Uid, Box<Tracked<<O as Operator>::Machine>>, Step);

/// An object without a task, as compressed text.
#[derive(Clone)]
struct Packed {
    version: u64,
    text: Arc<[u8]>,
}

/// An actor, and where the metrics count its object.
struct Tracked<M: Machine, K = Arc<ManifestOf<M>>> {
    actor: Actor<'static, M, K>,
    counted: Counted,
}

/// An actor that has no task.
type Idle<O> = Box<Tracked<<O as Operator>::Machine, Packed>>;

/// An object that the operator handles.
struct Slot<O: Operator> {
    life: Life<O>,
    /// The number of the watch that observed the object.
    source: usize,
    /// The last of the watch's listings that contained it.
    listing: u64,
}

enum Life<O: Operator> {
    /// Nothing is due, or not before the timer.
    Resting {
        idle: Idle<O>,
        timer: Option<delay_queue::Key>,
    },
    /// Something is due, but the API server is busy with the tasks of others.
    Waiting {
        idle: Idle<O>,
        queued: Queued<ManifestOf<O::Machine>>,
        rank: Rank,
    },
    /// A task takes steps.
    Running {
        task: Id,
        queue: Arc<WorkQueue<ManifestOf<O::Machine>>>,
        view: Arc<View<ManifestOf<O::Machine>>>,
    },
}

impl<O: Operator> Life<O> {
    /// The state of the object, and a look at it.
    fn seen(&self, packer: &Arc<Packer>) -> FoundObject {
        match self {
            Self::Resting { idle, .. } | Self::Waiting { idle, .. } => {
                let (packed, packer) = (idle.actor.manifest().clone(), Arc::clone(packer));
                FoundObject::new(idle.actor.at(), move || packer.unpack::<Shown>(&packed.text).ok())
            }
            Self::Running { view, .. } => {
                let view = view.locked();
                let (at, object) = (view.at, Arc::clone(&view.object));
                FoundObject::new(at, move || Some(Shown::of(&*object)))
            }
        }
    }

    fn position(&self, now: Now) -> Position {
        match self {
            Self::Resting { idle, .. } | Self::Waiting { idle, .. } => Position {
                since: idle.actor.since(),
                waits_for: idle.actor.waits_for(now),
            },
            Self::Running { view, .. } => {
                let view = view.locked();
                let ask = view.object.status().and_then(|s| s.machine().ask.as_ref());
                Position {
                    since: view.since,
                    waits_for: ask.and_then(|ask| O::Machine::GRAPH.find(&ask.to)),
                }
            }
        }
    }
}

pub(in crate::cluster) struct Dispatcher<O: Operator> {
    world: Arc<Remote<O>>,
    slots: BTreeMap<Uid, Slot<O>>,
    index: WatchIndex,
    /// How often each watch has listed all objects.
    listings: HashMap<usize, u64>,
    heartbeat: Heartbeat,
    /// Queries from the state page.
    requests: mpsc::Receiver<ViewRequest>,
    timers: DelayQueue<Uid>,
    tasks: JoinSet<Ended<O>>,
    packer: Arc<Packer>,
    /// The objects that wait for a task.
    backlog: Backlog,
    /// Whether all objects were listed since this replica acts, so that it is known which of them there are.
    listed: bool,
    /// Requests about children whose owner has no task.
    cleaning: JoinSet<()>,
}

impl<O: Operator<Machine: Linked>> Dispatcher<O>
where
    ManifestOf<O::Machine>: KubeObject,
{
    pub fn new(world: Remote<O>, heartbeat: Heartbeat, requests: mpsc::Receiver<ViewRequest>) -> Self {
        Self {
            world: Arc::new(world),
            slots: BTreeMap::new(),
            index: WatchIndex::default(),
            listings: HashMap::new(),
            heartbeat,
            requests,
            timers: DelayQueue::new(),
            tasks: JoinSet::new(),
            packer: Arc::default(),
            backlog: Backlog::default(),
            listed: false,
            cleaning: JoinSet::new(),
        }
    }

    /// Handles the objects from when this replica leads until `stop` is true; running handlers then have the
    /// time `grace` to end. A replica that does not lead only watches, which fills its caches and checks its
    /// permissions. `objects` begins with a listing that starts after this replica leads.
    pub async fn run(
        mut self,
        mut objects: OwnObjects,
        others: Vec<BoxStream<'static, LinkEvent>>,
        mut stop: watch::Receiver<bool>,
        grace: Duration,
    ) {
        // Handlers start when the caches of other kinds are filled. A kind that cannot be listed does not delay them.
        let mut unlisted: BTreeSet<usize> = (0..others.len()).collect();
        let others = others
            .into_iter()
            .enumerate()
            .map(|(at, seen)| seen.map(move |seen| (at, seen)).boxed());
        let mut others = select_all(others);
        let limiter = Arc::clone(&self.world.cluster.limiter);
        let world = Arc::clone(&self.world);
        // No time is stored before the API server's clock is known.
        let mut dated = pin!(world.clock.known(&world.watching));
        let mut is_dated = false;
        let mut beat = tokio::time::interval(health::BEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => break,
                _ = beat.tick() => {
                    self.heartbeat.beats();
                    self.take_turns();
                },
                served = turns::served(&world), if world.places.is_some() => {
                    for uid in served {
                        self.notify(&uid, |queued| queued.has_turn = true);
                    }
                },
                Some(request) = self.requests.recv() => self.show(request),
                Some(ended) = self.tasks.join_next_with_id() => self.ended(ended),
                Some(timer) = self.timers.next() => self.due(&timer.into_inner()),
                () = &mut dated, if !is_dated => is_dated = true,
                () = limiter.below_limit(), if !self.backlog.is_empty() => self.begin(),
                // Own objects come before other kinds: if an object and its children are deleted together,
                // its handler must not apply the children again.
                Some(seen) = objects.next(), if is_dated && unlisted.is_empty() => match seen {
                    OwnSeen::Of(source, seen) => self.saw(source, seen),
                    OwnSeen::Listed => self.listed(),
                },
                Some((at, seen)) = others.next() => match seen {
                    LinkEvent::Listed => {
                        unlisted.remove(&at);
                        self.clean_up_all();
                    }
                    LinkEvent::Changed(change) => self.other_changed(at, &change),
                },
            }
        }
        drop(objects);
        self.drain(grace).await;
    }

    /// Answers a request about the objects, such as one from the state page.
    fn show(&mut self, mut request: ViewRequest) {
        #[cfg(feature = "dev")]
        if request.is_order() {
            let is_meant = |(_, slot): &(_, &Slot<O>)| request.wants(&slot.life.seen(&self.packer));
            let meant = self.slots.iter().filter(is_meant);
            for uid in meant.map(|(uid, _)| Arc::clone(uid)).collect::<Vec<_>>() {
                self.notify(&uid, |queued| queued.by_hand = request.takes());
            }
            return request.answer();
        }
        let now = self.world.now();
        for slot in self.slots.values() {
            request.see(|| slot.life.position(now), || slot.life.seen(&self.packer));
        }
        request.answer();
    }

    fn saw(&mut self, source: usize, seen: watcher::Event<Arc<Raw>>) {
        match seen {
            watcher::Event::Init => *self.listings.entry(source).or_default() += 1,
            watcher::Event::InitApply(object) | watcher::Event::Apply(object) => self.changed(source, object),
            watcher::Event::InitDone => {
                let listing = self.listing(source);
                let unlisted = self
                    .slots
                    .iter()
                    .filter(|(_, s)| s.source == source && s.listing != listing);
                for uid in unlisted.map(|(uid, _)| Arc::clone(uid)).collect::<Vec<_>>() {
                    self.notify(&uid, |queued| queued.gone = true);
                }
                self.clean_up_all();
            }
            watcher::Event::Delete(object) => {
                self.notify(object.uid(), |queued| queued.gone = true);
                // Children of a known object are handled when its machine ends.
                if !self.slots.contains_key(object.uid()) {
                    self.forget_places(&object.uid().into());
                    self.clean_up(self.world.cluster.left_by(object.uid()));
                }
            }
        }
    }

    /// Records that all objects have been listed since this replica leads.
    fn listed(&mut self) {
        self.listed = true;
        self.clean_up_all();
        if let Some(places) = &self.world.places {
            places.complete();
        }
    }

    /// Cleans up all children that need it. Before the objects are listed, missing owners cannot be recognized.
    fn clean_up_all(&mut self) {
        if self.listed {
            let orphans = self.world.cluster.orphans(|uid| self.slots.contains_key(uid));
            self.clean_up(orphans);
        }
    }

    fn clean_up(&mut self, orphans: impl IntoIterator<Item = Orphan>) {
        while self.cleaning.try_join_next().is_some() {}
        for orphan in orphans {
            let world = Arc::clone(&self.world);
            self.cleaning
                .spawn(host::own(async move { world.clean_up(orphan).await }));
        }
    }

    /// The number of a watch's last listing.
    fn listing(&self, source: usize) -> u64 {
        self.listings.get(&source).copied().unwrap_or_default()
    }

    fn changed(&mut self, source: usize, raw: Arc<Raw>) {
        let listing = self.listing(source);
        let uid: Uid = raw.uid().into();
        if let Some(slot) = self.slots.get_mut(&uid) {
            slot.listing = listing;
            let observed = if self.world.cluster.links.iter().all(Link::is_owned) {
                let world = Arc::clone(&self.world);
                ObservedObject::new(version(&*raw), move || world.decode(&raw))
            } else {
                // The index has to follow, because the object may refer to other objects now.
                let Some(object) = self.world.decode(&raw) else {
                    return;
                };
                self.index.update(&uid, &*object, &self.world.cluster.links);
                object.into()
            };
            return self.notify(&uid, |queued| {
                queued.observed = observed.version;
                queued.object = Some(observed);
            });
        }
        let Some(object) = self.world.decode(&raw) else {
            if let Some(places) = &self.world.places {
                places.unreadable(&raw, &undecodable::machine_status(&raw));
            }
            return;
        };
        if !Actor::<O::Machine>::is_responsible_for(O::Machine::GRAPH, &object) {
            return;
        }
        self.index.update(&uid, &*object, &self.world.cluster.links);
        let graph = O::Machine::GRAPH;
        let mut actor = Actor::<O::Machine>::new(graph, Arc::clone(&object), None, self.world.now());
        // All objects are counted before any is admitted to a state with a limit.
        actor.claim_places(&*self.world);
        let counted = Counted::new(Arc::clone(&self.world.metrics), actor.at());
        let tracked = Tracked { actor, counted };
        let observed = object.status().and_then(|s| s.machine().observed_generation);
        let at_rest = observed == Some(object.generation());
        let life = self.start(&uid, tracked, Queued::default(), at_rest);
        self.keep(uid, life, source, listing);
    }

    /// Notifies the objects that a change of another kind concerns.
    fn other_changed(&mut self, at: usize, observed: &ObservedChange) {
        let world = Arc::clone(&self.world);
        let Some(link) = world.cluster.links.get(at) else {
            return;
        };
        let child = link.is_owned().then(|| (link.child(observed), observed.version));
        let change = Change {
            names: link.names(),
            child,
        };
        for uid in self.index.of(at, link, observed) {
            self.notify(&uid, |queued| queued.changes.push(change.clone()));
        }
        if self.listed {
            let child = (&*observed.namespace, &*observed.name);
            let owner = (observed.controller.as_deref(), link.labelled(observed));
            let orphan = world
                .cluster
                .orphan(at, child, owner, |uid| self.slots.contains_key(uid));
            self.clean_up(orphan);
        }
    }

    /// Adds to the observations of an object, if the operator looks after it.
    fn notify(&mut self, uid: &str, write: impl FnOnce(&mut Queued<ManifestOf<O::Machine>>)) {
        match self.slots.get_mut(uid).map(|slot| &mut slot.life) {
            Some(Life::Running { queue, .. }) => queue.push(write),
            Some(Life::Waiting { idle, queued, rank }) => {
                write(queued);
                if !queued.is_old(idle.actor.manifest().version) {
                    self.backlog.hurry(rank);
                }
            }
            Some(Life::Resting { .. }) => {
                let mut queued = Queued::default();
                write(&mut queued);
                self.receive(uid, queued);
            }
            None => {}
        }
    }

    fn due(&mut self, uid: &Uid) {
        if let Some(Slot {
            life: Life::Resting { timer, .. },
            ..
        }) = self.slots.get_mut(uid)
        {
            *timer = None;
            self.receive(uid, Queued::default());
        }
    }

    /// Passes observations to an object at rest, which stays at rest or gets a task.
    fn receive(&mut self, uid: &str, queued: Queued<ManifestOf<O::Machine>>) {
        let Some((uid, slot)) = self.slots.remove_entry(uid) else {
            return;
        };
        let life = match slot.life {
            Life::Resting { idle, timer } if !queued.is_old(idle.actor.manifest().version) => {
                self.wake(&uid, *idle, timer, queued)
            }
            other => Some(other),
        };
        self.keep(uid, life, slot.source, slot.listing);
    }

    /// Keeps an object, unless it cannot be packed.
    fn keep(&mut self, uid: Uid, life: Option<Life<O>>, source: usize, listing: u64) {
        match life {
            Some(life) => {
                let slot = Slot {
                    life,
                    source,
                    listing,
                };
                self.slots.insert(uid, slot);
            }
            None => self.index.forget(&uid),
        }
    }
}
