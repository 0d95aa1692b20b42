//! Runs the handlers on one object in memory. The clock is paused, so waiting takes no time.
//!
//! No controller runs beside them. What one would do, the test does with the handle of the object:
//!
//! ```ignore
//! let world = object.handle();
//! object.run_until_idle().await; // the handlers have done what they can
//! world.make_ready::<NodeClaim>(); // or `world.fail::<NodeClaim>()`
//! world.put(&ec2_node_class)?; // it triggers this object if `watches` in krator.yaml selects it
//! world.put(&pod)?; // it triggers this object if `watches` in krator.yaml selects it
//! object.run_until_idle().await; // the handlers have reacted
//! ```

use std::sync::Arc;

use krator_runtime::Local;
use krator_runtime::testing::crashes;

use karpenter::node_pool::{NodePoolMachine, NodePoolMemory};

/// The object of `deploy/sample.yaml`, with the defaults that the API server fills in.
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

fn manifest() -> karpenter::node_pool::NodePool {
    serde_json::from_str(OBJECT).expect("the sample is a valid object")
}

fn object() -> Local<NodePoolMachine> {
    let memory = NodePoolMemory::default();
    Local::new(manifest(), memory, Arc::default())
}

#[tokio::test(start_paused = true)]
#[ignore = "handlers on its way are not written: remove this line when they are"]
async fn reaches_ready() {
    let mut object = object();
    let expected = NodePoolMachine::Ready;
    object.run_until(|state| state == expected).await;
    assert_eq!(object.state(), Some(expected));
}

/// The process ends before and after each request and each write, and each of them fails once.
#[tokio::test(start_paused = true)]
#[ignore = "handlers on its way are not written: remove this line when they are"]
async fn crashes_on_the_way_to_ready_change_nothing() {
    crashes::<NodePoolMachine>(async |surroundings| {
        let process = || (NodePoolMemory::default(), Arc::default());
        let mut object = surroundings.local(manifest(), process);
        let expected = NodePoolMachine::Ready;
        object.run_until(|state| state == expected).await;
        object
    })
    .await;
}
