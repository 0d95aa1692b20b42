//! Checks whether the API server can convert an object. If it cannot, a write drops all entries of `metadata.managedFields`,
//! and with them the ownership of fields. This does not matter for an object without finalizers, which is gone then.
use super::remote::{Remote, request};
use crate::{
    cluster::{
        api::raw::{Endpoint, Raw},
        related::links::Linked,
    },
    machine::ManifestOf,
    operator::Operator,
    resource::KubeObject,
    versions::Versions,
    world::WriteError,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Api;

/// The older versions of a kind whose objects are converted.
pub(in crate::cluster) fn older<M: Linked>(endpoint: &Endpoint) -> Vec<Endpoint> {
    let versions = M::webhooks().versions;
    // Generated versions are valid JSON.
    let versions = versions.and_then(|versions| serde_json::from_str::<Versions>(versions.text).ok());
    let older = versions.into_iter().flat_map(|versions| versions.older);
    older
        .map(|older| endpoint.in_version(&older.shape.name))
        .collect()
}

impl<O: Operator> Remote<O>
where
    ManifestOf<O::Machine>: KubeObject,
{
    /// Reads an object in an older version, to check that it can be converted. A version that is not served proves nothing.
    pub(super) async fn try_conversion(&self, meta: &ObjectMeta) -> Result<(), WriteError> {
        let namespace = meta.namespace.as_deref().unwrap_or_default();
        let name = meta.name.as_deref().unwrap_or_default();
        for endpoint in &self.older {
            let api: Api<Raw> = endpoint.api(self.cluster.client.clone(), namespace);
            match request(api.get(name)).await {
                Ok(_) => return Ok(()),
                Err(WriteError::Gone) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
