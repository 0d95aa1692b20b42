//! The children of a database: a pod with its password, its address and its volume.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Secret, Service};
use krator_runtime::Readiness;
use serde_json::{from_value, json};

use crate::database::prelude::*;

/// The image of a version of PostgreSQL.
pub fn image(database: &Database) -> String {
    match database.spec.version {
        DatabaseSpecVersion::V17 => "postgres:17".to_owned(),
        DatabaseSpecVersion::V18 => "postgres:18".to_owned(),
    }
}

/// Applies the children that the spec asks for, and returns how ready the pod is. Children without a difference cause
/// no request.
pub async fn apply(cx: &Context<'_>) -> Result<Readiness> {
    if cx.owned::<Secret>().await?.is_empty() {
        // Only once: each call of `password` returns another one, and the stored data was set up with the first.
        let data = BTreeMap::from([("password".to_owned(), password()?)]);
        cx.apply(&Secret {
            string_data: Some(data),
            ..cx.child(cx.name())
        })
        .await?;
    }
    cx.apply(&service(cx)?).await?;
    let pod = cx.apply(&pod(cx)?).await?;
    // After the pod, because a volume grows only when a pod uses it. So a failure here does not prevent the creation of
    // the pod.
    cx.apply(&volume(cx)?).await?;
    Ok(cx.readiness(&*pod))
}

/// 128 random bits from the operating system, in hexadecimal.
fn password() -> Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn service(cx: &Context<'_>) -> Result<Service> {
    Ok(from_value(json!({
        "metadata": {"name": cx.name()},
        "spec": {"clusterIP": "None", "selector": {"database": cx.name()}, "ports": [{"port": 5432}]},
    }))?)
}

/// The volume is a separate child, because a volume from a template of the StatefulSet could never grow.
fn volume(cx: &Context<'_>) -> Result<PersistentVolumeClaim> {
    Ok(from_value(json!({
        "metadata": {"name": format!("{}-data", cx.name())},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": cx.manifest().spec.storage}},
        },
    }))?)
}

fn pod(cx: &Context<'_>) -> Result<StatefulSet> {
    let name = cx.name();
    let password = json!({"secretKeyRef": {"name": name, "key": "password"}});
    Ok(from_value(json!({
        "metadata": {"name": name},
        "spec": {
            "replicas": 1,
            "serviceName": name,
            "selector": {"matchLabels": {"database": name}},
            "template": {
                "metadata": {"labels": {"database": name}},
                "spec": {
                    "containers": [{
                        "name": "postgres",
                        "image": image(&cx.manifest()),
                        "env": [
                            {"name": "POSTGRES_PASSWORD", "valueFrom": password},
                            {"name": "PGDATA", "value": "/volume/data"},
                        ],
                        "readinessProbe": {"exec": {"command": ["pg_isready", "--username=postgres"]}},
                        "volumeMounts": [{"name": "volume", "mountPath": "/volume"}],
                    }],
                    "volumes": [{
                        "name": "volume",
                        "persistentVolumeClaim": {"claimName": format!("{name}-data")},
                    }],
                },
            },
        },
    }))?)
}
