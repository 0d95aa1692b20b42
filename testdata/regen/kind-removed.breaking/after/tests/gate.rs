//! Runs the handlers on one object in memory. The clock is paused, so waiting takes no time.

use std::sync::Arc;

use krator_runtime::Local;

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

fn object() -> Local<GateMachine> {
    let manifest = serde_json::from_str(OBJECT).expect("the sample is a valid object");
    let memory = GateMemory::default();
    Local::new(manifest, memory, Arc::default())
}

#[tokio::test(start_paused = true)]
async fn reaches_shut() {
    let mut object = object();
    let expected = GateMachine::Shut;
    object.run_until(|state| state == expected).await;
    assert_eq!(object.state(), Some(expected));
}
