//! One object on its way, in memory and on a paused clock: no cluster, no waiting.

use std::sync::Arc;

use krator_runtime::Local;

use moose_tracker::moose::{MooseMachine, MooseState};

/// As in `deploy/sample.yaml`, with its defaults.
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

fn object() -> Local<MooseMachine> {
    let manifest = serde_json::from_str(OBJECT).expect("the object is one");
    Local::new(manifest, MooseState::default(), Arc::default())
}

#[tokio::test(start_paused = true)]
async fn reaches_sleep() {
    let mut object = object();
    let rest = MooseMachine::Sleep;
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
