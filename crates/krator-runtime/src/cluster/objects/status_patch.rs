//! The patch by which the machine of an object writes its status.
use crate::resource::KubeObject;
use serde::Serialize;
use std::borrow::Cow;

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
