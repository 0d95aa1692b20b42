//! Caches of objects of other kinds. Kinds that are only watched are cached as whole objects, because handlers read
//! them. Of owned kinds only the metadata is cached, which is enough to detect drift, until a handler asks for whole
//! objects for the first time.
use super::{
    health::{Health, Wait},
    links::{LinkEvent, LinkWatch, ObservedChange},
    watch_backoff::WatchBackoff,
};
use crate::{
    error::{Error, Result},
    resource::{Child, Place, controller, controller_reference, version},
};
use futures::{FutureExt as _, Stream, StreamExt as _, stream::BoxStream};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
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

/// How long the first handler that asks for whole objects waits until they are listed.
const LONGEST_LISTING: Duration = Duration::from_secs(30);

/// The caches of a kind, one for each watch.
pub(crate) struct Caches<K: Child> {
    whole: Vec<Store<K>>,
    /// Used for owned kinds until a handler asks for whole objects.
    metadata: Vec<Store<PartialObjectMeta<K>>>,
    whole_wanted: watch::Sender<bool>,
}

/// What is needed to decide whether a child is as it was applied.
pub(crate) struct Known {
    pub version: u64,
    pub controller: Option<OwnerReference>,
}

impl<K: Child> Caches<K> {
    pub fn get(&self, namespace: &str, name: &str) -> Option<Arc<K>> {
        get(&self.whole, namespace, name)
    }
    pub fn all(&self) -> impl Iterator<Item = Arc<K>> {
        self.whole.iter().flat_map(Store::state)
    }
    /// A child according to the cache in use.
    pub fn known(&self, namespace: &str, name: &str) -> Option<Known> {
        if *self.whole_wanted.borrow() {
            get(&self.whole, namespace, name).map(|child| Known::of(&*child))
        } else {
            get(&self.metadata, namespace, name).map(|child| Known::of(&*child))
        }
    }
    /// Switches to caches of whole objects, and waits until all objects are listed.
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
            controller: controller_reference(object).cloned(),
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
    // An object without a namespace is found no matter which namespace the caller asks for.
    let found = |reference: &reflector::ObjectRef<K>| stores.iter().find_map(|store| store.get(reference));
    found(&reference).or_else(|| found(&reflector::ObjectRef::<K>::new(name)))
}

pub(super) fn start_watched<K: Child>(client: Client, namespaces: &[String], health: &Health) -> LinkWatch {
    let (mut stores, mut streams) = (Vec::new(), Vec::new());
    for namespace in places(namespaces) {
        let (store, writer) = reflector::store::<K>();
        let listing = Some(health.waits_for_listing::<K>(namespace));
        streams.push(whole(client.clone(), namespace, &store, writer, listing));
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

pub(super) fn start_owned<K: Child>(client: Client, namespaces: &[String], health: &Health) -> LinkWatch {
    let (wanted, is_wanted) = watch::channel(false);
    let (mut stores, mut metadata, mut streams) = (Vec::new(), Vec::new(), Vec::new());
    for namespace in places(namespaces) {
        let (slim, slim_writer) = reflector::store::<PartialObjectMeta<K>>();
        let (store, writer) = reflector::store::<K>();
        let api: Api<PartialObjectMeta<K>> = <K::Scope as Place>::api(client.clone(), namespace);
        let events = watcher(api, watcher::Config::default()).modify(drop_managed_fields);
        let mut is_wanted = is_wanted.clone();
        // This also ends when the sender is dropped, after which no handler can ask any more.
        let until_wanted = async move { drop(is_wanted.wait_for(|wanted| *wanted).await) };
        let listing = Some(health.waits_for_listing::<K>(namespace));
        let slim_seen =
            seen(reflector::reflector(slim_writer, events), listing).take_until(until_wanted.boxed());
        // Changes between the last metadata and the listing of whole objects are missed, so all of them are reported.
        let seen = slim_seen.chain(whole(client.clone(), namespace, &store, writer, None));
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

/// The namespaces to watch. The empty string stands for all namespaces.
fn places(namespaces: &[String]) -> impl Iterator<Item = &str> {
    let everywhere = namespaces.is_empty().then_some("");
    namespaces.iter().map(String::as_str).chain(everywhere)
}

fn whole<K: Child>(
    client: Client,
    namespace: &str,
    store: &Store<K>,
    writer: Writer<K>,
    listing: Option<Wait>,
) -> BoxStream<'static, LinkEvent> {
    let api: Api<DeserializeGuard<K>> = <K::Scope as Place>::api(client, namespace);
    let cached = store.clone();
    let events = watcher(api, watcher::Config::default()).filter_map(move |event| {
        let readable = event.map(|event| readable(event, &cached)).transpose();
        std::future::ready(readable)
    });
    seen(reflector::reflector(writer, events), listing).boxed()
}

/// The events of a watch, after they are in the cache. The objects of the first listing are not reported, because
/// every handler runs after the start anyway. Those of later listings are, because changes before them may have
/// been missed. `listing` waits for the first listing; without it there was one before.
fn seen<K: Resource<DynamicType = ()>>(
    events: impl Stream<Item = watcher::Result<watcher::Event<K>>> + Send + 'static,
    mut listing: Option<Wait>,
) -> impl Stream<Item = LinkEvent> {
    let changed = |object: &K| Some(LinkEvent::Changed(observed(object)));
    events.backoff(WatchBackoff::default()).filter_map(move |event| {
        let seen = match event {
            Ok(watcher::Event::Apply(object) | watcher::Event::Delete(object)) => changed(&object),
            Ok(watcher::Event::InitApply(object)) if listing.is_none() => changed(&object),
            Ok(watcher::Event::InitDone) => {
                if let Some(listing) = listing.take() {
                    listing.done();
                }
                Some(LinkEvent::Listed)
            }
            Ok(watcher::Event::Init | watcher::Event::InitApply(_)) => None,
            Err(error) => {
                let error = Error::from(error);
                tracing::warn!(kind = %K::kind(&()), %error, "a watch of another kind failed and will be retried");
                if let Some(listing) = &listing {
                    listing.fails(&error);
                }
                Some(LinkEvent::Listed)
            }
        };
        std::future::ready(seen)
    })
}

/// Drops the managed fields, which often take half of an object's memory and which nothing reads.
pub(super) fn drop_managed_fields<K: Resource>(object: &mut K) {
    object.meta_mut().managed_fields = None;
}

/// The event with its object decoded. An object that cannot be decoded is logged and removed from the cache, so
/// that it does not hold up the others.
fn readable<K: Child>(
    event: watcher::Event<DeserializeGuard<K>>,
    cache: &Store<K>,
) -> Option<watcher::Event<K>> {
    let read = |DeserializeGuard(object): DeserializeGuard<K>| match object {
        Ok(mut object) => {
            drop_managed_fields(&mut object);
            Ok(object)
        }
        Err(unreadable) => {
            let meta = unreadable.metadata;
            let (namespace, name) = (
                meta.namespace.as_deref(),
                meta.name.as_deref().unwrap_or_default(),
            );
            tracing::warn!(
                kind = %K::kind(&()),
                namespace,
                name,
                error = unreadable.error,
                "an object could not be decoded"
            );
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

fn observed<K: Resource>(object: &K) -> ObservedChange {
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
