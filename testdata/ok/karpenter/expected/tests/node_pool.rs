//! One object on its way, in memory and on a paused clock: no cluster, no waiting.

use std::sync::Arc;

use krator_runtime::Local;

use karpenter::node_pool::{NodePoolMachine, NodePoolState};

/// As in `deploy/sample.yaml`, with its defaults.
const OBJECT: &str = r#"{
  "apiVersion": "karpenter.sh/v1",
  "kind": "NodePool",
  "metadata": {
    "name": "nodepool-sample"
  },
  "spec": {
    "template": {
      "spec": {
        "nodeClassRef": {
          "group": "a",
          "kind": "example",
          "name": "example"
        },
        "requirements": [],
        "expireAfter": "720h"
      }
    }
  }
}"#;

fn object() -> Local<NodePoolMachine> {
    let manifest = serde_json::from_str(OBJECT).expect("the object is one");
    Local::new(manifest, NodePoolState::default(), Arc::default())
}

#[tokio::test(start_paused = true)]
async fn reaches_ready() {
    let mut object = object();
    let rest = NodePoolMachine::Ready;
    object.run_until(|state| state == rest).await;
    assert_eq!(object.state(), Some(rest));
}
