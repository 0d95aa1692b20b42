//! Replaces the part of kube-controller-manager that the workload with children needs: Deployments become ready. No
//! pods run, so an administrator writes the status that the controllers of a cluster would write.

use futures::StreamExt as _;
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Patch, PatchParams};
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client, ResourceExt as _};
use serde_json::{Value, json};
use tokio::task::JoinSet;

/// How many statuses are written at once.
const AT_ONCE: usize = 16;

/// Makes each new Deployment ready, until the result is dropped.
pub fn make_ready(client: Client) -> JoinSet<()> {
    let deployments: Api<Deployment> = Api::default_namespaced(client);
    let mut task = JoinSet::new();
    task.spawn(async move {
        watcher(deployments.clone(), watcher::Config::default())
            .applied_objects()
            .for_each_concurrent(AT_ONCE, |deployment| {
                write_status(&deployments, deployment.expect("a watch"))
            })
            .await;
    });
    task
}

async fn write_status(deployments: &Api<Deployment>, deployment: Deployment) {
    let generation = deployment.metadata.generation;
    let observed = deployment
        .status
        .as_ref()
        .and_then(|status| status.observed_generation);
    if observed == generation {
        return;
    }
    let replicas = deployment.spec.replicas;
    let status = json!({
        "observedGeneration": generation,
        "replicas": replicas,
        "updatedReplicas": replicas,
        "readyReplicas": replicas,
        "availableReplicas": replicas,
        "conditions": [
            condition("Available", "MinimumReplicasAvailable", "Deployment has minimum availability."),
            condition("Progressing", "NewReplicaSetAvailable", "ReplicaSet has successfully progressed."),
        ],
    });
    let patch = Patch::Merge(json!({ "status": status }));
    let written = deployments
        .patch_status(&deployment.name_any(), &PatchParams::default(), &patch)
        .await;
    written.expect("an administrator may write a status");
}

/// A condition as the deployment controller writes it. For kstatus a Deployment is current only with both conditions.
fn condition(kind: &str, reason: &str, message: &str) -> Value {
    json!({"type": kind, "status": "True", "reason": reason, "message": message})
}
