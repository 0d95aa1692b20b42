//! Access of webhook handlers to objects of other kinds.
use crate::{
    admission::{AdmissionRequest, Asked, Operation, Review, Reviewed, Verdict},
    cluster::{
        access::concerning,
        related::{
            links::{Linked, Watches},
            scope::Cluster,
        },
    },
    error::Result,
    local::{Fixture, InMemoryApi},
    machine::ManifestOf,
    resource::Child,
};
use k8s_openapi::api::authentication::v1::UserInfo;
use kube::core::GroupVersionKind;
use serde::{Serialize, de::DeserializeOwned};
use std::sync::Arc;

impl<K: Reviewed> Review<'_, K> {
    /// All objects of a watched kind that concern [`object`](Self::object), as for handlers of states. They come
    /// from the cache of the operator or, where the watch selects them by name or label, from the API server.
    ///
    /// # Errors
    ///
    /// If a request to the API server fails.
    pub async fn all_watched<C: Child>(&self) -> Result<Vec<Arc<C>>>
    where
        K::Machine: Watches<C>,
    {
        if let Some(cluster) = self.backend().downcast_ref::<Cluster<K::Machine>>() {
            return Ok(cluster.concerning(&cluster.find(&self.object).await?));
        }
        let api = self.backend().downcast_ref::<Arc<InMemoryApi>>();
        Ok(api.map_or_else(Vec::new, |api| concerning::<K::Machine, C>(api, &self.object)))
    }
}

/// An object that has gone through the webhooks in a test.
#[derive(Clone, Debug)]
pub struct Admission<K> {
    /// The object after `mutate`.
    pub object: K,
    /// The verdict of `mutate` and, if that allows the object, of `validate`.
    pub verdict: Verdict,
}

impl<M: Linked> Fixture<M>
where
    ManifestOf<M>: Serialize + DeserializeOwned,
{
    /// Calls the webhooks for the creation of this object, as the API server does.
    ///
    /// # Errors
    ///
    /// If the object cannot be written as JSON, or does not fit its type after `mutate`.
    pub async fn admit(&self, object: &ManifestOf<M>) -> Result<Admission<ManifestOf<M>>> {
        self.ask(None, object).await
    }
    /// Calls the webhooks for an update of this object, as the API server does.
    ///
    /// # Errors
    ///
    /// As for [`admit`](Self::admit).
    pub async fn admit_update(
        &self,
        old: &ManifestOf<M>,
        new: &ManifestOf<M>,
    ) -> Result<Admission<ManifestOf<M>>> {
        self.ask(Some(old), new).await
    }

    async fn ask(
        &self,
        old: Option<&ManifestOf<M>>,
        object: &ManifestOf<M>,
    ) -> Result<Admission<ManifestOf<M>>> {
        let old = old.map(serde_json::to_value).transpose()?;
        let mut object = serde_json::to_value(object)?;
        let operation = if old.is_some() {
            Operation::Update
        } else {
            Operation::Create
        };
        let request = AdmissionRequest {
            uid: "test".to_owned(),
            kind: GroupVersionKind::gvk("", "", ""),
            sub_resource: None,
            name: String::new(),
            namespace: None,
            operation,
            user_info: UserInfo {
                username: Some("test".to_owned()),
                ..UserInfo::default()
            },
            dry_run: false,
            object: None,
            old_object: None,
        };
        let webhooks = M::webhooks();
        let mut verdict = Verdict::allow();
        for ask in [webhooks.mutate, webhooks.validate].into_iter().flatten() {
            if !verdict.is_allowed() {
                break;
            }
            let asked = Asked {
                request: &request,
                object: &object,
                old: old.as_ref(),
                shared: &*self.shared,
                backend: self.others(),
            };
            let answer = ask(asked).await?;
            verdict = verdict.and(answer.verdict);
            object = answer.changed.unwrap_or(object);
        }
        Ok(Admission {
            object: serde_json::from_value(object)?,
            verdict,
        })
    }
}
