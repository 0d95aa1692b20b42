//! A cache of the objects of another kind. It keeps versions, controllers and the labels that links read.
//! Whole objects are kept only if the watch delivers them; otherwise handlers read them one by one, and share
//! them while they are in use.
use super::{
    LinkEvent,
    events::Seen,
    listings::{Cached, Listings, Need, names},
};
use crate::{
    cluster::{
        api::{LONGEST_REQUEST, answered},
        packed::Packer,
    },
    error::{Error, Result},
    lock::Lock as _,
    resource::{Child, Owner, Place, version},
};
use futures::{FutureExt as _, future::BoxFuture};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::{Api, Client, Resource, runtime::watcher::Event};
use std::{
    any::Any,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    sync::{mpsc, watch},
    time::timeout,
};

/// How long the first handler that asks for whole objects waits until they are listed.
const LONGEST_LISTING: Duration = Duration::from_secs(30);

/// The cache of a kind whose type is not known here.
pub(in crate::cluster) trait Cache: Send + Sync {
    /// Sets the number of namespaces in which the kind is watched.
    fn begin(&self, places: usize);
    /// Processes an event of a watch, and notifies the links.
    fn see(&self, place: usize, seen: &Seen);
    /// The namespaces and names of the objects with this label.
    fn labelled(&self, key: &str, value: &str) -> Vec<(String, String)>;
    /// The namespaces and names of the objects for which a predicate on the uid of the controller and the
    /// value of a label is true.
    fn owned_by(
        &self,
        key: &str,
        select: &dyn Fn(Option<&str>, Option<&str>) -> bool,
    ) -> Vec<(String, String)>;
    /// An object, no older than the watch knows it: an `Arc` of the kind's type.
    fn read(
        self: Arc<Self>,
        client: Client,
        namespace: String,
        name: String,
    ) -> BoxFuture<'static, Result<Option<AnyObject>>>;
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// An object of some kind.
pub(in crate::cluster) type AnyObject = Arc<dyn Any + Send + Sync>;

/// The cache of a kind.
pub(in crate::cluster) struct KindCache<K> {
    listings: Mutex<Listings<K>>,
    whole_wanted: watch::Sender<bool>,
    whole_listed: watch::Sender<bool>,
    /// Packs the answers to applies of the kind.
    pub packer: Packer,
}

/// The facts by which an apply decides whether a child is unchanged.
pub(in crate::cluster) struct Facts {
    pub version: u64,
    pub owner: Option<OwnerReference>,
    /// Whether somebody else may have set fields of it who had it before.
    pub is_handed_over: bool,
}

impl<K: Child> KindCache<K> {
    /// A cache that is filled by a watch. Setting `whole_wanted` makes the watch deliver whole objects.
    pub fn new(whole_wanted: watch::Sender<bool>) -> Self {
        Self {
            listings: Mutex::default(),
            whole_wanted,
            whole_listed: watch::channel(false).0,
            packer: Packer::default(),
        }
    }

    /// A cache that knows these objects and no others, and by this label whom they belong to.
    pub fn of(objects: Vec<Arc<K>>, label: &'static str, operator: &'static str) -> Self {
        let cache = Self::new(watch::channel(true).0);
        cache.serve(Need::Owner { label, operator }, mpsc::unbounded_channel().0);
        cache.begin(1);
        let mut listings = cache.listings.locked();
        listings.begin(0);
        for object in objects {
            listings.put(0, true, object.meta(), Some(Arc::clone(&object)));
        }
        drop(listings);
        cache.listed(0, true);
        cache
    }

    /// Registers a link with its need, and notifies it of changes.
    pub fn serve(&self, need: Need, link: mpsc::UnboundedSender<LinkEvent>) {
        self.listings.locked().serve(need, link);
    }

    /// All objects, once whole ones are listed.
    pub fn all(&self) -> Vec<Arc<K>> {
        let listings = self.listings.locked();
        let whole = listings.all().filter_map(|(_, _, entry)| entry.whole.clone());
        whole.collect()
    }

    /// Whether the watch has an object of this name.
    pub fn has(&self, namespace: &str, name: &str) -> bool {
        self.listings.locked().find(namespace, name).is_some()
    }

