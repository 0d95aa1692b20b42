//! The webhooks of an operator that runs on this machine: their configurations, and the definitions of kinds that functions of the
//! author convert, with an address in place of the Service.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Value as Json, json};

use super::cluster::{Cluster, Embedded, objects};

/// The manifest of a crate with webhooks.
pub const MANIFEST: &str = "deploy/webhooks.yaml";

/// The manifest of the kinds.
pub const DEFINITIONS: &str = "deploy/crd.yaml";

/// The timeout for the operator to publish the certificates that the API server has to trust.
const TRUST: Duration = Duration::from_secs(10);

/// The configurations in a manifest.
fn configurations(manifest: &Path) -> anyhow::Result<Vec<Json>> {
    let is_configuration = |object: &Json| object["webhooks"].is_array();
    Ok(objects(manifest)?.into_iter().filter(is_configuration).collect())
}

/// The resources of configurations.
const RESOURCES: [&str; 2] = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"];

/// Deletes the webhook configurations while the operator does not run, including those that were removed from the
/// description.
///
/// # Errors
///
/// If the API server refuses it.
pub async fn close(cluster: &Cluster) -> anyhow::Result<()> {
    if let Cluster::Embedded(embedded) = cluster {
        for resource in RESOURCES {
            embedded.delete_others(resource, &[]).await?;
        }
    }
    Ok(())
}

/// Registers the webhooks of the operator at this address, and waits until the API server trusts it.
///
/// # Errors
///
/// If the manifest cannot be read, if the API server refuses it, or if the operator does not publish its certificates.
pub async fn open(cluster: &Embedded, folder: &Path, address: SocketAddr) -> anyhow::Result<()> {
    let redirect = |client: &mut Json| {
        let path = client["service"]["path"].as_str().unwrap_or_default();
        *client = json!({"url": format!("https://{address}{path}")});
    };
    for mut configuration in configurations(&folder.join(MANIFEST))? {
        for webhook in configuration["webhooks"].as_array_mut().into_iter().flatten() {
            redirect(&mut webhook["clientConfig"]);
        }
        cluster.apply(&configuration).await?;
    }
    for mut definition in objects(&folder.join(DEFINITIONS))? {
        if cluster.calls_functions(&definition) {
            redirect(&mut definition["spec"]["conversion"]["webhook"]["clientConfig"]);
            cluster.apply(&definition).await?;
        }
    }
    let mut versions = cluster.server().versions();
    let trusted = async { while !is_trusted(cluster) && versions.changed().await.is_ok() {} };
    let trusted = tokio::time::timeout(TRUST, trusted).await;
    trusted.context("the operator did not publish the caBundle of its webhooks; see its log")
}

fn is_trusted(cluster: &Embedded) -> bool {
    let of = |group, resource| cluster.server().objects(group, resource).into_iter();
    let configurations = RESOURCES.map(|resource| of("admissionregistration.k8s.io", resource));
    let webhooks = configurations.into_iter().flatten();
    let clients = webhooks.flat_map(|configuration| {
        let webhooks = configuration["webhooks"].as_array().cloned().unwrap_or_default();
        webhooks
            .into_iter()
            .map(|webhook| webhook["clientConfig"].clone())
    });
    let definitions = of("apiextensions.k8s.io", "customresourcedefinitions");
    let conversions =
        definitions.map(|definition| definition["spec"]["conversion"]["webhook"]["clientConfig"].clone());
    clients
        .chain(conversions.filter(|client| client["url"].is_string()))
        .all(|client| client["caBundle"].is_string())
}
