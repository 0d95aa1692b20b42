//! The part of the cluster to which handlers have access.
use super::{
    links::{Concerns, Link},
    watches::{Cache, KindCache},
};
use crate::{
    cluster::api::{apis::Apis, limiter::RequestLimiter},
    error::{Error, Result},
    machine::{Event, Machine, ManifestOf, Object as _, RelatedObject},
    resource::Child,
};
use futures::future::try_join_all;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::Client;
use std::{any::TypeId, sync::Arc};

/// Publishes an event about an object.
pub(in crate::cluster) type Report = Arc<dyn Fn(ObjectReference, Event) + Send + Sync>;

/// The part of the cluster to which the handlers of one machine have access.
pub(in crate::cluster) struct Cluster<M: Machine> {
    pub client: Client,
    /// The handles that [`Context::api`](crate::Context::api) has made.
    pub apis: Apis,
    /// How many requests are in flight.
    pub limiter: Arc<RequestLimiter>,
    /// The field manager.
    pub manager: &'static str,
    pub api_version: String,
    pub kind: String,
    /// The namespaces of the operator; empty for all namespaces.
    pub namespaces: Vec<String>,
    pub links: Vec<Link<M>>,
    /// The cache of each link's kind.
    pub caches: Vec<Arc<dyn Cache>>,
    pub report: Report,
}

impl<M: Machine> Cluster<M> {
    /// The same for another client: what handlers of webhooks reach, also while another replica leads.
    pub fn with_client(&self) -> impl FnOnce(Client) -> Self + Send + use<M>
    where
        M: super::links::Linked,
    {
        let (api_version, kind) = (self.api_version.clone(), self.kind.clone());
        let (namespaces, caches, manager) = (self.namespaces.clone(), self.caches.clone(), self.manager);
        let report = Arc::clone(&self.report);
        move |client| Self {
            client,
            apis: Apis::default(),
            limiter: Arc::default(),
            manager,
            api_version,
            kind,
            namespaces,
            links: M::links(),
            caches,
            report,
        }
    }

    /// The cache of a kind that is owned, and the name of the kind in the description.
    pub fn owned<K: Child>(&self) -> Option<(Arc<KindCache<K>>, &'static str)> {
        let of = TypeId::of::<K>();
        let mut links = self.links.iter().zip(&self.caches);
        let (link, cache) = links.find(|(link, _)| link.of == of && link.is_owned())?;
        Some((Arc::clone(cache).as_any().downcast().ok()?, link.kind))
    }

    /// Reads the objects that links select by a name or a label.
    pub async fn find(&self, object: &ManifestOf<M>) -> Result<Vec<RelatedObject>> {
        let mut reads = Vec::new();
        let links = self.links.iter().zip(&self.caches).enumerate();
        for (at, (link, cache)) in links.filter(|(_, (link, _))| link.is_read()) {
            let names = match &link.concerns {
                Concerns::Label(key) => cache.labelled(key, object.name()),
                _ => link.named_by(object),
            };
            reads.extend(names.into_iter().map(|(namespace, name)| {
                let read = Arc::clone(cache).read(self.client.clone(), namespace, name);
                async move { Ok::<_, Error>(read.await?.map(|object| (at, object))) }
            }));
        }
        Ok(try_join_all(reads).await?.into_iter().flatten().collect())
    }

    /// The objects of a watched kind that concern an object of the operator, for which those in `found` were found.
    pub fn concerning<K: Child>(&self, found: &[RelatedObject]) -> Vec<Arc<K>> {
        let of = TypeId::of::<K>();
        let mut concerning: Vec<Arc<K>> = Vec::new();
        let links = self.links.iter().zip(&self.caches).enumerate();
        for (at, (link, cache)) in links.filter(|(_, (link, _))| link.of == of) {
            if link.is_read() {
                let found = found.iter().filter(|(link, _)| *link == at);
                concerning.extend(found.filter_map(|(_, object)| Arc::clone(object).downcast().ok()));
            } else if !link.is_owned()
                && let Ok(cache) = Arc::clone(cache).as_any().downcast::<KindCache<K>>()
            {
                concerning.extend(cache.all());
            }
        }
        concerning
    }
}
