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
//! world.put(&secret)?; // it triggers this object if `watches` in krator.yaml selects it
//! object.run_until_idle().await; // the handlers have reacted
//! ```

use std::sync::Arc;

use krator_runtime::Local;
use krator_runtime::testing::crashes;

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

fn manifest() -> postgres_operator::postgresql::Postgresql {
    serde_json::from_str(OBJECT).expect("the sample is a valid object")
}

fn object() -> Local<PostgresqlMachine> {
    let memory = PostgresqlMemory::default();
    Local::new(manifest(), memory, Arc::default())
}

#[tokio::test(start_paused = true)]
#[ignore = "handlers on its way are not written: remove this line when they are"]
async fn reaches_running() {
    let mut object = object();
    let expected = PostgresqlMachine::Running;
    object.run_until(|state| state == expected).await;
    assert_eq!(object.state(), Some(expected));
}

/// The process ends before and after each request and each write, and each of them fails once.
#[tokio::test(start_paused = true)]
#[ignore = "handlers on its way are not written: remove this line when they are"]
async fn crashes_on_the_way_to_running_change_nothing() {
    crashes::<PostgresqlMachine>(async |surroundings| {
        let process = || (PostgresqlMemory::default(), Arc::default());
        let mut object = surroundings.local(manifest(), process);
        let expected = PostgresqlMachine::Running;
        object.run_until(|state| state == expected).await;
        object
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn is_gone_after_deletion() {
    let mut object = object();
    object.run_until_idle().await;
    object.handle().delete();
    object.run().await;
    assert!(object.is_over());
}

#[tokio::test(start_paused = true)]
#[ignore = "handlers on its way are not written: remove this line when they are"]
async fn crashes_during_the_deletion_change_nothing() {
    crashes::<PostgresqlMachine>(async |surroundings| {
        let process = || (PostgresqlMemory::default(), Arc::default());
        let mut object = surroundings.local(manifest(), process);
        object.run_until_idle().await;
        object.handle().delete();
        object.run().await;
        object
    })
    .await;
}
