//! Kubernetes objects in the runtime: custom resources as the objects of a machine, and objects of other kinds.
mod owner;
mod selector;

pub use owner::ChildDeletion;
pub(crate) use owner::{
    FORMER_MANAGERS, MANAGED_BY, Owner, controller, controller_in, group_of, is_handed_over, labelled_owner,
    owner_uid, release,
};
pub(crate) use selector::Selector;

use crate::{
    error::{Error, Result},
    machine::{Edit, Object},
    status::{MachineStatus, ObjectStatus},
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference, Time};
use kube::{
    Api, Client, Resource,
    core::{ClusterResourceScope, NamespaceResourceScope, object::HasStatus},
};
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;

/// A custom resource that an operator can manage. It is implemented for every custom resource that has a status.
pub trait KubeObject:
    Object<Status: Serialize> + Resource<DynamicType = (), Scope: Place> + Serialize + DeserializeOwned + Debug
{
}
impl<K> KubeObject for K where
    K: Object<Status: Serialize>
        + Resource<DynamicType = (), Scope: Place>
        + Serialize
        + DeserializeOwned
        + Debug
{
}

/// A kind that a handler uses as a Rust type: of `k8s-openapi`, or of the generated crate.
pub trait Child:
    Resource<DynamicType = (), Scope: Place>
    + Serialize
    + DeserializeOwned
    + Clone
    + Debug
    + Send
    + Sync
    + 'static
{
}
impl<K> Child for K where
    K: Resource<DynamicType = (), Scope: Place>
        + Serialize
        + DeserializeOwned
        + Clone
        + Debug
        + Send
        + Sync
        + 'static
{
}

/// The scope of a kind: its objects live in namespaces, or in the cluster as a whole.
pub trait Place {
    /// Whether the objects have a namespace.
    const NAMESPACED: bool;
    /// Access to the objects in a namespace. If `namespace` is empty, or the scope has none, access to all objects.
    fn api<K: Resource<DynamicType = (), Scope = Self>>(client: Client, namespace: &str) -> Api<K>;
}
impl Place for NamespaceResourceScope {
    const NAMESPACED: bool = true;
    fn api<K: Resource<DynamicType = (), Scope = Self>>(client: Client, namespace: &str) -> Api<K> {
        if namespace.is_empty() {
            Api::all(client)
        } else {
            Api::namespaced(client, namespace)
        }
    }
}
impl Place for ClusterResourceScope {
    const NAMESPACED: bool = false;
    fn api<K: Resource<DynamicType = (), Scope = Self>>(client: Client, _: &str) -> Api<K> {
        Api::all(client)
    }
}

impl<K> Object for K
where
    K: Resource<DynamicType = ()>
        + HasStatus<Status: ObjectStatus + Serialize>
        + Clone
        + Send
        + Sync
        + 'static,
{
    type Status = <K as HasStatus>::Status;

    fn name(&self) -> &str {
        self.meta().name.as_deref().unwrap_or_default()
    }
    fn namespace(&self) -> &str {
        self.meta().namespace.as_deref().unwrap_or_default()
    }
    fn uid(&self) -> &str {
        self.meta().uid.as_deref().unwrap_or_default()
    }
    fn generation(&self) -> i64 {
        self.meta().generation.unwrap_or_default()
    }
    /// API servers increase versions, and since Kubernetes 1.35 they guarantee that versions can be compared.
    fn version(&self) -> u64 {
        version(self)
    }
    fn deleting(&self) -> bool {
        self.meta().deletion_timestamp.is_some()
    }
    fn has_finalizer(&self, name: &str) -> bool {
        self.meta().finalizers.iter().flatten().any(|f| f == name)
    }
    fn same_labels(&self, other: &Self) -> bool {
        let (mine, theirs) = (self.meta(), other.meta());
        mine.labels == theirs.labels && mine.annotations == theirs.annotations
    }
    fn annotation(&self, name: &str) -> Option<&str> {
        self.meta().annotations.as_ref()?.get(name).map(String::as_str)
    }
    fn status(&self) -> Option<&Self::Status> {
        HasStatus::status(self)
    }
    fn status_fields(&self) -> Option<String> {
        let mut status = HasStatus::status(self)?.clone();
        *status.machine_mut() = MachineStatus::default();
        serde_json::to_string(&status).ok()
    }
    fn edit(&mut self, edit: Edit<'_, Self::Status>) {
        let meta = self.meta_mut();
        match edit {
            Edit::Version(version) => meta.resource_version = Some(version.to_string()),
            Edit::Generation(generation) => meta.generation = Some(generation),
            Edit::Delete => meta.deletion_timestamp = Some(Time(jiff::Timestamp::now())),
            Edit::Finalizer(name, present) => {
                let finalizers = meta.finalizers.get_or_insert_default();
                finalizers.retain(|f| f != name);
                if present {
                    finalizers.push(name.to_owned());
                }
            }
            Edit::Annotation(name, value) => {
                let annotations = meta.annotations.get_or_insert_default();
                annotations.insert(name.to_owned(), value.to_owned());
            }
            Edit::Status(status) => *self.status_mut() = Some(status),
        }
    }
}

/// `metadata.resourceVersion` as a number; 0 if there is none.
pub(crate) fn version<K: Resource>(object: &K) -> u64 {
    version_in(object.meta())
}

/// The same for the metadata alone.
pub(crate) fn version_in(meta: &ObjectMeta) -> u64 {
    let version = meta.resource_version.as_deref();
    version.and_then(|v| v.parse().ok()).unwrap_or_default()
}

/// Whether `owner` may apply an object that exists and belongs to `present`.
///
/// # Errors
///
/// If it belongs to another object. The request is blocked if the other object had the kind and the name of `owner`: it
/// was deleted and created again, and its children will be deleted. Otherwise the error is permanent.
pub(crate) fn may_apply<K: Child>(
    name: &str,
    present: Option<&OwnerReference>,
    owner: &OwnerReference,
) -> Result<()> {
    let group = |of: &OwnerReference| of.api_version.rsplit_once('/').map(|(group, _)| group.to_owned());
    let kind = K::kind(&());
    match present {
        Some(it) if it.uid == owner.uid => Ok(()),
        Some(it) if (&it.kind, &it.name, group(it)) == (&owner.kind, &owner.name, group(owner)) => {
            Err(Error::blocked(format!(
                "{kind} `{name}` is a child of a deleted {} `{}` and is waiting for garbage collection",
                owner.kind, owner.name
            )))
        }
        _ => Err(Error::permanent(format!(
            "{kind} `{name}` exists and is not a child of this object, so it is not changed"
        ))),
    }
}