    /// The latest version that the watch has seen in a namespace.
    pub fn seen(&self, namespace: &str) -> u64 {
        self.listings.locked().seen(namespace)
    }

    /// A child as the watch knows it, if `owner` may own it. If only a label identifies the owner, its name is unknown.
    pub fn known(&self, namespace: &str, name: &str, owner: &Owner) -> Option<Facts> {
        self.listings.locked().find(namespace, name).map(|entry| Facts {
            version: entry.version,
            is_handed_over: entry.is_handed_over(),
            owner: match (entry.controller.as_deref(), entry.label(owner.label)) {
                (Some(controller), _) => Some(controller.clone()),
                (None, uid) => uid.map(|uid| owner.former(uid, None)),
            },
        })
    }

    /// Switches to whole objects, and waits until all of them are listed.
    pub async fn fill(&self) -> Result<()> {
        self.whole_wanted
            .send_if_modified(|wanted| !std::mem::replace(wanted, true));
        let mut listed = self.whole_listed.subscribe();
        match timeout(LONGEST_LISTING, listed.wait_for(|listed| *listed)).await {
            Ok(Ok(_)) => Ok(()),
            _ => Err(Error::from(format!(
                "cannot list objects of kind {}",
                K::kind(&())
            ))),
        }
    }

    async fn read(&self, client: Client, namespace: &str, name: &str) -> Result<Option<Arc<K>>> {
        let (known, read) = {
            let mut listings = self.listings.locked();
            let Some(entry) = listings.find(namespace, name) else {
                return Ok(None);
            };
            if let Some(whole) = &entry.whole {
                return Ok(Some(Arc::clone(whole)));
            }
            (entry.version, Arc::clone(entry.read.get_or_insert_default()))
        };
        let mut last = read.lock().await;
        if let Some(object) = last.upgrade().filter(|object| version(&**object) >= known) {
            return Ok(Some(object));
        }
        let api: Api<K> = <K::Scope as Place>::api(client, namespace);
        let answer = answered(LONGEST_REQUEST, api.get_opt(name)).await?;
        let object = answer?.map(|mut object| {
            drop_managed_fields(&mut object);
            Arc::new(object)
        });
        *last = object.as_ref().map(Arc::downgrade).unwrap_or_default();
        Ok(object)
    }

    /// The namespaces and names of some objects.
    fn selected(&self, select: impl Fn(&Cached<K>) -> bool) -> Vec<(String, String)> {
        let listings = self.listings.locked();
        let selected = listings.all().filter(|(_, _, entry)| select(entry));
        selected
            .map(|(namespace, name, _)| (namespace.to_owned(), name.to_owned()))
            .collect()
    }

    fn listed(&self, place: usize, whole: bool) {
        let mut listings = self.listings.locked();
        listings.done(place, whole);
        if listings.is_whole() {
            self.whole_listed.send_replace(true);
        }
    }
}

impl<K: Child> Cache for KindCache<K> {
    fn begin(&self, places: usize) {
        self.listings.locked().has_places(places);
    }

    fn see(&self, place: usize, seen: &Seen) {
        match seen {
            Seen::Whole(event) => match event {
                Event::Init => self.listings.locked().begin(place),
                Event::InitDone => self.listed(place, true),
                Event::InitApply(raw) | Event::Apply(raw) => {
                    let is_listing = matches!(event, Event::InitApply(_));
                    match raw.decode::<K>() {
                        Ok(object) => {
                            let object = Arc::new(object);
                            let (meta, whole) = (object.meta(), Some(Arc::clone(&object)));
                            self.listings.locked().put(place, is_listing, meta, whole);
                        }
                        // An undecodable object counts as deleted, so that it does not delay others.
                        Err(error) => {
                            log_unreadable::<K>(raw.meta(), &error);
                            // During a listing, the object is missing at the end, and is then removed.
                            if !is_listing {
                                self.listings.locked().remove(place, raw.meta());
                            }
                        }
                    }
                }
                Event::Delete(raw) => self.listings.locked().remove(place, raw.meta()),
            },
            Seen::Metadata(event) => match event {
                Event::Init => self.listings.locked().begin(place),
                Event::InitDone => self.listed(place, false),
                Event::InitApply(meta) => self.listings.locked().put(place, true, meta, None),
                Event::Apply(meta) => self.listings.locked().put(place, false, meta, None),
                Event::Delete(meta) => self.listings.locked().remove(place, meta),
            },
            Seen::Failed => self.listings.locked().tried(place),
        }
    }

