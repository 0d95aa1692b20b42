//! How handlers reach objects of other kinds. What the description does not grant does not compile.
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

/// The description grants the operator of this machine access to `K`. Generated.
#[diagnostic::on_unimplemented(
    message = "the operator has no access to `{K}`",
    label = "no rights on `{K}`",
    note = "add the kind to `owns`, `watches` or `access` in krator.yaml, then run `krator gen`"
)]
pub trait Grants<K>: Machine {}

/// The description lists `K` under `owns`. Generated.
#[diagnostic::on_unimplemented(
    message = "the operator does not own `{K}`",
    label = "not in `owns`",
    note = "add the kind to `owns` in krator.yaml, then run `krator gen`"
)]
pub trait Owns<K>: Grants<K> {}

/// The description lists `K` under `watches`. Generated.
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
    /// A client for a kind that the description grants access to. It works in the namespace of this object, or in the
    /// whole cluster if either the kind or this object has no namespace.
    ///
    /// # Panics
    ///
    /// In tests without a cluster. The other methods for other kinds work there, too.
    ///
    /// ```
    #[doc = include_str!("../doc/moose.txt")]
    #[doc = include_str!("../doc/eat.txt")]
    #[doc = include_str!("../doc/kinds.txt")]
    /// async fn secrets(cx: &Context<'_>) -> Result<usize> {
    ///     Ok(cx.api::<Secret>().list(&Default::default()).await?.items.len())
    /// }
    /// ```
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

    /// Creates or updates a child of this object by server-side apply, and returns the child as stored. Fields that
    /// `child` leaves out keep the values that others gave them.
    ///
    /// The runtime adds the owner reference, the namespace and the label `app.kubernetes.io/managed-by`. It sends
    /// nothing if the same was applied before and nobody has changed the child since, so a handler can apply all its
    /// children in each run.
    ///
    /// # Errors
    ///
    /// If the request fails. The error is permanent if the child has no name, if it belongs to another namespace,
    /// or if an object of this name exists that is not a child of this object: such an object is never adopted.
    ///
    /// ```
    #[doc = include_str!("../doc/moose.txt")]
    #[doc = include_str!("../doc/eat.txt")]
    #[doc = include_str!("../doc/kinds.txt")]
    /// async fn tag(cx: &Context<'_>) -> Result<()> {
    ///     let mut tag = ConfigMap::default();
    ///     tag.metadata.name = Some(format!("tag-of-{}", cx.manifest().name()));
    ///     tag.data = Some([("color".to_owned(), "blue".to_owned())].into());
    ///     cx.apply(&tag).await?;
    ///     Ok(())
    /// }
    /// ```
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

    /// The children of this object that are of one kind, sorted by namespace and name. They come from a cache, but
    /// are never older than what the handlers of this object have applied.
    ///
    /// # Errors
    ///
    /// If the objects of the kind cannot be listed within 30 seconds, or a request fails.
    ///
    /// ```
    #[doc = include_str!("../doc/moose.txt")]
    #[doc = include_str!("../doc/eat.txt")]
    #[doc = include_str!("../doc/kinds.txt")]
    /// async fn tags(cx: &Context<'_>) -> Result<usize> {
    ///     Ok(cx.owned::<ConfigMap>().await?.len())
    /// }
    /// ```
    pub fn owned<K: Child>(&self) -> BoxFuture<'static, Result<Vec<Arc<K>>>>
    where
        M: Owns<K>,
    {
        let request = self.child_request::<K>();
        Box::pin(async move { request?.owned().await })
    }

    /// Deletes a child of this object. It succeeds if the child is gone already.
    ///
    /// # Errors
    ///
    /// If the request fails. The error is permanent if the object is not a child of this object; it is left alone
    /// then.
    ///
    /// ```
    #[doc = include_str!("../doc/moose.txt")]
    #[doc = include_str!("../doc/eat.txt")]
    #[doc = include_str!("../doc/kinds.txt")]
    /// async fn untag(cx: &Context<'_>) -> Result<()> {
    ///     for tag in cx.owned::<ConfigMap>().await? {
    ///         cx.delete(&*tag).await?;
    ///     }
    ///     Ok(())
    /// }
    /// ```
    pub fn delete<K: Child>(&self, child: &K) -> BoxFuture<'static, Result<()>>
    where
        M: Owns<K>,
    {
        let (request, child) = (self.child_request::<K>(), child.clone());
        Box::pin(async move { request?.delete(&child).await })
    }

    /// The first object of a watched kind that concerns this one, from the cache. `None` if there is none.
    ///
    /// ```
    #[doc = include_str!("../doc/moose.txt")]
    #[doc = include_str!("../doc/eat.txt")]
    #[doc = include_str!("../doc/kinds.txt")]
    /// fn password(cx: &Context<'_>) -> Option<Vec<u8>> {
    ///     let secret = cx.watched::<Secret>()?;
    ///     Some(secret.data.as_ref()?.get("password")?.0.clone())
    /// }
    /// ```
    pub fn watched<K: Child>(&self) -> Option<Arc<K>>
    where
        M: Watches<K>,
    {
        self.all_watched().into_iter().next()
    }

    /// All objects of a watched kind that concern this one, from the cache: those that the `by` of the watch selects.
    ///
    /// ```
    #[doc = include_str!("../doc/moose.txt")]
    #[doc = include_str!("../doc/eat.txt")]
    #[doc = include_str!("../doc/kinds.txt")]
    /// fn are_there_secrets(cx: &Context<'_>) -> bool {
    ///     !cx.all_watched::<Secret>().is_empty()
    /// }
    /// ```
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
                // There are only these two worlds.
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
                    .ok_or_else(|| Error::permanent("the operator does not own this kind"))?;
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
