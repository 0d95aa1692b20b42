//! The children that the handlers of each kind apply: one of each kind that it owns.

use super::NAMESPACE;
use krator::model::{Kind, ObjectKind, Scope, State, StateKind};
use krator::names::snake;
use serde_json::{Value, json};

/// The code before a handler follows its script: it applies the children of the object. On the deletion path and in
/// final states no children are applied.
pub fn applied(kind: &Kind, state: &State) -> String {
    if state.on_deletion_path || state.kind.value == StateKind::Final {
        return String::new();
    }
    let statements = kind.owns.iter().map(|owned| {
        let owned = &owned.kind.value;
        let child = child(owned).to_string();
        let path = rust_path(kind, owned);
        format!(
            "        let child = r#\"{child}\"#.replace(\"OWNER\", cx.name());\n        \
             cx.apply(&serde_json::from_str::<{path}>(&child)?).await?;\n"
        )
    });
    statements.collect()
}

/// The Rust type of a kind in the handlers of the owner.
fn rust_path(owner: &Kind, owned: &ObjectKind) -> String {
    let name = owned.kind.as_str();
    if owned.described.is_some() {
        return format!("crate::{}::{name}", snake(name));
    }
    if !owned.has_type {
        let owner = snake(owner.resource.kind.as_str());
        return format!("crate::{owner}::prelude::{name}");
    }
    let group = owned.group.split('.').next().filter(|group| !group.is_empty());
    format!(
        "k8s_openapi::api::{}::{}::{name}",
        group.unwrap_or("core"),
        owned.version
    )
}

/// The name of the children of an object.
pub fn name(owner: &str) -> String {
    format!("{owner}-child")
}

/// A child, with the name of its owner as `OWNER`.
fn child(kind: &ObjectKind) -> Value {
    let mut child = contents(kind.kind.as_str());
    if kind.described.is_some() {
        // With an empty script the child follows its first edges, until it is at rest.
        child["metadata"] = json!({"annotations": {"script": ""}});
    }
    child["apiVersion"] = kind.api_version().into();
    child["kind"] = kind.kind.as_str().into();
    child["metadata"]["name"] = name("OWNER").into();
    if kind.scope != Some(Scope::Cluster) {
        child["metadata"]["namespace"] = NAMESPACE.into();
    }
    child
}

/// The fields of a child apart from its metadata.
fn contents(kind: &str) -> Value {
    let labels = json!({"app": "OWNER"});
    let pod = json!({"containers": [{"name": "main", "image": "main:1"}]});
    let template = json!({"metadata": {"labels": labels}, "spec": pod});
    let mut once = template.clone();
    once["spec"]["restartPolicy"] = "Never".into();
    let workload = json!({"replicas": 2, "selector": {"matchLabels": labels}, "template": template});
    match kind {
        "ConfigMap" => json!({"data": {"owner": "OWNER"}}),
        "Secret" => json!({"stringData": {"owner": "OWNER"}}),
        "Service" => json!({"spec": {"selector": labels, "ports": [{"port": 80}]}}),
        "Deployment" | "ReplicaSet" => json!({"spec": workload}),
        "StatefulSet" => {
            let mut spec = workload;
            spec["serviceName"] = name("OWNER").into();
            json!({"spec": spec})
        }
        "PodDisruptionBudget" => json!({"spec": {"minAvailable": 1, "selector": {"matchLabels": labels}}}),
        "Pod" => json!({"spec": pod}),
        "PersistentVolumeClaim" => {
            let storage = json!({"requests": {"storage": "1Gi"}});
            json!({"spec": {"accessModes": ["ReadWriteOnce"], "resources": storage}})
        }
        "Job" => json!({"spec": {"template": once}}),
        // The types of described kinds have no defaults.
        "AnalysisRun" => json!({"spec": {"metrics": [{"name": "m", "failureLimit": 0, "provider": {}}]}}),
        "ExternalSecret" => {
            json!({"spec": {"secretStore": "OWNER", "refreshInterval": "876000h", "data": []}})
        }
        "NodeClaim" => {
            let class = json!({"group": "g", "kind": "k", "name": "OWNER"});
            json!({"spec": {"requirements": [], "nodeClassRef": class, "expireAfter": "720h"}})
        }
        "CronJob" => json!({"spec": {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": {"template": once}}}}),
        _ => json!({"spec": {"of": "OWNER"}}),
    }
}
