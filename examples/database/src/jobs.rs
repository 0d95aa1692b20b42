//! The Jobs that write and read dumps.

use k8s_openapi::api::batch::v1::Job;
use krator_runtime::Result;
use serde_json::{from_value, json};

use crate::children::image;
use crate::database::Database;

/// The name of the claim for the volume with the dump of a backup.
pub fn dump(backup: &str) -> String {
    format!("{backup}-dump")
}

/// A Job that runs a command of PostgreSQL against a database, with the volume of a backup at `/backup`.
pub fn job(name: &str, database: &Database, backup: &str, command: &[&str]) -> Result<Job> {
    let host = &database.metadata.name;
    let password = json!({"secretKeyRef": {"name": host, "key": "password"}});
    Ok(from_value(json!({
        "metadata": {"name": name},
        "spec": {
            // A Job that hangs has to fail.
            "activeDeadlineSeconds": 6 * 60 * 60,
            "backoffLimit": 3,
            "template": {"spec": {
                "restartPolicy": "Never",
                "containers": [{
                    "name": "postgres",
                    "image": image(database),
                    "command": command,
                    "env": [
                        {"name": "PGHOST", "value": host},
                        {"name": "PGUSER", "value": "postgres"},
                        {"name": "PGPASSWORD", "valueFrom": password},
                    ],
                    "volumeMounts": [{"name": "backup", "mountPath": "/backup"}],
                }],
                "volumes": [{"name": "backup", "persistentVolumeClaim": {"claimName": dump(backup)}}],
            }},
        },
    }))?)
}
