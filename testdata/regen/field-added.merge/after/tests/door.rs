//! Runs the handlers on one object in memory. The clock is paused, so waiting takes no time.

use std::sync::Arc;

use krator_runtime::Local;
use krator_runtime::testing::crashes;

use doors::door::{DoorMachine, DoorMemory};

/// The object of `deploy/sample.yaml`, with the defaults that the API server fills in.
const OBJECT: &str = r#"{
  "apiVersion": "example.com/v1",
  "kind": "Door",
  "metadata": {
    "name": "door-sample",
    "namespace": "default"
  },
  "spec": {
    "width": 1
  }
}"#;

fn manifest() -> doors::door::Door {
    serde_json::from_str(OBJECT).expect("the sample is a valid object")
}

fn object() -> Local<DoorMachine> {
    let memory = DoorMemory::default();
    Local::new(manifest(), memory, Arc::default())
}

#[tokio::test(start_paused = true)]
#[ignore = "handlers on its way are not written: remove this line when they are"]
async fn reaches_open() {
    let mut object = object();
    let expected = DoorMachine::Open;
    object.run_until(|state| state == expected).await;
    assert_eq!(object.state(), Some(expected));
}

/// The process ends before and after each request and each write, and each of them fails once.
#[tokio::test(start_paused = true)]
#[ignore = "handlers on its way are not written: remove this line when they are"]
async fn crashes_on_the_way_to_open_change_nothing() {
    crashes::<DoorMachine>(async |surroundings| {
        let process = || (DoorMemory::default(), Arc::default());
        let mut object = surroundings.local(manifest(), process);
        let expected = DoorMachine::Open;
        object.run_until(|state| state == expected).await;
        object
    })
    .await;
}
