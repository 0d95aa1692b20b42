//! The objects of a cluster, for those who want to know what an edit breaks there.
//!
//! kubectl is asked: whoever has a cluster has it, with all the ways to log in that there are, and krator need not have
//! a client of its own for one question.

use std::process::Command;

use anyhow::{Context, bail};
use clap::ValueEnum;
use krator::compare::{Census, Comparison, resources};
use krator::model::Description;
use krator::text::printable;
use serde_json::Value as Json;

/// Against what an edit is judged, beside the former description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Against {
    /// The objects of the cluster that kubectl talks to; KUBECONFIG says which
    Cluster,
}

/// Counts the stored objects that break.
pub fn count(comparison: &Comparison, old: &Description, new: &Description) -> anyhow::Result<Vec<Census>> {
    resources(old, new)
        .iter()
        .map(|resource| Ok(Census::of(comparison, resource, &stored(&resource.name)?)))
        .collect()
}

/// All objects of a resource; none where the cluster does not know it.
fn stored(resource: &str) -> anyhow::Result<Vec<Json>> {
    let output = Command::new("kubectl")
        .args(["get", resource, "--all-namespaces", "--output=json"])
        .output()
        .context("cannot run kubectl, which is asked for the objects of the cluster")?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        if error.contains("the server doesn't have a resource type") {
            return Ok(Vec::new());
        }
        // What kubectl has to say stands at the end, below what its libraries have logged.
        let said = error.trim().lines().last().unwrap_or_default();
        bail!("kubectl get {resource}: {}", printable(said));
    }
    let list: Json = serde_json::from_slice(&output.stdout).context("kubectl wrote no JSON")?;
    match list.get("items") {
        Some(Json::Array(items)) => Ok(items.clone()),
        _ => bail!("kubectl wrote no list"),
    }
}
