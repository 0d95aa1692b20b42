//! Runs the handlers on one object in memory. The clock is paused, so waiting takes no time.

use std::sync::Arc;

use krator_runtime::Local;
use krator_runtime::testing::crashes;

use moose_tracker::moose::{MooseMachine, MooseMemory};

/// The object of `deploy/sample.yaml`, with the defaults that the API server fills in.
const OBJECT: &str = r#"{
  "apiVersion": "animals.com/v1",
  "kind": "Moose",
  "metadata": {
    "name": "moose-sample",
    "namespace": "default"
  },
  "spec": {
    "antlers": false,
    "height": 1.0,
    "weight": 1.0
  }
}"#;

fn manifest() -> moose_tracker::moose::Moose {
    serde_json::from_str(OBJECT).expect("the sample is a valid object")
}

fn object() -> Local<MooseMachine> {
    let memory = MooseMemory::default();
    Local::new(manifest(), memory, Arc::default())
}

#[tokio::test(start_paused = true)]
#[ignore = "handlers on its way are not written: remove this line when they are"]
async fn reaches_sleep() {
    let mut object = object();
    let expected = MooseMachine::Sleep;
    object.run_until(|state| state == expected).await;
    assert_eq!(object.state(), Some(expected));
}

/// The process ends before and after each request and each write, and each of them fails once.
#[tokio::test(start_paused = true)]
#[ignore = "handlers on its way are not written: remove this line when they are"]
async fn crashes_on_the_way_to_sleep_change_nothing() {
    crashes::<MooseMachine>(async |surroundings| {
        let process = || (MooseMemory::default(), Arc::default());
        let mut object = surroundings.local(manifest(), process);
        let expected = MooseMachine::Sleep;
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
    crashes::<MooseMachine>(async |surroundings| {
        let process = || (MooseMemory::default(), Arc::default());
        let mut object = surroundings.local(manifest(), process);
        object.run_until_idle().await;
        object.handle().delete();
        object.run().await;
        object
    })
    .await;
}
