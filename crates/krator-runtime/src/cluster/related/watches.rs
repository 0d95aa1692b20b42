//! The watches of the process: one for each kind and namespace, shared by all operators and links. It covers
//! the widest need: all namespaces include a single one, and whole objects include their metadata.
mod cache;
mod events;
mod listings;

pub(in crate::cluster) use cache::{Cache, KindCache, drop_managed_fields};
pub(in crate::cluster) use events::{OwnSeen, Seen};
pub(in crate::cluster) use listings::Need;

use crate::{
    cluster::{
        api::raw::{Endpoint, Labels, Raw},
        host,
        process::health::Health,
    },
    resource::{Child, Place, Selector},
};
use events::{OwnEvents, Watch};
use futures::{
    FutureExt as _, StreamExt as _,
    stream::{self, BoxStream},
};
use kube::{Client, Resource, runtime::watcher};
use std::{
    any::TypeId,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::JoinSet,
};

/// The events of the operator's own objects. Each has the number of its watch.
pub(in crate::cluster) type OwnObjects = BoxStream<'static, OwnSeen>;

/// An event of a watch of another kind.
#[derive(Clone)]
pub(in crate::cluster) enum LinkEvent {
    /// An object was created, changed or deleted.
    Changed(Arc<ObservedChange>),
    /// All objects are known, or they cannot be listed at the moment; then the event comes again when they are known.
    Listed,
}

/// A changed object, as far as links need it.
pub(in crate::cluster) struct ObservedChange {
    pub namespace: String,
    pub name: String,
    pub version: u64,
    /// The uid of the object that owns it.
    pub controller: Option<String>,
    /// The values of the labels that links read, both former and present ones.
    pub labels: Vec<(&'static str, String)>,
}

/// Collects the needs of the whole process until [`start`](Self::start).
#[derive(Default)]
pub(in crate::cluster) struct SharedWatches(BTreeMap<String, Kind>);

/// The parts that all watches share.
pub(in crate::cluster) struct Common {
    pub client: Client,
    /// The label selector of the operator's own objects.
    pub selector: Option<Selector>,
    /// Whether this replica acts.
    pub leads: watch::Receiver<bool>,
    pub health: Health,
}

/// The needs of the process for one kind.
struct Kind {
    endpoint: Endpoint,
    /// The namespaces; the empty name stands for all of them.
    namespaces: BTreeSet<String>,
    /// The dispatchers for which the kind is the operator's own.
    owns: Vec<Own>,
    caches: Vec<(TypeId, Arc<dyn Cache>)>,
    /// Whether whole objects are needed. This may become true while the process runs, and never false.
    whole: watch::Sender<bool>,
}

struct Own {
    namespaces: BTreeSet<String>,
    objects: oneshot::Sender<OwnObjects>,
}

impl SharedWatches {
    /// The operator's own objects of a kind, in these namespaces; none stands for all.
    pub fn own<K: Resource<DynamicType = (), Scope: Place>>(&mut self, namespaces: &[String]) -> OwnObjects {
        let (objects, started) = oneshot::channel();
        let kind = self.kind::<K>(namespaces);
        kind.whole.send_replace(true);
        kind.owns.push(Own {
            namespaces: namespaces.iter().cloned().collect(),
            objects,
        });
        let started = started.map(|objects| objects.unwrap_or_else(|_| stream::empty().boxed()));
        started.flatten_stream().boxed()
    }

    /// The events of another kind in these namespaces, and its cache.
    pub fn link<K: Child>(
        &mut self,
        namespaces: &[String],
        need: Need,
    ) -> (BoxStream<'static, LinkEvent>, Arc<KindCache<K>>) {
        let kind = self.kind::<K>(namespaces);
        let of = TypeId::of::<K>();
        let known = kind.caches.iter().find(|(known, _)| *known == of);
        let known = known.and_then(|(_, cache)| Arc::clone(cache).as_any().downcast().ok());
        let cache: Arc<KindCache<K>> = known.unwrap_or_else(|| {
            let cache = Arc::new(KindCache::new(kind.whole.clone()));
            kind.caches.push((of, Arc::clone(&cache) as _));
            cache
        });
        if need == Need::Whole {
            kind.whole.send_replace(true);
        }
        let (sender, events) = channel();
        cache.serve(need, sender);
        (events, cache)
    }

    fn kind<K: Resource<DynamicType = (), Scope: Place>>(&mut self, namespaces: &[String]) -> &mut Kind {
        let endpoint = Endpoint::of::<K>();
        let everywhere = [String::new()];
        let namespaces = if endpoint.is_namespaced() && !namespaces.is_empty() {
            namespaces
        } else {
            &everywhere
        };
        let kind = self.0.entry(endpoint.path()).or_insert_with(|| Kind {
            endpoint,
            namespaces: BTreeSet::new(),
            owns: Vec::new(),
            caches: Vec::new(),
            whole: watch::channel(false).0,
        });
        kind.namespaces.extend(namespaces.iter().cloned());
        kind
    }

