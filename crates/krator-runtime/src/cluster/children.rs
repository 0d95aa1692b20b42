//! Requests about children.
mod apply;
mod emptied;
mod ends;
mod former;
mod orphans;
#[cfg(test)]
mod tests;

pub(super) use orphans::Orphan;

use crate::{
    applied::{Applied, Deleted},
    cluster::{
        api::limiter::Busy,
        related::{scope::Report, watches::KindCache},
    },
    error::{Error, Result},
    resource::{Child, ChildDeletion, MANAGED_BY, Owner, Place},
};
use kube::{
    Api, Client, ResourceExt as _,
    api::{DeleteParams, Preconditions, PropagationPolicy},
};
use serde_json::{Value, json};
use std::sync::Arc;

/// The children of one kind that belong to one object. It owns its data, because the futures of its requests
/// outlive the context.
pub(super) struct Children<K: Child> {
    pub client: Client,
    pub cache: Arc<KindCache<K>>,
    /// The kind as the description names it.
    pub kind: &'static str,
    pub applied: Arc<Applied>,
    pub operator: &'static str,
    /// The namespace of the owner; empty if the owner is cluster-scoped.
    pub namespace: String,
    pub owner: Owner,
    pub deletion: ChildDeletion,
    /// Publishes an event about the owner; `None` in memory.
    pub report: Option<Report>,
    /// The handler waits for requests until this is dropped; `None` in memory.
    pub _busy: Option<Busy>,
}

impl<K: Child> Children<K> {
    pub async fn apply(self, mut body: Value) -> Result<Arc<K>> {
        let name = body["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        if name.is_empty() {
            return Err(Error::permanent("a child needs a name"));
        }
        let namespace = self.namespace_of(body["metadata"]["namespace"].as_str())?;
        self.applied.applies::<K>(&namespace, &name);
        self.complete(&mut body, &namespace);
        self.send(namespace, name, body).await
    }

    /// The children in the cache, updated with what the handlers of the owner have applied and deleted.
    pub async fn owned(&self) -> Result<Vec<Arc<K>>> {
        self.cache.fill().await?;
        let mut children = self.cache.all();
        children.retain(|child| self.owner.owns(&**child));
        // The cache may still have deleted children, which would count as alive, so they are read again.
        for (deleted, version) in self.applied.deleted_of_kind(self.kind) {
            let (_, namespace, name) = &deleted.child;
            let is_it = |child: &K| child.meta().uid.as_deref() == Some(&*deleted.uid);
            let Some(at) = children.iter().position(|child| is_it(child)) else {
                if self.cache.seen(namespace) >= version {
                    self.applied.forget_deleted(&deleted);
                }
                continue;
            };
            if is_going(&*children[at]) {
                self.applied.forget_deleted(&deleted);
                continue;
            }
            match self.read(namespace, name).await?.filter(|now| is_it(now)) {
                Some(now) => {
                    // The deletion has failed.
                    if !is_going(&*now) {
                        self.applied.forget_deleted(&deleted);
                    }
                    children[at] = now;
                }
                None => drop(children.remove(at)),
            }
        }
        // Applied children that the cache lacks, or has in an older version, are read as well.
        for (key, version) in self.applied.of_kind(self.kind) {
            let (_, namespace, name) = &key;
            let at = children.iter().position(|child| {
                child.name_any() == *name && child.namespace().unwrap_or_default() == *namespace
            });
            if at.is_some_and(|at| crate::resource::version(&*children[at]) >= version) {
                continue;
            }
            match (at, self.read(namespace, name).await?) {
                (Some(at), Some(now)) => children[at] = now,
                (Some(at), None) => drop(children.remove(at)),
                (None, Some(now)) => children.push(now),
                // Otherwise the cache may later show the child as it was before its deletion.
                (None, None) if self.cache.seen(namespace) >= version => self.applied.forget(&key),
                (None, None) => {}
            }
        }
        children.sort_by_key(|child| (child.namespace(), child.name_any()));
        Ok(children)
    }

