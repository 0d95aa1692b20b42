//! Runs the handlers on one object in memory. The clock is paused, so waiting takes no time.

use std::sync::Arc;

use krator_runtime::Local;

use backup_operator::backup::{BackupMachine, BackupState};

/// The object of `deploy/sample.yaml`, with the defaults that the API server fills in.
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
    let manifest = serde_json::from_str(OBJECT).expect("the sample is a valid object");
    Local::new(manifest, BackupState::default(), Arc::default())
}

#[tokio::test(start_paused = true)]
async fn reaches_completed() {
    let mut object = object();
    let expected = BackupMachine::Completed;
    object.run_until(|state| state == expected).await;
    assert_eq!(object.state(), Some(expected));
}

#[tokio::test(start_paused = true)]
async fn is_gone_after_deletion() {
    let mut object = object();
    object.run_until_idle().await;
    object.handle().delete();
    object.run().await;
    assert!(object.is_over());
}
