//! Other kinds that an operator looks at: those that it owns, and those that it watches. One watch a kind feeds a
//! cache, and says which of our objects are concerned.
use super::{Child, Place, patience::Patience};
use crate::{Machine, ManifestOf, Object as _, Watch, applied::ChildKey};
use futures::{StreamExt as _, stream::BoxStream};
use kube::{
    Api, Client, Resource, ResourceExt as _,
    core::DeserializeGuard,
    runtime::{WatchStreamExt as _, reflector, watcher},
};
use std::{
    any::{Any, TypeId},
    sync::Arc,
};

/// The kinds that a machine's operator looks at. Generated.
pub trait Linked: Machine {
    /// All of them.
    fn links() -> Vec<Link<Self>> {
        Vec::new()
    }
}

/// A kind that an operator looks at.
pub struct Link<M: Machine> {
    /// As a description names it: `batch/v1.Job`.
    pub(crate) kind: &'static str,
    pub(crate) of: TypeId,
    pub(crate) concerns: Concerns<M>,
    start: fn(Client, &[String]) -> Started,
}

/// Which of our objects an object of a watched kind concerns.
pub enum Concerns<M: Machine> {
    /// The one that owns it.
    Owner,
    /// Those that name it, in this namespace.
    Named(fn(&ManifestOf<M>) -> Vec<String>, LookIn<M>),
    /// The one whose name this label of it has.
    Label(&'static str),
    /// All of them.
    All,
}

/// The namespace in which a named object is looked for.
pub enum LookIn<M: Machine> {
    /// That of the object which names it.
    Own,
    /// Always this.
    Always(&'static str),
    /// What a field says.
    Told(fn(&ManifestOf<M>) -> Vec<String>),
}

/// A watch that runs, and what it feeds: a cache for each namespace.
pub(crate) struct Started {
    pub seen: BoxStream<'static, Seen>,
    pub caches: Arc<dyn Any + Send + Sync>,
}

/// What a watch of another kind says.
pub(crate) enum Seen {
    /// An object came, changed or went.
    Changed(Sight),
    /// All objects are in the cache, or cannot be listed now.
    Listed,
}

/// What is known of another object's change.
pub(crate) struct Sight {
    pub namespace: String,
    pub name: String,
    pub version: u64,
    pub controller: Option<String>,
    pub labels: Vec<(String, String)>,
}

/// The caches of a kind, one a watch.
pub(crate) struct Caches<K: Child>(Vec<reflector::Store<K>>);

impl<K: Child> Caches<K> {
    pub fn get(&self, namespace: &str, name: &str) -> Option<Arc<K>> {
        let mut reference = reflector::ObjectRef::<K>::new(name);
        if !namespace.is_empty() {
            reference = reference.within(namespace);
        }
        // A kind without namespaces is found whatever namespace it is looked for in.
        let found =
            |reference: &reflector::ObjectRef<K>| self.0.iter().find_map(|store| store.get(reference));
        found(&reference).or_else(|| found(&reflector::ObjectRef::<K>::new(name)))
    }
    pub fn all(&self) -> impl Iterator<Item = Arc<K>> {
        self.0.iter().flat_map(reflector::Store::state)
    }
}

impl<M: Machine> Link<M> {
    /// A kind that the operator owns.
    pub fn owned<K: Child>(kind: &'static str) -> Self {
        Self::watched::<K>(kind, Concerns::Owner)
    }
    /// A kind that the operator watches.
    pub fn watched<K: Child>(kind: &'static str, concerns: Concerns<M>) -> Self {
        Self {
            kind,
            of: TypeId::of::<K>(),
            concerns,
            start: start::<K>,
        }
    }

