//! Changes to objects of other kinds that a test makes, in place of the controllers and watches of a cluster.
use crate::{
    cluster::related::links::{Concerns, Link, Linked},
    error::Result,
    local::{Handle, InMemoryApi},
    machine::{ManifestOf, Object as _},
    resource::{Child, owner_uid},
    world::Change,
};
use kube::ResourceExt as _;
use std::{any::TypeId, sync::Arc};

impl<M: Linked> Handle<M> {
    /// Creates or replaces an object of a kind that the operator owns or watches, as another client or a controller
    /// would: a child that has made progress, or an object that the spec refers to. If it concerns the object under
    /// test, a state that waits for it runs again. As in a cluster, that follows from the `by`, `label` or `all` of the
    /// watch; an object without a namespace counts as one in the namespace where the watch looks.
    ///
    /// # Errors
    ///
    /// If the object cannot be written as JSON.
    pub fn put<K: Child>(&self, object: &K) -> Result<()> {
        self.0.others.put(object)?;
        self.notify([object]);
        Ok(())
    }
    /// Removes an object of another kind. A state that waits for it runs again.
    pub fn remove<K: Child>(&self, object: &K) {
        self.0.others.remove(object);
        self.notify([object]);
    }
    /// Gives all objects of this kind the status that their controller writes when it has succeeded: a Deployment has
    /// all its replicas, a Job is complete, a custom resource has the condition `Ready`. A state that waits for them
    /// runs again.
    ///
    /// ```
    #[doc = include_str!("../../doc/website.txt")]
    #[doc = include_str!("../../doc/kinds.txt")]
    /// # use k8s_openapi::api::{apps::v1::Deployment, batch::v1::Job};
    /// # impl Grants<Deployment> for WebsiteMachine {}
    /// # impl Owns<Deployment> for WebsiteMachine {}
    /// # fn has_replicas(shed: &Deployment) -> bool {
    /// #     shed.status.as_ref().is_some_and(|status| status.ready_replicas == Some(1))
    /// # }
    /// impl State for Publish {
    ///     async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
    ///         let mut shed = Deployment::default();
    ///         shed.metadata.name = Some("shed".to_owned());
    ///         let shed = cx.apply(&shed).await?;
    ///         Ok(if has_replicas(&shed) { Transition::to(Live) } else { Transition::stay() })
    ///     }
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
    /// let mut website = Local::<WebsiteMachine>::new(Website::default(), WebsiteMemory::default(), Arc::default());
    /// let world = website.handle();
    ///
    /// website.run_until_idle().await; // The handler has applied the Deployment, and stays.
    /// world.make_ready::<Deployment>();
    /// website.run_until(|state| state == WebsiteMachine::Live).await;
    /// # });
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no object of this kind, because no handler has applied one yet.
    pub fn make_ready<K: Child>(&self) {
        self.notify(&self.0.others.report::<K>(true));
    }
    /// Gives all objects of this kind the status that their controller writes when it has failed for good. A kind that
    /// never fails for good, such as a StatefulSet, is not ready instead. A state that waits for them runs again.
    ///
    /// # Panics
    ///
    /// If there is no object of this kind, because no handler has applied one yet.
    pub fn fail<K: Child>(&self) {
        self.notify(&self.0.others.report::<K>(false));
    }
    fn notify<'a, K: Child>(&self, objects: impl IntoIterator<Item = &'a K>) {
        let Some(manifest) = self.stored() else {
            return;
        };
        let links = M::links();
        let mut changes = Vec::new();
        for object in objects {
            let concerning = of_kind::<M, K>(&links).filter(|link| concerns(link, &manifest, object));
            changes.extend(concerning.map(|link| Change {
                names: link.names(),
                child: None,
            }));
        }
        if !changes.is_empty() {
            self.0.queue.push(|queued| queued.changes.extend(changes));
        }
    }
}

/// The objects of a watched kind that concern the object under test, in the order of a cluster.
pub(in crate::cluster) fn concerning<M: Linked, K: Child>(
    api: &InMemoryApi,
    manifest: &ManifestOf<M>,
) -> Vec<Arc<K>> {
    let links = M::links();
    let mut found = Vec::new();
    for link in of_kind::<M, K>(&links).filter(|link| !link.is_owned()) {
        let mut concerning: Vec<Arc<K>> = api.all();
        concerning.retain(|object| concerns(link, manifest, &**object));
        let named = link.named_by(manifest);
        concerning.sort_by_key(|object| named.iter().position(|(_, name)| *name == object.name_any()));
        found.extend(concerning);
    }
    found
}

fn of_kind<M: Linked, K: Child>(links: &[Link<M>]) -> impl Iterator<Item = &Link<M>> {
    links.iter().filter(|link| link.of == TypeId::of::<K>())
}

/// Whether an object of another kind concerns the object under test. Objects in tests often lack fields that a cluster
/// would set: without a controller an object counts as a child, and without a namespace as one in the right namespace.
fn concerns<M: Linked, K: Child>(link: &Link<M>, manifest: &ManifestOf<M>, other: &K) -> bool {
    match &link.concerns {
        Concerns::Owner => {
            owner_uid(other.meta(), M::GRAPH.finalizer).is_none_or(|uid| uid == manifest.uid())
        }
        Concerns::Named(..) => {
            let (name, namespace) = (other.name_any(), other.namespace().unwrap_or_default());
            let is_here = |there: &str| namespace.is_empty() || there.is_empty() || namespace == there;
            let named = link.named_by(manifest);
            named
                .iter()
                .any(|(there, named)| *named == name && is_here(there))
        }
        Concerns::Label(key) => other
            .labels()
            .get(*key)
            .is_some_and(|name| name == manifest.name()),
        Concerns::All => true,
    }
}
