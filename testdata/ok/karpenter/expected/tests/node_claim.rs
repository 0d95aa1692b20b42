//! Runs the handlers on one object in memory. The clock is paused, so waiting takes no time.
//!
//! No controller runs beside them. What one would do, the test does with the handle of the object:
//!
//! ```ignore
//! let world = object.handle();
//! object.run_until_idle().await; // the handlers have done what they can
//! world.put(&ec2_node_class)?; // it triggers this object if `watches` in krator.yaml selects it
//! world.put(&node)?; // it triggers this object if `watches` in krator.yaml selects it
//! world.put(&node_pool)?; // it triggers this object if `watches` in krator.yaml selects it
//! object.run_until_idle().await; // the handlers have reacted
//! ```

use std::sync::Arc;

use krator_runtime::Local;
use krator_runtime::testing::crashes;

use karpenter::node_claim::{NodeClaimMachine, NodeClaimMemory};

/// The object of `deploy/sample.yaml`, with the defaults that the API server fills in.
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

fn manifest() -> karpenter::node_claim::NodeClaim {
    serde_json::from_str(OBJECT).expect("the sample is a valid object")
}

fn object() -> Local<NodeClaimMachine> {
    let memory = NodeClaimMemory::default();
    Local::new(manifest(), memory, Arc::default())
}

#[tokio::test(start_paused = true)]
#[ignore = "handlers on its way are not written: remove this line when they are"]
async fn reaches_initialized() {
    let mut object = object();
    let expected = NodeClaimMachine::Initialized;
    object.run_until(|state| state == expected).await;
    assert_eq!(object.state(), Some(expected));
}

/// The process ends before and after each request and each write, and each of them fails once.
#[tokio::test(start_paused = true)]
#[ignore = "handlers on its way are not written: remove this line when they are"]
async fn crashes_on_the_way_to_initialized_change_nothing() {
    crashes::<NodeClaimMachine>(async |surroundings| {
        let process = || (NodeClaimMemory::default(), Arc::default());
        let mut object = surroundings.local(manifest(), process);
        let expected = NodeClaimMachine::Initialized;
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
    crashes::<NodeClaimMachine>(async |surroundings| {
        let process = || (NodeClaimMemory::default(), Arc::default());
        let mut object = surroundings.local(manifest(), process);
        object.run_until_idle().await;
        object.handle().delete();
        object.run().await;
        object
    })
    .await;
}