    /// Whether the operator owns it.
    pub(crate) fn is_owned(&self) -> bool {
        matches!(self.concerns, Concerns::Owner)
    }
    /// What a state may wait for it by.
    pub(crate) fn names(&self) -> Vec<Watch> {
        let group = if self.is_owned() {
            Watch::Owned
        } else {
            Watch::Watched
        };
        vec![group, Watch::Kind(self.kind)]
    }
    /// Namespaces and names of the objects that this one of ours names.
    pub(crate) fn named_by(&self, object: &ManifestOf<M>) -> Vec<(String, String)> {
        let Concerns::Named(names, look_in) = &self.concerns else {
            return Vec::new();
        };
        let namespace = match look_in {
            LookIn::Own => object.namespace().to_owned(),
            LookIn::Always(namespace) => (*namespace).to_owned(),
            LookIn::Told(told) => told(object).into_iter().next().unwrap_or_default(),
        };
        let named = names(object).into_iter().filter(|name| !name.is_empty());
        named.map(|name| (namespace.clone(), name)).collect()
    }
    pub(crate) fn start(&self, client: Client, namespaces: &[String]) -> Started {
        match &self.concerns {
            // The operator has rights there, and need not have them anywhere else.
            Concerns::Named(_, LookIn::Always(namespace)) => (self.start)(client, &[(*namespace).to_owned()]),
            _ => (self.start)(client, namespaces),
        }
    }
    pub(crate) fn child(&self, sight: &Sight) -> ChildKey {
        (self.kind, sight.namespace.clone(), sight.name.clone())
    }
}

fn start<K: Child>(client: Client, namespaces: &[String]) -> Started {
    let apis: Vec<Api<DeserializeGuard<K>>> = match namespaces {
        [] => vec![<K::Scope as Place>::api(client, "")],
        some => some
            .iter()
            .map(|namespace| <K::Scope as Place>::api(client.clone(), namespace))
            .collect(),
    };
    let (mut stores, mut streams) = (Vec::new(), Vec::new());
    for api in apis {
        let (store, writer) = reflector::store::<K>();
        let cached = store.clone();
        stores.push(store);
        let events = watcher(api, watcher::Config::default()).filter_map(move |event| {
            let readable = event.map(|event| readable(event, &cached)).transpose();
            std::future::ready(readable)
        });
        let mut listed = false;
        let seen = reflector(writer, events).backoff(Patience::default()).filter_map(move |event| {
            let seen = match event {
                Ok(watcher::Event::Apply(object) | watcher::Event::Delete(object)) => Some(Seen::Changed(sight(&object))),
                // The first listing is what handlers start with; a later one may have missed changes.
                Ok(watcher::Event::InitApply(object)) => listed.then(|| Seen::Changed(sight(&object))),
                Ok(watcher::Event::InitDone) => {
                    listed = true;
                    Some(Seen::Listed)
                }
                Ok(watcher::Event::Init) => None,
                Err(error) => {
                    tracing::warn!(kind = %K::kind(&()), %error, "a watch of another kind failed; it is tried again");
                    Some(Seen::Listed)
                }
            };
            std::future::ready(seen)
        });
        streams.push(seen.boxed());
    }
    Started {
        seen: futures::stream::select_all(streams).boxed(),
        caches: Arc::new(Caches(stores)),
    }
}

/// What a watch says of objects that are what their type says, without the fields that nobody reads: half of their
/// bytes, as a rule. One that cannot be read is reported, and is not in the cache; the others go on.
fn readable<K: Child>(
    event: watcher::Event<DeserializeGuard<K>>,
    cache: &reflector::Store<K>,
) -> Option<watcher::Event<K>> {
    let read = |DeserializeGuard(object): DeserializeGuard<K>| match object {
        Ok(mut object) => {
            object.meta_mut().managed_fields = None;
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

fn sight<K: Child>(object: &K) -> Sight {
    let controller = object
        .owner_references()
        .iter()
        .find(|owner| owner.controller == Some(true));
    Sight {
        namespace: object.namespace().unwrap_or_default(),
        name: object.name_any(),
        version: version(object),
        controller: controller.map(|owner| owner.uid.clone()),
        labels: object
            .labels()
            .iter()
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
    }
}

/// `metadata.resourceVersion` as a number, 0 when there is none.
pub(crate) fn version<K: Resource>(object: &K) -> u64 {
    object
        .meta()
        .resource_version
        .as_deref()
        .and_then(|v| v.parse().ok())
        .unwrap_or_default()
}