    /// The child of this name as the API server has it now.
    async fn read(&self, namespace: &str, name: &str) -> Result<Option<Arc<K>>> {
        let api: Api<K> = <K::Scope as Place>::api(self.client.clone(), namespace);
        let child = api.get_opt(name).await?;
        Ok(child.filter(|child| self.owner.owns(child)).map(Arc::new))
    }

    pub async fn prune(self) -> Result<Vec<Arc<K>>> {
        let mut pruned = self.owned().await?;
        pruned.retain(|child| {
            let (namespace, name) = (child.namespace().unwrap_or_default(), child.name_any());
            !is_going(&**child) && !self.applied.is_of_this_run::<K>(namespace, name)
        });
        for child in &pruned {
            self.delete(child, PropagationPolicy::Background).await?;
        }
        Ok(pruned)
    }

    pub async fn delete(&self, child: &K, propagation: PropagationPolicy) -> Result<()> {
        if !self.owner.owns(child) {
            return Err(Error::permanent(format!(
                "`{}` is not a child of this object",
                child.name_any()
            )));
        }
        let (name, uid) = (child.name_any(), child.uid());
        let namespace = child.namespace().unwrap_or_default();
        if let Some(uid) = uid.clone() {
            // A handler that never lists its children would otherwise accumulate them.
            for (deleted, version) in self.applied.deleted_of_kind(self.kind) {
                let (_, namespace, name) = &deleted.child;
                if self.cache.seen(namespace) >= version && !self.cache.has(namespace, name) {
                    self.applied.forget_deleted(&deleted);
                }
            }
            let version = crate::resource::version(child);
            let child = (self.kind, namespace.clone(), name.clone());
            self.applied.deletes(Deleted { child, uid }, version);
        }
        let api: Api<K> = <K::Scope as Place>::api(self.client.clone(), &namespace);
        let this = Preconditions {
            uid: uid.clone(),
            resource_version: None,
        };
        let params = DeleteParams {
            preconditions: Some(this),
            propagation_policy: Some(propagation),
            ..DeleteParams::default()
        };
        match api.delete(&name, &params).await {
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            // The preconditions failed: usually another object has the name, and the child is gone.
            Err(kube::Error::Api(status)) if status.code == 409 => match api.get_opt(&name).await? {
                Some(now) if now.uid() == uid => Err(kube::Error::Api(status).into()),
                _ => Ok(()),
            },
            Err(error) => Err(error.into()),
        }
    }

    /// Sets the metadata of every child, and removes fields that only the API server may set.
    fn complete(&self, body: &mut Value, namespace: &str) {
        body["apiVersion"] = json!(K::api_version(&()));
        body["kind"] = json!(K::kind(&()));
        let metadata = &mut body["metadata"];
        if !namespace.is_empty() {
            metadata["namespace"] = json!(namespace);
        }
        self.owner.mark(metadata, self.deletion);
        metadata["labels"][MANAGED_BY] = json!(self.operator);
        if let Some(metadata) = metadata.as_object_mut() {
            for set_by_server in [
                "managedFields",
                "resourceVersion",
                "uid",
                "creationTimestamp",
                "generation",
            ] {
                metadata.remove(set_by_server);
            }
        }
        if let Some(body) = body.as_object_mut() {
            body.remove("status");
        }
    }

    /// The namespace of a child: that of its owner, if the owner has one.
    fn namespace_of(&self, wanted: Option<&str>) -> Result<String> {
        if !<K::Scope as Place>::NAMESPACED {
            return Ok(String::new());
        }
        match wanted.filter(|wanted| !wanted.is_empty()) {
            Some(wanted) if !self.namespace.is_empty() && wanted != self.namespace => Err(Error::permanent(
                format!("a child must be in the namespace of its owner, not in `{wanted}`"),
            )),
            Some(wanted) => Ok(wanted.to_owned()),
            None if self.namespace.is_empty() => {
                Err(Error::permanent("a child of this kind needs a namespace"))
            }
            None => Ok(self.namespace.clone()),
        }
    }
}

/// Whether an object is being deleted and waits for its finalizers.
fn is_going<K: Child>(child: &K) -> bool {
    child.meta().deletion_timestamp.is_some()
}
