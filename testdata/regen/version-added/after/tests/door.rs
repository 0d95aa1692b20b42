//! Runs the handlers on one object in memory. The clock is paused, so waiting takes no time.

use std::sync::Arc;

use krator_runtime::Local;

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
    "width": "example"
  }
}"#;

fn object() -> Local<DoorMachine> {
    let manifest = serde_json::from_str(OBJECT).expect("the sample is a valid object");
    let memory = DoorMemory::default();
    Local::new(manifest, memory, Arc::default())
}

#[tokio::test(start_paused = true)]
#[ignore = "handlers on its way are not written: remove this line when they are"]
async fn reaches_closed() {
    let mut object = object();
    let expected = DoorMachine::Closed;
    object.run_until(|state| state == expected).await;
    assert_eq!(object.state(), Some(expected));
}
