//! Runs the handlers on one object in memory. The clock is paused, so waiting takes no time.

use std::sync::Arc;

use krator_runtime::Local;

use doors::torch::{TorchMachine, TorchState};

/// The object of `deploy/sample.yaml`, with the defaults that the API server fills in.
const OBJECT: &str = r#"{
  "apiVersion": "example.com/v1",
  "kind": "Lamp",
  "metadata": {
    "name": "lamp-sample",
    "namespace": "default"
  },
  "spec": {
    "light": false
  }
}"#;

fn object() -> Local<TorchMachine> {
    let manifest = serde_json::from_str(OBJECT).expect("the sample is a valid object");
    Local::new(manifest, TorchState::default(), Arc::default())
}

#[tokio::test(start_paused = true)]
async fn reaches_lit() {
    let mut object = object();
    let expected = TorchMachine::Lit;
    object.run_until(|state| state == expected).await;
    assert_eq!(object.state(), Some(expected));
}
