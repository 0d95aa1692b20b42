//! The webhooks of an operator that runs on this machine: their configurations, with an address in place of the Service.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Value as Json, json};

use super::cluster::{Embedded, objects};

/// The manifest of a crate with webhooks.
pub const MANIFEST: &str = "deploy/webhooks.yaml";

/// How long the operator may take to tell the API server which certificates to trust.
const TRUST: Duration = Duration::from_secs(10);

/// The configurations in a manifest.
fn configurations(manifest: &Path) -> anyhow::Result<Vec<Json>> {
    let is_configuration = |object: &Json| object["webhooks"].is_array();
    Ok(objects(manifest)?.into_iter().filter(is_configuration).collect())
}

/// Has nobody asked while the operator does not run.
///
/// # Errors
///
/// If the manifest cannot be read, or if the API server refuses it.
pub async fn close(cluster: &Embedded, manifest: &Path) -> anyhow::Result<()> {
    for configuration in configurations(manifest)? {
        cluster.server().delete(&configuration).await?;
    }
    Ok(())
}

/// Has the operator asked at this address, and waits until the API server trusts it.
///
/// # Errors
///
/// As of [`close`], and if the operator does not write which certificates to trust.
pub async fn open(cluster: &Embedded, manifest: &Path, address: SocketAddr) -> anyhow::Result<()> {
    for mut configuration in configurations(manifest)? {
        for webhook in configuration["webhooks"].as_array_mut().into_iter().flatten() {
            let path = webhook["clientConfig"]["service"]["path"]
                .as_str()
                .unwrap_or_default();
            webhook["clientConfig"] = json!({"url": format!("https://{address}{path}")});
        }
        cluster.apply(&configuration).await?;
    }
    let mut versions = cluster.server().versions();
    let trusted = async { while !is_trusted(cluster) && versions.changed().await.is_ok() {} };
    let trusted = tokio::time::timeout(TRUST, trusted).await;
    trusted.context("the operator does not say which certificates of its webhooks to trust; its log says why")
}

fn is_trusted(cluster: &Embedded) -> bool {
    let of = |resource| cluster.server().objects("admissionregistration.k8s.io", resource);
    let configurations = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"]
        .into_iter()
        .flat_map(of);
    let webhooks = configurations
        .flat_map(|configuration| configuration["webhooks"].as_array().cloned().unwrap_or_default());
    webhooks
        .into_iter()
        .all(|webhook| webhook["clientConfig"]["caBundle"].is_string())
}
