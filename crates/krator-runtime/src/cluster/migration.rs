//! Moves all objects of a kind to the version in which they are stored now, so that a former one can be dropped.
//!
//! The API never shows in which version an object is stored, so every object is written that is listed. A write changes nothing
//! that clients see but `metadata.managedFields`: entries in other versions are rewritten, because one in a version that is gone
//! makes every server-side apply to the object fail.
use super::{api::raw::Endpoint, related::links::Linked};
use crate::{
    error::{Error, Result},
    machine::ManifestOf,
    resource::KubeObject,
    versions::Versions,
};
use futures::future::join_all;
use k8s_openapi::{
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry,
};
use kube::{
    Api, Client, ResourceExt as _,
    api::{ApiResource, DynamicObject, ListParams, Patch, PatchParams},
    core::PartialObjectMeta,
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, time::Duration};
use tokio::{
    sync::watch,
    time::{Interval, MissedTickBehavior, interval, sleep},
};

/// How many objects a page has.
const PAGE: u32 = 500;
/// How often an object is written again that others write at the same time.
const TRIES: usize = 20;
/// How long the API server is left alone when it has no time.
const BUSY: Duration = Duration::from_secs(1);
/// How many objects that the API server refuses are named.
const NAMED: usize = 10;

/// How many objects an operator writes in a second, at most.
pub(in crate::cluster) const RATE: u32 = 50;
/// How long an operator waits before it looks at the definition again.
const LOOKED_EVERY: Duration = Duration::from_secs(60);

/// A kind whose objects can be moved.
pub(in crate::cluster) struct Kind {
    endpoint: Endpoint,
    /// [`Versions`] as JSON; `None` if objects are the same in all versions.
    versions: Option<&'static str>,
}

impl Kind {
    /// The kind of a machine.
    pub fn of<M: Linked>() -> Self
    where
        ManifestOf<M>: KubeObject,
    {
        let versions = M::webhooks().versions.map(|versions| versions.text);
        Self {
            endpoint: Endpoint::of::<ManifestOf<M>>(),
            versions,
        }
    }
}

/// Moves the objects of these kinds, one after the other, also where no other version is stored: managers may still have entries in
/// one.
///
/// # Errors
///
/// Those of the first kind that has some, when all others are moved.
pub(in crate::cluster) async fn migrate(client: &Client, kinds: Vec<Kind>, rate: u32) -> Result<()> {
    let mut result = Ok(());
    for kind in kinds {
        let migration = Migration::new(client.clone(), kind, rate)?;
        let kind = migration.endpoint.kind().to_owned();
        match migration.run_always().await {
            Ok(objects) => tracing::info!(
                kind,
                objects,
                "migrated all stored objects to the storage version"
            ),
            Err(error) => result = result.and(Err(error)),
        }
    }
    result
}

/// Moves the objects of these kinds whenever there is something to move, as long as this replica leads.
pub(in crate::cluster) async fn keep_migrating(
    client: Client,
    kinds: Vec<Kind>,
    mut leads: watch::Receiver<bool>,
) {
    if leads.wait_for(|leads| *leads).await.is_err() {
        return;
    }
    let kinds = kinds.into_iter();
    let migrations = kinds.filter_map(|kind| Migration::new(client.clone(), kind, RATE).ok());
    let each = migrations.map(async |migration| {
        loop {
            if let Err(error) = migration.run_if_needed().await {
                tracing::warn!(kind = migration.endpoint.kind(), %error, "cannot migrate stored objects");
            }
            sleep(LOOKED_EVERY).await;
        }
    });
    join_all(each).await;
}

/// Asks again while the API server has no time. What is asked may be done twice: it changes nothing, or names the version of the
/// object that it changes.
async fn patiently<T, A: Future<Output = kube::Result<T>>>(ask: impl Fn() -> A) -> kube::Result<T> {
    for _ in 1..TRIES {
        match ask().await {
            Err(kube::Error::Api(status)) if [429, 503, 504].contains(&status.code) => sleep(BUSY).await,
            answer => return answer,
        }
    }
    ask().await
}

/// A kind whose objects are moved.
struct Migration {
    client: Client,
    endpoint: Endpoint,
    versions: Option<Versions>,
    /// How many objects are written in a second, at most.
    rate: u32,
}

/// The versions of stored objects, by the definition.
struct Stored {
    /// The version in which objects are written.
    now: String,
    /// Those in which some may be stored.
    may_be: Vec<String>,
    /// Where objects are read and written: in that version, which needs no conversion of those that are moved already. If it
    /// is not served, in the version of this operator.
    endpoint: Endpoint,
    generation: i64,
    resource_version: String,
    /// The last object that has been moved since the definition has this generation.
    after: String,
}

