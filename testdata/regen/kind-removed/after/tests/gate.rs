//! Runs the handlers on one object in memory. The clock is paused, so waiting takes no time.

use std::sync::Arc;

use krator_runtime::Local;
use krator_runtime::testing::crashes;

use doors::gate::{GateMachine, GateMemory};

/// The object of `deploy/sample.yaml`, with the defaults that the API server fills in.
const OBJECT: &str = r#"{
  "apiVersion": "example.com/v1",
  "kind": "Gate",
  "metadata": {
    "name": "gate-sample",
    "namespace": "default"
  },
  "spec": {}
}"#;

fn manifest() -> doors::gate::Gate {
    serde_json::from_str(OBJECT).expect("the sample is a valid object")
}

fn object() -> Local<GateMachine> {
    let memory = GateMemory::default();
    Local::new(manifest(), memory, Arc::default())
}

#[tokio::test(start_paused = true)]
async fn reaches_shut() {
    let mut object = object();
    let expected = GateMachine::Shut;
    object.run_until(|state| state == expected).await;
    assert_eq!(object.state(), Some(expected));
}

/// The process ends before and after each request and each write, and each of them fails once.
#[tokio::test(start_paused = true)]
async fn crashes_on_the_way_to_shut_change_nothing() {
    crashes::<GateMachine>(async |surroundings| {
        let process = || (GateMemory::default(), Arc::default());
        let mut object = surroundings.local(manifest(), process);
        let expected = GateMachine::Shut;
        object.run_until(|state| state == expected).await;
        object
    })
    .await;
}
