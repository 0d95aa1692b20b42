//! What handlers may ask of the cluster: what the description grants, and no more, or it does not compile.
use super::{
    Child, Cluster, Place,
    caches::{Caches, Known, drop_what_nobody_reads, version},
};
use crate::{
    Context, Error, Machine, ManifestOf, Object as _, Result,
    applied::{Applied, ChildKey},
};
use futures::future::BoxFuture;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::{
    Api, Resource, ResourceExt as _,
    api::{DeleteParams, Patch, PatchParams, Preconditions},
};
use serde_json::{Value, json};
use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Arc,
};

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
        <K::Scope as Place>::api(self.cluster().client.clone(), self.manifest().namespace())
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
        let (request, key) = (
            self.child_request::<K>(),
            (child.namespace(), child.name_any(), child.uid()),
        );
        let is_ours = is_controlled_by(child, self.manifest().uid());
        Box::pin(async move {
            let (request, (namespace, name, uid)) = (request?, key);
            if !is_ours {
                return Err(Error::permanent(format!(
                    "`{name}` is not a child of this object"
                )));
            }
            request.delete(namespace, name, uid).await
        })
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
        self.cluster().concerning(&self.manifest())
    }

    fn cluster(&self) -> &Cluster<M> {
        // A mistake of a test, never a state of an operator: there it is always set.
        self.cluster.expect("there is no cluster here")
    }

    fn child_request<K: Child>(&self) -> Result<Request<K>> {
        let (cluster, manifest) = (self.cluster(), self.manifest());
        let (caches, kind) = cluster
            .caches::<K>(true)
            .ok_or_else(|| Error::permanent("no such kind is owned"))?;
        Ok(Request {
            client: cluster.client.clone(),
            caches,
            kind,
            applied: Arc::clone(self.applied),
            operator: cluster.manager,
            namespace: manifest.namespace().to_owned(),
            owner: cluster.owner_reference(&manifest),
        })
    }
}

/// What a request about children needs, apart from the context, which it outlives.
struct Request<K: Child> {
    client: kube::Client,
    caches: Arc<Caches<K>>,
    kind: &'static str,
    applied: Arc<Applied>,
    operator: &'static str,
    /// The owner's; empty where it has none.
    namespace: String,
    owner: OwnerReference,
}

impl<K: Child> Request<K> {
    async fn apply(self, mut body: Value) -> Result<Arc<K>> {
        let name = body["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        if name.is_empty() {
            return Err(Error::permanent("a child needs a name"));
        }
        let namespace = self.namespace_of(body["metadata"]["namespace"].as_str())?;
        self.complete(&mut body, &namespace);
        let key: ChildKey = (self.kind, namespace.clone(), name.clone());
        let hash = hash(&body);
        let (known, last) = (self.caches.known(&namespace, &name), self.applied.last(&key));
        if let (Some(known), Some(last)) = (&known, &last)
            && (last.hash, last.version) == (hash, known.version)
            && let Ok(same) = Arc::clone(&last.answer).downcast::<K>()
        {
            return Ok(same);
        }
        let api: Api<K> = <K::Scope as Place>::api(self.client.clone(), &namespace);
        let is_ours = |known: &Known| known.controller.as_ref() == Some(&self.owner.uid);
        let there = match known.filter(is_ours) {
            Some(ours) => Some(ours),
            None => api.get_metadata_opt(&name).await?.as_ref().map(Known::of),
        };
        if there.as_ref().is_some_and(|there| !is_ours(there)) {
            return Err(Error::permanent(format!(
                "{} `{name}` exists and is not a child of this object: it is left alone",
                K::kind(&())
            )));
        }
        // A manager of this owner's own: two owners cannot silently swap a child.
        let manager = format!("{}-{}", self.operator, self.owner.uid);
        let mut stored = api
            .patch(&name, &PatchParams::apply(&manager).force(), &Patch::Apply(&body))
            .await?;
        drop_what_nobody_reads(&mut stored);
        let (version, stored) = (version(&stored), Arc::new(stored));
        // The same again, and it made a difference.
        let mended = last.is_some_and(|last| last.hash == hash)
            && there.is_none_or(|before| before.version != version);
        self.applied
            .record(key, hash, version, Arc::clone(&stored) as _, mended);
        Ok(stored)
    }