impl Migration {
    fn new(client: Client, kind: Kind, rate: u32) -> Result<Self> {
        let Kind { endpoint, versions } = kind;
        let versions = versions.map(serde_json::from_str).transpose()?;
        Ok(Self {
            client,
            endpoint,
            versions,
            rate,
        })
    }

    /// Moves all objects, from where a former run has ended. Returns how many were written.
    ///
    /// # Errors
    ///
    /// If the API server refuses to write some, all others are written first. If it cannot be reached, too: another run
    /// goes on.
    async fn run(&self, mut stored: Stored) -> Result<usize> {
        let mut written = 0;
        loop {
            written += self.pass(&stored).await?;
            let now = self.stored().await?;
            // The storage version may have changed meanwhile.
            if now.generation == stored.generation && self.clear(&now).await? {
                return Ok(written);
            }
            stored = now;
        }
    }

    /// Moves all objects, wherever they are stored.
    async fn run_always(&self) -> Result<usize> {
        self.run(self.stored().await?).await
    }

    /// Moves all objects if some may be stored in another version.
    async fn run_if_needed(&self) -> Result<()> {
        let stored = self.stored().await?;
        if stored.may_be != [stored.now.as_str()] {
            self.run(stored).await?;
        }
        Ok(())
    }

    fn definitions(&self) -> Api<DynamicObject> {
        Api::all_with(
            self.client.clone(),
            &ApiResource::erase::<CustomResourceDefinition>(&()),
        )
    }

    async fn stored(&self) -> Result<Stored> {
        let definition = self.definitions().get(&self.endpoint.name()).await?;
        let mut versions = definition.data["spec"]["versions"]
            .as_array()
            .into_iter()
            .flatten();
        let now = versions.find(|version| version["storage"] == true);
        let is_served = now.is_some_and(|version| version["served"] == true);
        let now = now
            .and_then(|version| version["name"].as_str())
            .unwrap_or_default();
        let may_be = definition.data["status"]["storedVersions"].as_array();
        let may_be = may_be.into_iter().flatten().filter_map(Value::as_str);
        let generation = definition.metadata.generation.unwrap_or_default();
        let mark = definition.annotations().get(&self.mark()).map(String::as_str);
        let after = mark.and_then(|mark| mark.strip_prefix(&format!("{generation} ")));
        Ok(Stored {
            now: now.to_owned(),
            endpoint: match is_served {
                true => self.endpoint.in_version(now),
                false => self.endpoint.clone(),
            },
            may_be: may_be.map(str::to_owned).collect(),
            generation,
            after: after.unwrap_or_default().to_owned(),
            resource_version: definition.resource_version().unwrap_or_default(),
        })
    }

    /// The annotation of the definition that says how far the objects are moved.
    fn mark(&self) -> String {
        format!("{}/moved", self.endpoint.group())
    }

    async fn set_mark(&self, mark: Option<String>) -> Result<()> {
        let patch = json!({"metadata": {"annotations": {self.mark(): mark}}});
        let name = self.endpoint.name();
        self.definitions()
            .patch_metadata(&name, &PatchParams::default(), &Patch::Merge(patch))
            .await?;
        Ok(())
    }

