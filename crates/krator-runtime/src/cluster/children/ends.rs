//! Deletes or releases the children that outlive the deletion path of their owner, before the finalizer is
//! removed. Children that a crash leaves behind are found again by their label.
use crate::{
    cluster::{
        api::patch,
        related::{links::Link, scope::Cluster},
    },
    error::Result,
    machine::{Machine, ManifestOf, Object as _},
    resource::{ChildDeletion, controller_in, owner_uid, release},
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{
    Api,
    api::{DeleteParams, ListParams, Patch, Preconditions},
    core::PartialObjectMeta,
};
use serde_json::{Value, json};

/// The metadata of objects of some kind.
pub(super) type Metadata = PartialObjectMeta<kube::core::DynamicObject>;

/// The owner of a child: its name and its uid.
pub(super) type OwnerName<'a> = (&'a str, &'a str);

impl<M: Machine> Cluster<M> {
    /// Ends the children of an object whose deletion path has ended, and tells what is kept. Children that are being deleted
    /// already count as gone: what their own finalizers wait for may be the end of the object.
    pub async fn end_children(&self, object: &ManifestOf<M>, kept: impl Fn(&str) + Send) -> Result<()> {
        let owner = (object.name(), object.uid());
        for (at, link) in self.links.iter().enumerate() {
            if link.deletion == ChildDeletion::Owner {
                continue;
            }
            for child in self.children(at, link, object).await? {
                if self.end(link, &child, owner).await? && link.deletion == ChildDeletion::Keep {
                    kept(&format!("{} `{}`", link.endpoint.kind(), name_of(&child)));
                }
            }
        }
        Ok(())
    }

    /// The children of an object, as the API server has them now: those with the label, and those with an
    /// owner reference, which a former description has set.
    async fn children(&self, at: usize, link: &Link<M>, object: &ManifestOf<M>) -> Result<Vec<ObjectMeta>> {
        let label = M::GRAPH.finalizer;
        let labelled = ListParams::default().labels(&format!("{label}={}", object.uid()));
        let mut children = Vec::new();
        for namespace in self.places(link, object) {
            let list = self.metadata(link, namespace).list_metadata(&labelled).await?;
            children.extend(list.items.into_iter().map(|child| child.metadata));
        }
        let is_owner = |uid: &str| uid == object.uid();
        let referring = |controller: Option<&str>, labelled: Option<&str>| {
            labelled.is_none() && controller.is_some_and(is_owner)
        };
        for (namespace, name) in self.caches[at].owned_by(label, &referring) {
            let child = self.metadata(link, &namespace).get_metadata_opt(&name).await?;
            children.extend(child.map(|child| child.metadata));
        }
        children.retain(|child| owner_uid(child, label).is_some_and(is_owner));
        Ok(children)
    }

    /// Deletes or releases a child whose owner is gone or about to be. Returns whether there was anything to do.
    pub(super) async fn end(&self, link: &Link<M>, child: &ObjectMeta, owner: OwnerName<'_>) -> Result<bool> {
        if child.deletion_timestamp.is_some() {
            return Ok(false);
        }
        if link.deletion == ChildDeletion::Keep {
            let mut metadata = release(M::GRAPH.finalizer, owner.0, owner.1);
            if controller_in(child).is_some_and(|controller| controller.uid == owner.1) {
                metadata["ownerReferences"] = without_controller(child);
            }
            self.patch(link, child, metadata).await?;
            return Ok(true);
        }
        let params = DeleteParams {
            preconditions: Some(Preconditions {
                uid: child.uid.clone(),
                resource_version: child.resource_version.clone(),
            }),
            ..DeleteParams::background()
        };
        let api = self.metadata(link, child.namespace.as_deref().unwrap_or_default());
        match api.delete(name_of(child), &params).await {
            Ok(_) => Ok(true),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Changes the metadata of this version of a child.
    pub(super) async fn patch(&self, link: &Link<M>, child: &ObjectMeta, mut metadata: Value) -> Result<()> {
        metadata["resourceVersion"] = json!(child.resource_version);
        metadata["uid"] = json!(child.uid);
        let params = patch::params(self.manager);
        let patch = Patch::Merge(json!({"metadata": metadata}));
        let api = self.metadata(link, child.namespace.as_deref().unwrap_or_default());
        match api.patch_metadata(name_of(child), &params, &patch).await {
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn metadata(&self, link: &Link<M>, namespace: &str) -> Api<Metadata> {
        link.endpoint.api(self.client.clone(), namespace)
    }

    /// The namespaces in which children of an object may be. The empty name stands for all of them.
    fn places<'a>(&'a self, link: &Link<M>, object: &'a ManifestOf<M>) -> Vec<&'a str> {
        if !object.namespace().is_empty() || !link.endpoint.is_namespaced() || self.namespaces.is_empty() {
            return vec![object.namespace()];
        }
        self.namespaces.iter().map(String::as_str).collect()
    }
}

/// The owner references of a child without its controller.
pub(super) fn without_controller(child: &ObjectMeta) -> Value {
    let owners = child.owner_references.iter().flatten();
    json!(
        owners
            .filter(|owner| owner.controller != Some(true))
            .collect::<Vec<_>>()
    )
}

pub(super) fn name_of(child: &ObjectMeta) -> &str {
    child.name.as_deref().unwrap_or_default()
}