    /// Sets what every child has.
    fn complete(&self, body: &mut Value, namespace: &str) {
        body["apiVersion"] = json!(K::api_version(&()));
        body["kind"] = json!(K::kind(&()));
        let metadata = &mut body["metadata"];
        if !namespace.is_empty() {
            metadata["namespace"] = json!(namespace);
        }
        metadata["ownerReferences"] = json!([self.owner]);
        metadata["labels"]["app.kubernetes.io/managed-by"] = json!(self.operator);
        if let Some(metadata) = metadata.as_object_mut() {
            for servers in [
                "managedFields",
                "resourceVersion",
                "uid",
                "creationTimestamp",
                "generation",
            ] {
                metadata.remove(servers);
            }
        }
        if let Some(body) = body.as_object_mut() {
            body.remove("status");
        }
    }

    /// Where a child lives: with its owner, if that has a namespace.
    fn namespace_of(&self, wanted: Option<&str>) -> Result<String> {
        if !<K::Scope as Place>::NAMESPACED {
            return Ok(String::new());
        }
        match wanted.filter(|wanted| !wanted.is_empty()) {
            Some(wanted) if !self.namespace.is_empty() && wanted != self.namespace => Err(Error::permanent(
                format!("a child lives in the namespace of its owner, not in `{wanted}`"),
            )),
            Some(wanted) => Ok(wanted.to_owned()),
            None if self.namespace.is_empty() => {
                Err(Error::permanent("a child of this kind needs a namespace"))
            }
            None => Ok(self.namespace.clone()),
        }
    }

    async fn owned(self) -> Result<Vec<Arc<K>>> {
        self.caches.fill().await?;
        let ours = |child: &K| is_controlled_by(child, &self.owner.uid);
        let mut children: Vec<Arc<K>> = self.caches.all().filter(|child| ours(child)).collect();
        // What was applied here and is not in the cache yet.
        for ((_, namespace, name), version) in self.applied.of_kind(self.kind) {
            let at = children.iter().position(|child| {
                child.name_any() == name && child.namespace().unwrap_or_default() == namespace
            });
            if at.is_some_and(|at| self::version(&*children[at]) >= version) {
                continue;
            }
            let api: Api<K> = <K::Scope as Place>::api(self.client.clone(), &namespace);
            let now = api
                .get_opt(&name)
                .await?
                .filter(|child| ours(child))
                .map(Arc::new);
            match (at, now) {
                (Some(at), Some(now)) => children[at] = now,
                (Some(at), None) => drop(children.remove(at)),
                (None, Some(now)) => children.push(now),
                (None, None) => self.applied.forget(&(self.kind, namespace, name)),
            }
        }
        children.sort_by_key(|child| (child.namespace(), child.name_any()));
        Ok(children)
    }

    async fn delete(self, namespace: Option<String>, name: String, uid: Option<String>) -> Result<()> {
        let namespace = namespace.unwrap_or_default();
        self.applied.forget(&(self.kind, namespace.clone(), name.clone()));
        let api: Api<K> = <K::Scope as Place>::api(self.client.clone(), &namespace);
        let this = Preconditions {
            uid,
            resource_version: None,
        };
        let params = DeleteParams {
            preconditions: Some(this),
            ..DeleteParams::background()
        };
        match api.delete(&name, &params).await {
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

fn is_controlled_by<K: Resource>(child: &K, uid: &str) -> bool {
    let mut owners = child.meta().owner_references.iter().flatten();
    owners.any(|owner| owner.controller == Some(true) && owner.uid == uid)
}

fn hash(body: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    body.to_string().hash(&mut hasher);
    hasher.finish()
}

impl<M: Machine> Cluster<M> {
    fn owner_reference(&self, manifest: &ManifestOf<M>) -> OwnerReference {
        OwnerReference {
            api_version: self.api_version.clone(),
            kind: self.kind.clone(),
            name: manifest.name().to_owned(),
            uid: manifest.uid().to_owned(),
            controller: Some(true),
            block_owner_deletion: Some(true),
        }
    }
}
