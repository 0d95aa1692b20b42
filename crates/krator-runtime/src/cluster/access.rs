//! What handlers may ask of the cluster: what the description grants, and no more, or it does not compile.
use super::{
    Cluster,
    children::{Children, InCluster, Request},
};
use crate::{
    error::{Error, Result},
    local::FakeCluster,
    machine::{Context, Machine, Object as _},
    resource::{Child, Place},
};
use futures::future::BoxFuture;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::{Api, Resource};
use std::sync::Arc;

/// The description gives this machine's operator rights on `K`. Generated.
#[diagnostic::on_unimplemented(
    message = "the operator has no access to `{K}`",
    label = "no rights on `{K}`",
    note = "add the kind to `owns`, `watches` or `access` in krator.yaml, then run `krator gen`"
)]
pub trait Grants<K>: Machine {}

/// The description's `owns` names `K`. Generated.
#[diagnostic::on_unimplemented(
    message = "the operator does not own `{K}`",
    label = "not in `owns`",
    note = "add the kind to `owns` in krator.yaml, then run `krator gen`"
)]
pub trait Owns<K>: Grants<K> {}

/// The description's `watches` names `K`. Generated.
#[diagnostic::on_unimplemented(
    message = "the operator does not watch `{K}`",
    label = "not in `watches`",
    note = "add the kind to `watches` in krator.yaml, then run `krator gen`"
)]
pub trait Watches<K>: Grants<K> {}

/// What the [`Backend`](crate::machine::Backend) of a handler is.
enum OtherKinds<'a, M: Machine> {
    Cluster(&'a Cluster<M>),
    /// In a test.
    Memory(&'a Arc<FakeCluster>),
}

impl<M: Machine> Context<'_, M> {
    /// Objects of a kind, in this object's namespace; of the whole cluster where one of them has none.
    ///
    /// # Panics
    ///
    /// In a test without a cluster, as all that follows.
    pub fn api<K: Resource<DynamicType = (), Scope: Place>>(&self) -> Api<K>
    where
        M: Grants<K>,
    {
        match self.other_kinds() {
            OtherKinds::Cluster(cluster) => {
                <K::Scope as Place>::api(cluster.client.clone(), self.manifest().namespace())
            }
            // This is a mistake in a test; it cannot happen in an operator.
            OtherKinds::Memory(_) => {
                panic!("a test has no API server: use `apply`, `owned`, `delete` or `watched`")
            }
        }
    }

    /// Makes a child of this object what `child` says, by server-side apply, and answers with what is stored then.
    /// The owner reference, the field manager and a label are set; nothing is sent when nothing differs. What
    /// exists and is not this object's child is an error, never adopted.
    pub fn apply<K: Child>(&self, child: &K) -> BoxFuture<'static, Result<Arc<K>>>
    where
        M: Owns<K>,
    {
        let request = self.child_request::<K>().and_then(|request| {
            let body = serde_json::to_value(child)?;
            Ok((request, body))
        });
        Box::pin(async move {
            let (request, body) = request?;
            request.apply(body).await
        })
    }

    /// The children of this object, of one kind: as in the cache, and never older than what was applied here.
    pub fn owned<K: Child>(&self) -> BoxFuture<'static, Result<Vec<Arc<K>>>>
    where
        M: Owns<K>,
    {
        let request = self.child_request::<K>();
        Box::pin(async move { request?.owned().await })
    }

    /// Deletes a child of this object. One that is gone is no error, one that is not its child is left alone.
    pub fn delete<K: Child>(&self, child: &K) -> BoxFuture<'static, Result<()>>
    where
        M: Owns<K>,
    {
        let (request, child) = (self.child_request::<K>(), child.clone());
        Box::pin(async move { request?.delete(&child).await })
    }

    /// The first object of a watched kind that this one names, if it is there.
    pub fn watched<K: Child>(&self) -> Option<Arc<K>>
    where
        M: Watches<K>,
    {
        self.all_watched().into_iter().next()
    }

    /// All objects of a watched kind that concern this one.
    pub fn all_watched<K: Child>(&self) -> Vec<Arc<K>>
    where
        M: Watches<K>,
    {
        match self.other_kinds() {
            OtherKinds::Cluster(cluster) => cluster.concerning(&self.manifest()),
            OtherKinds::Memory(others) => others.all(),
        }
    }

    fn other_kinds(&self) -> OtherKinds<'_, M> {
        let backend = self.backend.of;
        match backend.downcast_ref::<Cluster<M>>() {
            Some(cluster) => OtherKinds::Cluster(cluster),
            None => match backend.downcast_ref::<Arc<FakeCluster>>() {
                Some(others) => OtherKinds::Memory(others),
                // The two worlds that exist give one of these.
                None => unreachable!("a world gives no other backend"),
            },
        }
    }

    fn child_request<K: Child>(&self) -> Result<Request<K>> {
        let manifest = self.manifest();
        let (children, operator, (api_version, kind)) = match self.other_kinds() {
            OtherKinds::Cluster(cluster) => {
                let (caches, kind) = cluster
                    .caches::<K>(true)
                    .ok_or_else(|| Error::permanent("no such kind is owned"))?;
                let children = Children::Cluster(InCluster {
                    client: cluster.client.clone(),
                    caches,
                    kind,
                    applied: Arc::clone(self.backend.applied),
                });
                let owner = (cluster.api_version.clone(), cluster.kind.clone());
                (children, cluster.manager, owner)
            }
            OtherKinds::Memory(others) => {
                let owner = ("test/v1".to_owned(), "Owner".to_owned());
                (Children::Memory(Arc::clone(others)), "test", owner)
            }
        };
        Ok(Request {
            children,
            operator,
            namespace: manifest.namespace().to_owned(),
            owner: OwnerReference {
                api_version,
                kind,
                name: manifest.name().to_owned(),
                uid: manifest.uid().to_owned(),
                controller: Some(true),
                block_owner_deletion: Some(true),
            },
        })
    }
}