    fn labelled(&self, key: &str, value: &str) -> Vec<(String, String)> {
        self.selected(|entry| entry.label(key) == Some(value))
    }

    fn owned_by(
        &self,
        key: &str,
        select: &dyn Fn(Option<&str>, Option<&str>) -> bool,
    ) -> Vec<(String, String)> {
        self.selected(|entry| {
            let controller = entry.controller.as_deref();
            select(controller.map(|controller| &*controller.uid), entry.label(key))
        })
    }

    fn read(
        self: Arc<Self>,
        client: Client,
        namespace: String,
        name: String,
    ) -> BoxFuture<'static, Result<Option<AnyObject>>> {
        async move {
            let object = KindCache::read(&self, client, &namespace, &name).await;
            let named = |error: Error| error.context(format!("reading {} `{name}`", K::kind(&())));
            Ok(object.map_err(named)?.map(|object| object as AnyObject))
        }
        .boxed()
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

/// Drops the managed fields, which often take half of an object's memory and which nothing reads.
pub(in crate::cluster) fn drop_managed_fields<K: Resource>(object: &mut K) {
    object.meta_mut().managed_fields = None;
}

fn log_unreadable<K: Resource<DynamicType = ()>>(meta: &ObjectMeta, error: &serde_json::Error) {
    let (namespace, name) = names(meta);
    tracing::warn!(kind = %K::kind(&()), namespace, name, %error, "cannot decode an object");
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{Request, Response};
    use k8s_openapi::api::core::v1::Secret;
    use kube::client::Body;
    use serde_json::json;
    use std::{
        convert::Infallible,
        sync::atomic::{AtomicU64, Ordering},
    };

    /// A server with a Secret, whose version is the number of the requests so far.
    fn server() -> (Client, Arc<AtomicU64>) {
        let requests = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&requests);
        let service = tower::service_fn(move |_: Request<Body>| {
            let version = counted.fetch_add(1, Ordering::Relaxed) + 1;
            async move {
                // The others ask while this is on its way.
                tokio::task::yield_now().await;
                let secret = json!({"metadata": {"name": "key", "resourceVersion": version.to_string(), "managedFields": [{}]}});
                Ok::<_, Infallible>(Response::new(Body::from(secret.to_string().into_bytes())))
            }
        });
        (Client::new(service, "default"), requests)
    }

    #[tokio::test]
    async fn objects_are_read_once_and_again_when_they_have_changed() {
        let (client, requests) = server();
        let cache = Arc::new(KindCache::<Secret>::new(watch::channel(false).0));
        cache.begin(1);
        let observed = |version: u64| {
            Event::Apply(Box::new(ObjectMeta {
                name: Some("key".to_owned()),
                namespace: Some("vault".to_owned()),
                resource_version: Some(version.to_string()),
                ..ObjectMeta::default()
            }))
        };
        let read = || async {
            let read = KindCache::read(&cache, client.clone(), "vault", "key").await;
            read.expect("an answer")
        };
        assert!(read().await.is_none(), "the watch knows of none");
        assert_eq!(requests.load(Ordering::Relaxed), 0);

        cache.see(0, &Seen::Metadata(observed(1)));
        let together = futures::future::join_all((0..9).map(|_| read())).await;
        let first = together[0].clone().expect("a secret");
        assert_eq!(first.metadata.managed_fields, None);
        assert!(together.iter().flatten().all(|other| Arc::ptr_eq(other, &first)));
        assert_eq!(requests.load(Ordering::Relaxed), 1);

        cache.see(0, &Seen::Metadata(observed(2)));
        let second = read().await.expect("a secret");
        assert_eq!(version(&*second), 2);
        // The object is dropped with its last user.
        drop((first, together, second));
        assert!(read().await.is_some());
        assert_eq!(requests.load(Ordering::Relaxed), 3);
    }
}