    /// Starts all watches. They end when the answer is dropped. Everything that the process has to list before it is ready
    /// is known when this returns.
    pub fn start(self, common: &Common) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        for kind in self.0.into_values() {
            kind.start(common, &mut tasks);
        }
        tasks
    }
}

impl Kind {
    fn start(mut self, common: &Common, tasks: &mut JoinSet<()>) {
        if self.namespaces.contains("") {
            self.namespaces = [String::new()].into();
        }
        // Objects of links need not match the selector, so they are filtered here.
        let (by_server, here) = if self.caches.is_empty() {
            (common.selector.clone(), None)
        } else {
            (None, common.selector.clone())
        };
        // The last writes of a former leader may not have been observed, so the next one lists its own objects once more.
        let leads = (!self.owns.is_empty()).then(|| common.leads.clone());
        let places = self.namespaces.iter().enumerate().map(|(number, namespace)| {
            let place = Watch {
                endpoint: self.endpoint.clone(),
                namespace: namespace.clone(),
                client: common.client.clone(),
                selector: by_server.as_ref().map(|selector| selector.as_str().to_owned()),
                listing: common.health.waits_for_listing(&self.endpoint, namespace),
            };
            let events = place.run(self.whole.subscribe(), leads.clone());
            events.map(move |(leads, seen)| (number, leads, seen)).boxed()
        });
        let seen = stream::select_all(places);
        for (_, cache) in &self.caches {
            cache.begin(self.namespaces.len());
        }
        if self.caches.is_empty()
            && self.owns.len() == 1
            && let Some(own) = self.owns.pop()
        {
            // No other part needs the events, so the loop of the kind handles them where they arrive.
            let mut events = OwnEvents::of(self.namespaces.len());
            let own_objects =
                seen.flat_map(move |(number, leads, seen)| stream::iter(events.take(number, leads, seen)));
            return drop(own.objects.send(own_objects.boxed()));
        }
        let sinks = self
            .owns
            .into_iter()
            .map(|own| Sink::new(own, here.clone()))
            .collect();
        let events = OwnEvents::of(self.namespaces.len());
        tasks.spawn(host::own(share(seen, events, self.caches, sinks)));
    }
}

/// A channel to a loop.
///
/// The channel is unbounded, because two kinds may watch each other, and neither processes its own events
/// before it has listed the other. It holds one listing at most, and each loop only dispatches its events.
fn channel<T: Send + 'static>() -> (mpsc::UnboundedSender<T>, BoxStream<'static, T>) {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let events = stream::poll_fn(move |cx| receiver.poll_recv(cx));
    (sender, events.boxed())
}

/// Passes the events of a kind on to everybody who needs them.
async fn share(
    mut seen: impl futures::Stream<Item = (usize, bool, Seen)> + Unpin,
    mut events: OwnEvents,
    caches: Vec<(TypeId, Arc<dyn Cache>)>,
    sinks: Vec<Sink>,
) {
    while let Some((number, leads, seen)) = seen.next().await {
        for (_, cache) in &caches {
            cache.see(number, &seen);
        }
        for event in events.take(number, leads, seen) {
            for sink in &sinks {
                sink.pass(&event);
            }
        }
    }
}

/// The loop of a kind that shares its watch with others.
struct Sink {
    namespaces: BTreeSet<String>,
    selector: Option<Selector>,
    events: mpsc::UnboundedSender<OwnSeen>,
}

impl Sink {
    fn new(own: Own, selector: Option<Selector>) -> Self {
        let (events, objects) = channel();
        // This fails if the loop has ended, which is not an error.
        drop(own.objects.send(objects));
        Self {
            namespaces: own.namespaces,
            selector,
            events,
        }
    }

    fn pass(&self, seen: &OwnSeen) {
        let seen = match seen {
            OwnSeen::Of(_, watcher::Event::InitApply(object)) if !self.selects(object) => return,
            // The object may have matched the selector before.
            OwnSeen::Of(number, watcher::Event::Apply(object)) if !self.selects(object) => {
                OwnSeen::Of(*number, watcher::Event::Delete(Arc::clone(object)))
            }
            seen => seen.clone(),
        };
        drop(self.events.send(seen));
    }

    fn selects(&self, object: &Raw) -> bool {
        let namespace = object.meta().namespace.as_deref().unwrap_or_default();
        let is_here =
            namespace.is_empty() || self.namespaces.is_empty() || self.namespaces.contains(namespace);
        is_here
            && self.selector.as_ref().is_none_or(|selector| {
                selector.matches(&object.read_metadata::<Labels>().labels.unwrap_or_default())
            })
    }
}
