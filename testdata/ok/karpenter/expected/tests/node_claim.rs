//! One object on its way, in memory and on a paused clock: no cluster, no waiting.

use std::sync::Arc;

use krator_runtime::Local;

use karpenter::node_claim::{NodeClaimMachine, NodeClaimState};

/// As in `deploy/sample.yaml`, with its defaults.
const OBJECT: &str = r#"{
  "apiVersion": "karpenter.sh/v1",
  "kind": "NodeClaim",
  "metadata": {
    "name": "nodeclaim-sample"
  },
  "spec": {
    "nodeClassRef": {
      "group": "a",
      "kind": "example",
      "name": "example"
    },
    "requirements": [],
    "expireAfter": "720h"
  }
}"#;

fn object() -> Local<NodeClaimMachine> {
    let manifest = serde_json::from_str(OBJECT).expect("the object is one");
    Local::new(manifest, NodeClaimState::default(), Arc::default())
}

#[tokio::test(start_paused = true)]
async fn reaches_initialized() {
    let mut object = object();
    let rest = NodeClaimMachine::Initialized;
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
