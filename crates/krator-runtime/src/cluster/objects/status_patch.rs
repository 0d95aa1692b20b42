//! The patch by which the machine of an object writes its status.
use super::{remote::Remote, undecodable::stored};
use crate::{
    machine::{ManifestOf, StatusOf},
    operator::Operator,
    resource::KubeObject,
    world::WriteError,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta};
use kube::Resource as _;
use serde::Serialize;
use serde_json::json;
use std::{borrow::Cow, sync::Arc};

/// A patch that applies a status. It has a type of its own because most writes are of this kind: serializing it
/// does not build a tree of JSON values.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StatusPatch<'a, S> {
    api_version: Cow<'static, str>,
    kind: Cow<'static, str>,
    metadata: PatchMetadata<'a>,
    status: &'a S,
}

impl<'a, S> StatusPatch<'a, S> {
    pub fn of<K: KubeObject>(object: &'a K, status: &'a S) -> Self {
        Self {
            api_version: K::api_version(&()),
            kind: K::kind(&()),
            metadata: PatchMetadata {
                resource_version: object.meta().resource_version.as_deref(),
            },
            status,
        }
    }
}

/// Contains the version that the decision is based on, so that the API server rejects decisions based on older
/// versions.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PatchMetadata<'a> {
    resource_version: Option<&'a str>,
}

impl<O: Operator> Remote<O>
where
    ManifestOf<O::Machine>: KubeObject,
{
    /// Applies the whole status, without the fields that it is refused for because the definition in the cluster lacks them.
    pub(super) async fn apply_whole(
        &self,
        object: &ManifestOf<O::Machine>,
        status: &StatusOf<O::Machine>,
    ) -> Result<Arc<ManifestOf<O::Machine>>, WriteError> {
        let _permit = self.permit().await;
        let mut answer = self
            .apply_own(object.meta(), &StatusPatch::of(object, status))
            .await;
        if answer.is_ok() {
            self.crd_mismatch.stored(status);
        }
        let mut kept = None;
        while let Err(WriteError::Other(error)) = &answer {
            let kept = kept.get_or_insert_with(|| serde_json::to_value(status).unwrap_or_default());
            if !self.crd_mismatch.prune(error, kept) {
                break;
            }
            answer = self
                .apply_own(object.meta(), &StatusPatch::of(object, &*kept))
                .await;
        }
        answer
    }

    /// Applies the whole status. What is left of one that the operator applied under a former name goes.
    async fn apply_own(
        &self,
        meta: &ObjectMeta,
        patch: &(impl Serialize + Sync),
    ) -> Result<Arc<ManifestOf<O::Machine>>, WriteError> {
        let manager = self.cluster.manager;
        let mut answer = self.apply_status(meta, patch, manager).await?;
        for former in former_managers(answer.meta(), manager) {
            let version = json!({"resourceVersion": answer.meta().resource_version});
            let (api_version, kind) = (&self.cluster.api_version, &self.cluster.kind);
            let nothing = json!({"apiVersion": api_version, "kind": kind, "metadata": version});
            answer = self.apply_status(meta, &nothing, &former).await?;
        }
        stored(&answer)
    }
}

/// The managers other than `present` that have applied the whole status of an object: the operator under its former names, since
/// nobody else applies the entry of a state.
fn former_managers(meta: &ObjectMeta, present: &str) -> Vec<String> {
    let has_applied = |entry: &&ManagedFieldsEntry| {
        let fields = entry.fields_v1.as_ref().map(|fields| &fields.0["f:status"]);
        entry.operation.as_deref() == Some("Apply")
            && entry.subresource.as_deref() == Some("status")
            && fields.is_some_and(|fields| fields["f:entry"].is_object())
    };
    let managers = meta.managed_fields.iter().flatten().filter(has_applied);
    let managers = managers.filter_map(|entry| entry.manager.clone());
    managers.filter(|manager| manager != present).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    #[test]
    fn whoever_has_applied_the_entry_of_a_state_is_the_operator() {
        let entry = |manager: &str, operation: &str, subresource: Option<&str>, field: &str| {
            json!({
                "manager": manager, "operation": operation, "subresource": subresource,
                "fieldsV1": {"f:status": {field: {}}},
            })
        };
        let status = Some("status");
        let meta = json!({"managedFields": [
            entry("sites", "Apply", status, "f:entry"),
            entry("former", "Apply", status, "f:entry"),
            entry("sites-conditions", "Apply", status, "f:conditions"),
            entry("edited", "Update", status, "f:entry"),
            entry("applied", "Apply", None, "f:entry"),
        ]});
        let meta = from_value(meta).expect("metadata");
        assert_eq!(former_managers(&meta, "sites"), ["former"]);
        assert_eq!(former_managers(&ObjectMeta::default(), "sites"), [""; 0]);
    }
}
