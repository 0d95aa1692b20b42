//! What is known of the objects of other kinds. Of kinds that are only watched, whole objects, for that is what
//! handlers look at. Of owned ones their metadata, which tells drift: whole ones from the time that a handler asks
//! for them.
use super::{
    links::{LinkEvent, LinkWatch, ObservedChange},
    watch_backoff::WatchBackoff,
};
use crate::{
    error::{Error, Result},
    resource::{Child, Place, controller, version},
};
use futures::{FutureExt as _, Stream, StreamExt as _, stream::BoxStream};
use kube::{
    Api, Client, Resource, ResourceExt as _,
    core::{DeserializeGuard, PartialObjectMeta},
    runtime::{
        WatchStreamExt as _,
        reflector::{self, Store, store::Writer},
        watcher,
    },
};
use std::{sync::Arc, time::Duration};
use tokio::sync::watch;

/// How long the first handler that asks for whole objects waits for them.
const LONGEST_LISTING: Duration = Duration::from_secs(30);

/// The caches of a kind, one a watch.
pub(crate) struct Caches<K: Child> {
    whole: Vec<Store<K>>,
    /// Of an owned kind, in use until whole objects are asked for.
    metadata: Vec<Store<PartialObjectMeta<K>>>,
    whole_wanted: watch::Sender<bool>,
}

/// What of a child tells whether it is as it was applied.
pub(crate) struct Known {
    pub version: u64,
    pub controller: Option<String>,
}

impl<K: Child> Caches<K> {
    pub fn get(&self, namespace: &str, name: &str) -> Option<Arc<K>> {
        get(&self.whole, namespace, name)
    }
    pub fn all(&self) -> impl Iterator<Item = Arc<K>> {
        self.whole.iter().flat_map(Store::state)
    }
    /// The metadata of a child, as watched.
    pub fn known(&self, namespace: &str, name: &str) -> Option<Known> {
        if *self.whole_wanted.borrow() {
            get(&self.whole, namespace, name).map(|child| Known::of(&*child))
        } else {
            get(&self.metadata, namespace, name).map(|child| Known::of(&*child))
        }
    }
    /// From now on whole objects are watched; ends when all of them are here.
    pub async fn fill(&self) -> Result<()> {
        self.whole_wanted.send_replace(true);
        let listed = futures::future::try_join_all(self.whole.iter().map(Store::wait_until_ready));
        match tokio::time::timeout(LONGEST_LISTING, listed).await {
            Ok(listed) => drop(listed?),
            Err(_) => {
                return Err(Error::from(format!(
                    "objects of kind {} cannot be listed",
                    K::kind(&())
                )));
            }
        }
        Ok(())
    }
}

impl Known {
    pub fn of<K: Resource>(object: &K) -> Self {
        Self {
            version: version(object),
            controller: controller(object).map(str::to_owned),
        }
    }
}

fn get<K: Resource<DynamicType = ()> + Clone>(
    stores: &[Store<K>],
    namespace: &str,
    name: &str,
) -> Option<Arc<K>> {
    let mut reference = reflector::ObjectRef::<K>::new(name);
    if !namespace.is_empty() {
        reference = reference.within(namespace);
    }
    // A kind without namespaces is found whatever namespace it is looked for in.
    let found = |reference: &reflector::ObjectRef<K>| stores.iter().find_map(|store| store.get(reference));
    found(&reference).or_else(|| found(&reflector::ObjectRef::<K>::new(name)))
}

pub(super) fn start_watched<K: Child>(client: Client, namespaces: &[String]) -> LinkWatch {
    let (mut stores, mut streams) = (Vec::new(), Vec::new());
    for namespace in places(namespaces) {
        let (store, writer) = reflector::store::<K>();
        streams.push(whole(client.clone(), namespace, &store, writer, false));
        stores.push(store);
    }
    LinkWatch {
        seen: futures::stream::select_all(streams).boxed(),
        caches: Arc::new(Caches {
            whole: stores,
            metadata: Vec::new(),
            whole_wanted: watch::channel(true).0,
        }),
    }
}

pub(super) fn start_owned<K: Child>(client: Client, namespaces: &[String]) -> LinkWatch {
    let (wanted, is_wanted) = watch::channel(false);
    let (mut stores, mut metadata, mut streams) = (Vec::new(), Vec::new(), Vec::new());
    for namespace in places(namespaces) {
        let (slim, slim_writer) = reflector::store::<PartialObjectMeta<K>>();
        let (store, writer) = reflector::store::<K>();
        let api: Api<PartialObjectMeta<K>> = <K::Scope as Place>::api(client.clone(), namespace);
        let events = watcher(api, watcher::Config::default()).modify(drop_what_nobody_reads);
        let mut is_wanted = is_wanted.clone();
        // Ends also with the last handler that could ask.
        let until_wanted = async move { drop(is_wanted.wait_for(|wanted| *wanted).await) };
        let slim_seen =
            seen(reflector::reflector(slim_writer, events), false).take_until(until_wanted.boxed());
        // What the metadata told last is not what the whole objects say: all of them count as changed.
        let seen = slim_seen.chain(whole(client.clone(), namespace, &store, writer, true));
        streams.push(seen.boxed());
        metadata.push(slim);
        stores.push(store);
    }
    LinkWatch {
        seen: futures::stream::select_all(streams).boxed(),
        caches: Arc::new(Caches {
            whole: stores,
            metadata,
            whole_wanted: wanted,
        }),
    }
}

