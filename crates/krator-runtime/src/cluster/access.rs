//! How handlers reach objects of other kinds. Access that the description does not grant does not compile.
mod fake;

use crate::{
    cluster::{
        children::Children,
        related::{
            links::{Grants, Owns, Watches},
            scope::Cluster,
            watches::KindCache,
        },
    },
    error::{Error, Result},
    local::{InMemoryApi, collection},
    machine::{Context, Machine, Object as _},
    readiness::Readiness,
    resource::{Child, Owner, Place, controller},
};
pub(in crate::cluster) use fake::concerning;
use futures::future::BoxFuture;
use kube::{Api, Resource, api::PropagationPolicy};
use std::{any::type_name, sync::Arc};

/// The backend that gives a handler access to other kinds.
enum OtherKinds<'a, M: Machine> {
    Cluster(&'a Cluster<M>),
    /// In a test.
    Memory(&'a Arc<InMemoryApi>),
}

impl<M: Machine> Context<'_, M> {
    /// A client for a kind that the description grants access to. It works in the namespace of this object, or in the
    /// whole cluster if either the kind or this object has no namespace. It is made once for each kind and namespace;
    /// [`ApiHandles`](crate::ApiHandles) are the same for other namespaces.
    ///
    /// In tests without a cluster it reaches the objects of the test, and the requests that a test has no answer to fail and
    /// say so: watches, JSON patches, strategic merge patches, field selectors, dry runs, and subresources other than
    /// `status`. No state runs again because of what a handler writes there; [`Handle::put`](crate::Handle::put) does that.
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/kinds.txt")]
    /// impl State for Publish {
    ///     async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
    ///         let key = cx.api::<Secret>().get_opt("key").await?;
    ///         Ok(if key.is_some() { Transition::to(Live) } else { Transition::stay() })
    ///     }
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let mut website = Fixture::<WebsiteMachine>::new(Website::default(), WebsiteMemory::default(), Arc::default());
    /// assert_eq!(website.next(Publish).await.unwrap(), Transition::stay());
    ///
    /// let mut key = Secret::default();
    /// key.metadata.name = Some("key".to_owned());
    /// website.put(&key).unwrap();
    /// assert_eq!(website.next(Publish).await.unwrap(), Transition::to(Live));
    /// # });
    /// ```
    pub fn api<K: Resource<DynamicType = (), Scope: Place> + 'static>(&self) -> Arc<Api<K>>
    where
        M: Grants<K>,
    {
        match self.other_kinds() {
            OtherKinds::Cluster(cluster) => cluster.apis.get(&cluster.client, self.manifest().namespace()),
            OtherKinds::Memory(api) => {
                api.serves(collection::<K>(), M::NEW_STATUS);
                Arc::new(<K::Scope as Place>::api(
                    api.client(),
                    self.manifest().namespace(),
                ))
            }
        }
    }

    /// A child of this object that has a name, a namespace (that of this object, if it has one) and nothing else yet.
    /// [`apply`](Self::apply) creates it.
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
    #[doc = include_str!("../doc/kinds.txt")]
    /// async fn tag(cx: &Context<'_>) -> Result<()> {
    ///     let tag = ConfigMap {
    ///         data: Some([("color".to_owned(), "blue".to_owned())].into()),
    ///         ..cx.child(&format!("tag-of-{}", cx.manifest().name()))
    ///     };
    ///     cx.apply(&tag).await?;
    ///     Ok(())
    /// }
    /// ```
    pub fn child<K: Child + Default>(&self, name: &str) -> K
    where
        M: Owns<K>,
    {
        let mut child = K::default();
        let metadata = child.meta_mut();
        metadata.name = Some(name.to_owned());
        let manifest = self.manifest();
        if <K::Scope as Place>::NAMESPACED && !manifest.namespace().is_empty() {
            metadata.namespace = Some(manifest.namespace().to_owned());
        }
        child
    }

    /// Creates or updates a child of this object by server-side apply, and returns the child as stored. Fields that
    /// `child` leaves out keep the values that others gave them, and those that it has set before are removed.
    ///
    /// The runtime adds the owner reference (or the label and the annotation that stand for it where the description has
    /// `deletion: last` or `keep`), the namespace and the label `app.kubernetes.io/managed-by`. It sends
    /// nothing if the same was applied before and nobody has changed the child since, and reads the child if only other
    /// fields have changed, such as its status. So a handler can apply all its children in each run.
    ///
    /// # Errors
    ///
    /// If the request fails, also if others change the child again and again at the same time. The error is permanent
    /// if the child has no name, if it belongs to another namespace, or if an object of this name exists that is not a
    /// child of this object: such an object is never adopted. The handler is blocked, and retried without limit, if that
    /// object belongs to an owner of this kind and name that was deleted, because the garbage collector of Kubernetes
    /// will delete it.
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
    #[doc = include_str!("../doc/kinds.txt")]
    /// async fn tag(cx: &Context<'_>) -> Result<()> {
    ///     let mut tag: ConfigMap = cx.child(&format!("tag-of-{}", cx.manifest().name()));
    ///     tag.data = Some([("color".to_owned(), "blue".to_owned())].into());
    ///     cx.apply(&tag).await?;
    ///     Ok(())
    /// }
    /// ```
    pub fn apply<K: Child>(&self, child: &K) -> BoxFuture<'static, Result<Arc<K>>>
    where
        M: Owns<K>,
    {
        let (children, body) = (self.children::<K>(), serde_json::to_value(child));
        Box::pin(async move { children?.apply(body?).await })
    }

    /// The children of this object that are of one kind, sorted by namespace and name. They come from a cache, but
    /// are never older than what the handlers of this object have applied and deleted: one that was deleted is not among
    /// them any more, or has a `deletionTimestamp`.
    ///
    /// # Errors
    ///
    /// If the objects of the kind cannot be listed within 30 seconds, or a request fails.
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
    #[doc = include_str!("../doc/kinds.txt")]
    /// async fn tags(cx: &Context<'_>) -> Result<usize> {
    ///     Ok(cx.owned::<ConfigMap>().await?.len())
    /// }
    /// ```
    pub fn owned<K: Child>(&self) -> BoxFuture<'static, Result<Vec<Arc<K>>>>
    where
        M: Owns<K>,
    {
        let children = self.children::<K>();
        Box::pin(async move { children?.owned().await })
    }

    /// Deletes a child of this object. It succeeds if the child is gone already.
    ///
    /// # Errors
    ///
    /// If the request fails. The error is permanent if the object is not a child of this object; it is left alone
    /// then.
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
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
        self.delete_with(child, PropagationPolicy::Background)
    }

    /// Deletes a child of this object like [`delete`](Self::delete), and says what becomes of the objects that it owns itself:
    /// the garbage collector deletes them after it ([`Background`](PropagationPolicy::Background), as `delete` does it) or
    /// before it ([`Foreground`](PropagationPolicy::Foreground)), or it leaves them alone
    /// ([`Orphan`](PropagationPolicy::Orphan)). With the last two, the child is there until the garbage collector has done
    /// that, with a `deletionTimestamp`.
    ///
    /// # Errors
    ///
    /// As for [`delete`](Self::delete).
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
    #[doc = include_str!("../doc/kinds.txt")]
    /// use krator_runtime::PropagationPolicy;
    ///
    /// async fn untag(cx: &mut Context<'_>, tag: &ConfigMap) -> Result<()> {
    ///     if tag.metadata.deletion_timestamp.is_none() {
    ///         cx.delete_with(tag, PropagationPolicy::Orphan).await?;
    ///     }
    ///     Ok(())
    /// }
    /// ```
    pub fn delete_with<K: Child>(
        &self,
        child: &K,
        propagation: PropagationPolicy,
    ) -> BoxFuture<'static, Result<()>>
    where
        M: Owns<K>,
    {
        let (children, child) = (self.children::<K>(), child.clone());
        Box::pin(async move { children?.delete(&child, propagation).await })
    }

    /// Deletes the children of one kind that this run of the handler has not applied, and returns them. Call it after
    /// the run has applied all children of the kind that are still wanted. A child that the run has tried to apply is kept even
    /// if that has failed, and so is every object that is not a child of this one.
    ///
    /// # Errors
    ///
    /// If the objects of the kind cannot be listed within 30 seconds, or a request fails.
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
    #[doc = include_str!("../doc/kinds.txt")]
    /// async fn tags(cx: &Context<'_>, colors: &[String]) -> Result<()> {
    ///     for color in colors {
    ///         let tag: ConfigMap = cx.child(color);
    ///         cx.apply(&tag).await?;
    ///     }
    ///     // The tags of colors that are no longer in the list.
    ///     cx.prune::<ConfigMap>().await?;
    ///     Ok(())
    /// }
    /// ```
    pub fn prune<K: Child>(&self) -> BoxFuture<'static, Result<Vec<Arc<K>>>>
    where
        M: Owns<K>,
    {
        let children = self.children::<K>();
        Box::pin(async move { children?.prune().await })
    }

    /// Whether an object of another kind, such as a child, has become what its spec asks for: by the rules of kstatus,
    /// which Helm, Flux and kpt show. Kinds of Kubernetes have rules of their own; all others are read by their conditions
    /// `Reconciling`, `Stalled` and `Ready`, and by `observedGeneration`.
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
    /// use k8s_openapi::api::apps::v1::Deployment;
    /// use krator_runtime::Readiness;
    ///
    /// /// Whether the Deployment is rolled out. `.status.message` says what is missing.
    /// fn is_rolled_out(cx: &mut Context<'_>, deployment: &Deployment) -> Result<bool> {
    ///     match cx.readiness(deployment) {
    ///         Readiness::Current(_) => Ok(true),
    ///         Readiness::InProgress(why) | Readiness::Terminating(why) => {
    ///             cx.message(why); // For example "Ready: 1/3".
    ///             Ok(false)
    ///         }
    ///         Readiness::Failed(why) => Err(Error::permanent(why)),
    ///     }
    /// }
    /// ```
    ///
    /// A Job is current as soon as it runs; [`finished`](Self::finished) waits for its end.
    pub fn readiness<K: Child>(&self, object: &K) -> Readiness {
        Readiness::of(object, self.now())
    }

    /// Whether an object that runs to an end has come to it: current when a Job is complete or a Pod has succeeded, failed when
    /// they have failed, and in progress before. For other kinds it is their [`readiness`](Self::readiness).
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
    /// use k8s_openapi::api::batch::v1::Job;
    /// use krator_runtime::Readiness;
    ///
    /// fn is_backed_up(cx: &mut Context<'_>, backup: &Job) -> Result<bool> {
    ///     match cx.finished(backup) {
    ///         Readiness::Current(_) => Ok(true),
    ///         Readiness::Failed(why) => Err(Error::permanent(why)),
    ///         Readiness::InProgress(why) | Readiness::Terminating(why) => {
    ///             cx.message(why);
    ///             Ok(false)
    ///         }
    ///     }
    /// }
    /// ```
    pub fn finished<K: Child>(&self, object: &K) -> Readiness {
        Readiness::finished(object, self.now())
    }

    /// The first object of a watched kind that concerns this one, as it was found before the run. `None` if there is none.
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
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

    /// All objects of a watched kind that concern this one: those that the `by`, the `label` or the `all` of the watch
    /// selects. Objects that are selected by name or label are as they were found before the run.
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
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
            OtherKinds::Cluster(cluster) => cluster.concerning(self.found),
            OtherKinds::Memory(api) => concerning::<M, K>(api, &self.manifest()),
        }
    }

    fn other_kinds(&self) -> OtherKinds<'_, M> {
        let backend = self.backend;
        match backend.downcast_ref::<Cluster<M>>() {
            Some(cluster) => OtherKinds::Cluster(cluster),
            None => match backend.downcast_ref::<Arc<InMemoryApi>>() {
                Some(api) => OtherKinds::Memory(api),
                // Contexts are only made with these two backends.
                None => unreachable!("a world gives no other backend"),
            },
        }
    }

    /// The children of this object that are of one kind.
    fn children<K: Child>(&self) -> Result<Children<K>>
    where
        M: Owns<K>,
    {
        let manifest = self.manifest();
        let (client, (cache, kind), operator, (api_version, owner_kind), (report, busy)) =
            match self.other_kinds() {
                OtherKinds::Cluster(cluster) => {
                    let owned = cluster
                        .owned::<K>()
                        .ok_or_else(|| Error::permanent("the operator does not own this kind"))?;
                    let owner = (cluster.api_version.clone(), cluster.kind.clone());
                    let in_cluster = (Some(Arc::clone(&cluster.report)), Some(cluster.limiter.busy()));
                    (cluster.client.clone(), owned, cluster.manager, owner, in_cluster)
                }
                OtherKinds::Memory(api) => {
                    api.serves(collection::<K>(), M::NEW_STATUS);
                    api.owns(collection::<K>(), M::DELETION);
                    let cache = Arc::new(KindCache::of(api.all(), M::GRAPH.finalizer, "test"));
                    let owner = ("test/v1".to_owned(), "Owner".to_owned());
                    (
                        api.client(),
                        (cache, type_name::<K>()),
                        "test",
                        owner,
                        (None, None),
                    )
                }
            };
        Ok(Children {
            client,
            cache,
            kind,
            applied: Arc::clone(self.applied),
            operator,
            namespace: manifest.namespace().to_owned(),
            owner: Owner {
                reference: controller(&api_version, &owner_kind, manifest.name(), manifest.uid()),
                label: M::GRAPH.finalizer,
            },
            deletion: M::DELETION,
            report,
            _busy: busy,
        })
    }
}
