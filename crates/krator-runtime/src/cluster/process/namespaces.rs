//! Whether the namespaces that the operator is restricted to exist. A list of the objects in a namespace that does not
//! exist is empty rather than an error, so a mistyped name would look like a namespace without objects.
use super::health::Wait;
use crate::{cluster::api::backoff::WatchBackoff, error::Error};
use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, Client};

/// Waits until the namespace exists. Without the right to read namespaces nobody can know, so that is accepted.
pub(in crate::cluster) async fn wait_for(client: Client, name: String, wait: Wait) {
    let namespaces = Api::<Namespace>::all(client);
    for delay in WatchBackoff::default() {
        match namespaces.get_metadata(&name).await {
            Ok(_) => break,
            Err(kube::Error::Api(status)) if status.code == 403 => break,
            Err(error) => {
                let error = Error::from(error);
                tracing::warn!(namespace = name, %error, "cannot read the namespace");
                wait.fails(&error);
            }
        }
        tokio::time::sleep(delay).await;
    }
    wait.done();
}
