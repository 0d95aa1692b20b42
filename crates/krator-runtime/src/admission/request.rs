//! The fields of `AdmissionRequest` (admission.k8s.io/v1) that a verdict depends on.
//!
//! kube's type would decode both objects into untyped ones first. Here they stay raw JSON until they are
//! decoded into the typed object, which is faster and adds less code to each operator.
use k8s_openapi::api::authentication::v1::UserInfo;
use kube::core::GroupVersionKind;
use serde::Deserialize;
use serde_json::Value;

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Operation {
    /// It creates the object.
    Create,
    /// It changes the object.
    Update,
    /// It deletes the object.
    Delete,
    /// It connects to a subresource such as a terminal. Custom resources have none.
    Connect,
}

impl Operation {
    /// The name of the operation in the API.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::Connect => "CONNECT",
        }
    }
}

/// The body of a request to an admission webhook.
#[derive(Deserialize)]
pub(crate) struct AdmissionReview {
    pub request: AdmissionRequest,
}

/// A request for admission.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AdmissionRequest {
    pub uid: String,
    pub kind: GroupVersionKind,
    #[serde(default)]
    pub sub_resource: Option<String>,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub namespace: Option<String>,
    pub operation: Operation,
    pub user_info: UserInfo,
    #[serde(default)]
    pub dry_run: bool,
    /// The object as the request would leave it; `None` for a deletion.
    #[serde(default)]
    pub object: Option<Value>,
    /// The object as it is stored; `None` for a creation.
    #[serde(default)]
    pub old_object: Option<Value>,
}
