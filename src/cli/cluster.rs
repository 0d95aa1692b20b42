//! Reads from clusters, for several verbs: requests to the API server, with responses in JSON, and the facts
//! that other modules judge. Only approvals are written to a cluster.

mod client;
mod examine;
mod lease;
mod survey;
mod target;

pub use client::{Cluster, NoKubeconfig, Request, Response};
pub use examine::examine;
pub use lease::{acts, look_at_lease};
pub use survey::survey;
pub use target::{Named, Target};

use std::path::{Path, PathBuf};
use std::sync::mpsc;

use anyhow::Context as _;
use serde::Deserialize as _;
use serde_json::Value as Json;

use crate::compare::Listed;
use crate::model::{Description, Kind};
use crate::observed::{items, text};

/// The cluster that a verb looks into.
#[derive(Debug, Default, Clone, clap::Args)]
pub struct Connection {
    /// The kubeconfig of the cluster [default: $KUBECONFIG, or ~/.kube/config]
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig [default: its current one]
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
}

/// The namespace of the operator of a crate: the given one, or that of its Deployment, or that of the description.
pub fn operator_namespace(given: Option<&str>, folder: &Path, description: &Description) -> String {
    let of_deployment = || {
        let text = std::fs::read_to_string(folder.join(crate::render::DEPLOYMENT)).ok()?;
        let mut documents = serde_yaml::Deserializer::from_str(&text);
        let documents = documents
            .by_ref()
            .filter_map(|document| Json::deserialize(document).ok());
        let mut deployments = documents.filter(|document| document["kind"] == "Deployment");
        Some(deployments.next()?["metadata"]["namespace"].as_str()?.to_owned())
    };
    given
        .map(str::to_owned)
        .or_else(of_deployment)
        .unwrap_or_else(|| description.namespace.clone())
}

/// The path of the objects of a resource, in one namespace or in all.
pub fn resource_path(group: &str, version: &str, plural: &str, namespace: Option<&str>) -> String {
    let api = match group {
        "" => format!("/api/{version}"),
        group => format!("/apis/{group}/{version}"),
    };
    match namespace {
        Some(namespace) => format!("{api}/namespaces/{namespace}/{plural}"),
        None => format!("{api}/{plural}"),
    }
}

/// The versions in which objects may be stored, by the status of their CRD.
pub fn stored_versions(definition: &Json) -> Option<Vec<String>> {
    let versions = definition.pointer("/status/storedVersions")?.as_array()?.iter();
    Some(versions.filter_map(Json::as_str).map(str::to_owned).collect())
}

/// Why a cluster does not serve a kind: it serves the resource in other versions only, or not at all. `None` if it
/// serves the kind.
pub fn unserved(cluster: &Cluster, kind: &Kind) -> Option<String> {
    let resource = &kind.resource;
    let (group, version) = (resource.group.as_str(), resource.version.as_str());
    let find = |path: String| cluster.find(path).object().cloned().unwrap_or_default();
    let group_versions = find(format!("/apis/{group}"));
    let versions = items(&group_versions, "/versions").iter();
    let served: Vec<&str> = versions
        .map(|version| text(version, "/version"))
        .filter(|version| {
            let resources = find(format!("/apis/{group}/{version}"));
            items(&resources, "/resources")
                .iter()
                .any(|it| it["name"] == *resource.plural.as_str())
        })
        .collect();
    match served[..] {
        _ if served.contains(&version) => None,
        [] => Some(format!(
            "the cluster does not have {}; `krator doctor` shows more",
            resource.definition()
        )),
        _ => Some(format!(
            "the cluster does not serve {version} of {} yet; it has {}; `krator doctor` shows more",
            resource.definition(),
            served.join(", ")
        )),
    }
}

/// Passes the stored objects of a resource, named as `moose.v1.animals.com`, in the cluster of the kubeconfig to
/// `sees`, page by page. There are none if the cluster does not serve the resource.
///
/// # Errors
///
/// If the objects cannot be listed.
pub fn stored(resource: &str, sees: &mut dyn FnMut(&Listed)) -> anyhow::Result<()> {
    let mut parts = resource.splitn(3, '.');
    let [plural, version, group] = [(); 3].map(|()| parts.next().unwrap_or_default());
    let path = resource_path(group, version, plural, None);
    let (pages, listed) = mpsc::sync_channel(1);
    let list = move || {
        let cluster = Cluster::connect(&Connection::default())?;
        let definitions = resource_path("apiextensions.k8s.io", "v1", "customresourcedefinitions", None);
        let definition = cluster.find(format!("{definitions}/{plural}.{group}"));
        let versions = definition.object().and_then(stored_versions);
        let page = |objects, time| {
            let versions = versions.clone();
            // Sending fails if judging the previous page has panicked.
            let _ = pages.send(Listed {
                objects,
                versions,
                time,
            });
        };
        let listed = cluster.each_page(&path, page);
        listed.with_context(|| format!("cannot list {resource}"))?;
        Ok(())
    };
    // `krator dev` calls this within tokio, where another runtime must not block, so the objects are listed by another
    // thread.
    std::thread::scope(|scope| {
        let list = scope.spawn(list);
        listed.iter().for_each(|page| sees(&page));
        list.join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
