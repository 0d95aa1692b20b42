//! Runs the handlers on one object in memory. The clock is paused, so waiting takes no time.
//!
//! No controller runs beside them. What one would do, the test does with the handle of the object:
//!
//! ```ignore
//! let world = object.handle();
//! object.run_until_idle().await; // the handlers have done what they can
//! world.make_ready::<CronJob>(); // or `world.fail::<CronJob>()`
//! world.make_ready::<PodDisruptionBudget>(); // or `world.fail::<PodDisruptionBudget>()`
//! world.make_ready::<Secret>(); // or `world.fail::<Secret>()`
//! world.make_ready::<Service>(); // or `world.fail::<Service>()`
//! world.make_ready::<StatefulSet>(); // or `world.fail::<StatefulSet>()`
//! world.put(&secret)?; // it wakes this object if `watches` in krator.yaml says so
//! object.run_until_idle().await; // the handlers have reacted
//! ```

use std::sync::Arc;

use krator_runtime::Local;

use postgres_operator::postgresql::{PostgresqlMachine, PostgresqlMemory};

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
    let memory = PostgresqlMemory::default();
    Local::new(manifest, memory, Arc::default())
}

#[tokio::test(start_paused = true)]
#[ignore = "handlers on its way are not written: remove this line when they are"]
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