    /// Says that objects are stored in one version only; not if the definition has changed since it was read.
    async fn clear(&self, stored: &Stored) -> Result<bool> {
        let patch = json!({
            "metadata": {"resourceVersion": stored.resource_version}, "status": {"storedVersions": [stored.now]},
        });
        let name = self.endpoint.name();
        let cleared = self
            .definitions()
            .patch_status(&name, &PatchParams::default(), &Patch::Merge(patch))
            .await;
        match cleared {
            Ok(_) => self.set_mark(None).await.map(|()| true),
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes each object that is listed once.
    async fn pass(&self, stored: &Stored) -> Result<usize> {
        tracing::info!(kind = self.endpoint.kind(), to = stored.now, from = ?stored.may_be, after = stored.after, "moving stored objects");
        let (mut after, mut written) = (stored.after.clone(), 0);
        let mut refused = Vec::new();
        let mut pace = interval(Duration::from_secs(1) / self.rate.max(1));
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let all = stored.endpoint.api(self.client.clone(), "");
        let mut page = ListParams::default().limit(PAGE);
        loop {
            let list = match patiently(|| all.list_metadata(&page)).await {
                // The list has become too old to go on. Objects are listed in the order of their names.
                Err(kube::Error::Api(status)) if status.code == 410 => {
                    page.continue_token = None;
                    continue;
                }
                list => list?,
            };
            for object in list.items {
                let key = key(&object);
                if key <= after {
                    continue;
                }
                written += 1;
                if let Err(why) = self.write(object, stored, &mut pace).await? {
                    refused.push(format!("{key}: {why}"));
                }
                after = key;
            }
            page.continue_token = list.metadata.continue_.filter(|token| !token.is_empty());
            if page.continue_token.is_none() {
                break;
            }
            if refused.is_empty() {
                self.set_mark(Some(format!("{} {after}", stored.generation)))
                    .await?;
            }
        }
        if refused.is_empty() {
            return Ok(written);
        }
        let (count, all) = (refused.len(), written);
        refused.truncate(NAMED);
        Err(Error::permanent(format!(
            "cannot write {count} of {all} objects: {}",
            refused.join("; ")
        )))
    }

    /// Writes an object as it is. The inner error is why the API server refuses that.
    async fn write(
        &self,
        mut object: PartialObjectMeta<DynamicObject>,
        stored: &Stored,
        pace: &mut Interval,
    ) -> Result<Result<(), String>> {
        let (name, namespace) = (object.name_any(), object.namespace());
        let api = stored
            .endpoint
            .api(self.client.clone(), namespace.as_deref().unwrap_or_default());
        for _ in 0..TRIES {
            pace.tick().await;
            let metadata = object.metadata;
            let mut patch =
                json!({"metadata": {"uid": metadata.uid, "resourceVersion": metadata.resource_version}});
            let entries = metadata.managed_fields.unwrap_or_default();
            if let Some(entries) = self.in_one_version(entries, &stored.now) {
                patch["metadata"]["managedFields"] = json!(entries);
            }
            let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
            match patiently(|| api.patch_metadata(&name, &params, &patch)).await {
                Ok(_) => return Ok(Ok(())),
                Err(kube::Error::Api(status)) if status.code == 404 => return Ok(Ok(())),
                Err(kube::Error::Api(status)) if status.code == 409 => {
                    match patiently(|| api.get_metadata_opt(&name)).await? {
                        Some(now) => object = now,
                        None => return Ok(Ok(())),
                    }
                }
                Err(kube::Error::Api(status)) if [400, 403, 422].contains(&status.code) => {
                    return Ok(Err(status.message));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Err("others write it all the time".to_owned()))
    }

    /// The entries of managers, all in this version; `None` if they are.
    fn in_one_version(&self, entries: Vec<ManagedFieldsEntry>, to: &str) -> Option<Vec<ManagedFieldsEntry>> {
        let group = self.endpoint.group();
        let to_version = format!("{group}/{to}");
        let version_of = |entry: &ManagedFieldsEntry| {
            let version = entry
                .api_version
                .as_deref()?
                .strip_prefix(group)?
                .strip_prefix('/')?;
            (version != to).then(|| version.to_owned())
        };
        if !entries.iter().any(|entry| version_of(entry).is_some()) {
            return None;
        }
        let mut all: BTreeMap<_, ManagedFieldsEntry> = BTreeMap::new();
        for mut entry in entries {
            if let Some(from) = version_of(&entry) {
                let fields = entry.fields_v1.take().map(|fields| fields.0).unwrap_or_default();
                let fields = match &self.versions {
                    Some(versions) => versions.owned(fields, &from, to).unwrap_or_else(|| json!({})),
                    None => fields,
                };
                entry.fields_v1 = Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::FieldsV1(fields));
                entry.api_version = Some(to_version.clone());
            }
            let identity = (
                entry.manager.clone(),
                entry.operation.clone(),
                entry.api_version.clone(),
                entry.subresource.clone(),
            );
            match all.get_mut(&identity) {
                None => drop(all.insert(identity, entry)),
                Some(same) => {
                    if let (Some(fields), Some(more)) = (&mut same.fields_v1, entry.fields_v1) {
                        unite(&mut fields.0, more.0);
                    }
                    same.time = same.time.take().max(entry.time);
                }
            }
        }
        let is_empty = |entry: &ManagedFieldsEntry| {
            entry
                .fields_v1
                .as_ref()
                .is_none_or(|fields| fields.0 == json!({}))
        };
        Some(all.into_values().filter(|entry| !is_empty(entry)).collect())
    }
}

/// The namespace and the name of an object, in the order in which the API server lists objects.
fn key(object: &PartialObjectMeta<DynamicObject>) -> String {
    match object.namespace() {
        Some(namespace) => format!("{namespace}/{}", object.name_any()),
        None => object.name_any(),
    }
}

fn unite(fields: &mut Value, more: Value) {
    if let (Value::Object(fields), Value::Object(more)) = (fields, more) {
        for (name, below) in more {
            unite(fields.entry(name).or_insert_with(|| json!({})), below);
        }
    }
}