/// The namespaces to watch; the empty one is all of them.
fn places(namespaces: &[String]) -> impl Iterator<Item = &str> {
    let everywhere = namespaces.is_empty().then_some("");
    namespaces.iter().map(String::as_str).chain(everywhere)
}

fn whole<K: Child>(
    client: Client,
    namespace: &str,
    store: &Store<K>,
    writer: Writer<K>,
    listed: bool,
) -> BoxStream<'static, LinkEvent> {
    let api: Api<DeserializeGuard<K>> = <K::Scope as Place>::api(client, namespace);
    let cached = store.clone();
    let events = watcher(api, watcher::Config::default()).filter_map(move |event| {
        let readable = event.map(|event| readable(event, &cached)).transpose();
        std::future::ready(readable)
    });
    seen(reflector::reflector(writer, events), listed).boxed()
}

/// What a watch says, once it is in the cache. The first listing is what handlers start with, and says nothing of
/// each object, unless `listed` says that there was one before: a later one may have missed changes.
fn seen<K: Resource<DynamicType = ()>>(
    events: impl Stream<Item = watcher::Result<watcher::Event<K>>> + Send + 'static,
    mut listed: bool,
) -> impl Stream<Item = LinkEvent> {
    events.backoff(WatchBackoff::default()).filter_map(move |event| {
        let seen = match event {
            Ok(watcher::Event::Apply(object) | watcher::Event::Delete(object)) => Some(LinkEvent::Changed(sight(&object))),
            Ok(watcher::Event::InitApply(object)) => listed.then(|| LinkEvent::Changed(sight(&object))),
            Ok(watcher::Event::InitDone) => {
                listed = true;
                Some(LinkEvent::Listed)
            }
            Ok(watcher::Event::Init) => None,
            Err(error) => {
                tracing::warn!(kind = %K::kind(&()), %error, "a watch of another kind failed; it is tried again");
                Some(LinkEvent::Listed)
            }
        };
        std::future::ready(seen)
    })
}

/// Half of an object's bytes, as a rule.
pub(super) fn drop_what_nobody_reads<K: Resource>(object: &mut K) {
    object.meta_mut().managed_fields = None;
}

/// What a watch says of objects that are what their type says, without the fields that nobody reads: half of their
/// bytes, as a rule. One that cannot be read is reported, and is not in the cache; the others go on.
fn readable<K: Child>(
    event: watcher::Event<DeserializeGuard<K>>,
    cache: &Store<K>,
) -> Option<watcher::Event<K>> {
    let read = |DeserializeGuard(object): DeserializeGuard<K>| match object {
        Ok(mut object) => {
            drop_what_nobody_reads(&mut object);
            Ok(object)
        }
        Err(unreadable) => {
            let meta = unreadable.metadata;
            let (namespace, name) = (
                meta.namespace.as_deref(),
                meta.name.as_deref().unwrap_or_default(),
            );
            tracing::warn!(kind = %K::kind(&()), namespace, name, error = unreadable.error, "an object cannot be read");
            let mut reference = reflector::ObjectRef::<K>::new(name);
            reference.namespace = meta.namespace;
            Err(cache.get(&reference))
        }
    };
    let gone = |known: Option<Arc<K>>| known.map(|known| watcher::Event::Delete(K::clone(&known)));
    match event {
        watcher::Event::Init => Some(watcher::Event::Init),
        watcher::Event::InitDone => Some(watcher::Event::InitDone),
        watcher::Event::InitApply(object) => read(object).ok().map(watcher::Event::InitApply),
        watcher::Event::Apply(object) => {
            read(object).map_or_else(gone, |object| Some(watcher::Event::Apply(object)))
        }
        watcher::Event::Delete(object) => {
            read(object).map_or_else(gone, |object| Some(watcher::Event::Delete(object)))
        }
    }
}

fn sight<K: Resource>(object: &K) -> ObservedChange {
    ObservedChange {
        namespace: object.namespace().unwrap_or_default(),
        name: object.name_any(),
        version: version(object),
        controller: controller(object).map(str::to_owned),
        labels: object
            .labels()
            .iter()
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
    }
}
