//! Runs the handlers on one object in memory. The clock is paused, so waiting takes no time.

use std::sync::Arc;

use krator_runtime::Local;

use postgres_operator::postgresql::{PostgresqlMachine, PostgresqlState};

/// The object of `deploy/sample.yaml`, with the defaults that the API server fills in.
const OBJECT: &str = r#"{
  "apiVersion": "acid.zalan.do/v1",
  "kind": "Postgresql",
  "metadata": {
    "name": "postgresql-sample",
    "namespace": "default"
  },
  "spec": {
    "numberOfInstances": 1,
    "postgresql": {
      "version": "13"
    },
    "teamId": "example",
    "volume": {
      "size": "1Gi"
    },
    "enableLogicalBackup": false
  }
}"#;

fn object() -> Local<PostgresqlMachine> {
    let manifest = serde_json::from_str(OBJECT).expect("the sample is a valid object");
    Local::new(manifest, PostgresqlState::default(), Arc::default())
}

#[tokio::test(start_paused = true)]
async fn reaches_running() {
    let mut object = object();
    let expected = PostgresqlMachine::Running;
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
