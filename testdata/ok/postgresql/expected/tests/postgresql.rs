//! One object on its way, in memory and on a paused clock: no cluster, no waiting.

use std::sync::Arc;

use krator_runtime::Local;

use postgres_operator::postgresql::{PostgresqlMachine, PostgresqlState};

/// As in `deploy/sample.yaml`, with its defaults.
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
    let manifest = serde_json::from_str(OBJECT).expect("the object is one");
    Local::new(manifest, PostgresqlState::default(), Arc::default())
}

#[tokio::test(start_paused = true)]
async fn reaches_running() {
    let mut object = object();
    let rest = PostgresqlMachine::Running;
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
