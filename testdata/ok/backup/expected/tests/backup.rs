//! One object on its way, in memory and on a paused clock: no cluster, no waiting.

use std::sync::Arc;

use krator_runtime::Local;

use backup_operator::backup::{BackupMachine, BackupState};

/// As in `deploy/sample.yaml`, with its defaults.
const OBJECT: &str = r#"{
  "apiVersion": "velero.io/v1",
  "kind": "Backup",
  "metadata": {
    "name": "backup-sample",
    "namespace": "default"
  },
  "spec": {
    "storageLocation": "example",
    "csiSnapshotTimeout": "10m",
    "itemOperationTimeout": "4h",
    "ttl": "720h"
  }
}"#;

fn object() -> Local<BackupMachine> {
    let manifest = serde_json::from_str(OBJECT).expect("the object is one");
    Local::new(manifest, BackupState::default(), Arc::default())
}

#[tokio::test(start_paused = true)]
async fn reaches_completed() {
    let mut object = object();
    let rest = BackupMachine::Completed;
    object.run_until(|state| state == rest).await;
    assert_eq!(object.state(), Some(rest));
}

#[tokio::test(start_paused = true)]
async fn goes_when_it_is_deleted() {
    let mut object = object();
    object.run_until_idle().await;
    object.handle().delete();
    object.run().await;
    assert!(object.is_over());
}
