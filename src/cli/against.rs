//! Reads the stored objects of a cluster, to count those that an edit breaks.
//!
//! It runs kubectl, which users of a cluster have installed and which supports every way to authenticate, so that krator
//! needs no Kubernetes client of its own.

use std::process::Command;

use crate::compare::{Census, Comparison, resources};
use crate::model::Description;
use crate::text::printable;
use anyhow::{Context, bail};
use clap::ValueEnum;
use serde_json::Value as Json;

/// An additional source that an edit is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Against {
    /// The objects of the cluster that kubectl is configured for, for example by KUBECONFIG
    Cluster,
}

/// Lists the stored objects of a resource, which is named as `moose.v1.animals.com`.
pub type Stored<'a> = &'a dyn Fn(&str) -> anyhow::Result<Vec<Json>>;

/// Counts the stored objects that break.
pub fn count(
    comparison: &Comparison,
    old: &Description,
    new: &Description,
    stored: Stored<'_>,
) -> anyhow::Result<Vec<Census>> {
    resources(old, new)
        .iter()
        .map(|resource| Ok(Census::of(comparison, resource, &stored(&resource.name)?)))
        .collect()
}

/// All objects of a resource in the cluster that kubectl is configured for, or none if it does not serve the resource.
///
/// # Errors
///
/// If kubectl cannot be run or cannot list them.
pub fn stored(resource: &str) -> anyhow::Result<Vec<Json>> {
    let output = Command::new("kubectl")
        .args(["get", resource, "--all-namespaces", "--output=json"])
        .output()
        .context("cannot run kubectl, which `--against` uses to list stored objects")?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        if error.contains("the server doesn't have a resource type") {
            return Ok(Vec::new());
        }
        // kubectl prints its own error last, after the log lines of its libraries.
        let reason = error.trim().lines().last().unwrap_or_default();
        bail!("kubectl get {resource}: {}", printable(reason));
    }
    let list: Json = serde_json::from_slice(&output.stdout).context("kubectl did not print JSON")?;
    match list.get("items") {
        Some(Json::Array(items)) => Ok(items.clone()),
        _ => bail!("kubectl did not print a list"),
    }
}
