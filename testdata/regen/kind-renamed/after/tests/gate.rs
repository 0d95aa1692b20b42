//! One object on its way, in memory and on a paused clock: no cluster, no waiting.

use std::sync::Arc;

use krator_runtime::Local;

use gates::gate::{GateMachine, GateState};

/// As in `deploy/sample.yaml`, with its defaults.
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

fn object() -> Local<GateMachine> {
    let manifest = serde_json::from_str(OBJECT).expect("the object is one");
    Local::new(manifest, GateState::default(), Arc::default())
}

#[tokio::test(start_paused = true)]
async fn reaches_open() {
    let mut object = object();
    let rest = GateMachine::Open;
    object.run_until(|state| state == rest).await;
    assert_eq!(object.state(), Some(rest));
}
