//! Runs the handlers on one object in memory. The clock is paused, so waiting takes no time.
//!
//! No controller runs beside them. What one would do, the test does with the handle of the object:
//!
//! ```ignore
//! let world = object.handle();
//! object.run_until_idle().await; // the handlers have done what they can
//! world.make_ready::<Deployment>(); // or `world.fail::<Deployment>()`
//! object.run_until_idle().await; // the handlers have reacted
//! ```

use std::sync::Arc;

use krator_runtime::Local;
use krator_runtime::testing::crashes;

use memcached_operator::memcached::{MemcachedMachine, MemcachedMemory};

/// The object of `deploy/sample.yaml`, with the defaults that the API server fills in.
const OBJECT: &str = r#"{
  "apiVersion": "cache.example.com/v1alpha1",
  "kind": "Memcached",
  "metadata": {
    "name": "memcached-sample",
    "namespace": "default"
  },
  "spec": {
    "size": 1
  }
}"#;

fn manifest() -> memcached_operator::memcached::Memcached {
    serde_json::from_str(OBJECT).expect("the sample is a valid object")
}

fn object() -> Local<MemcachedMachine> {
    let memory = MemcachedMemory::default();
    Local::new(manifest(), memory, Arc::default())
}

#[tokio::test(start_paused = true)]
#[ignore = "handlers on its way are not written: remove this line when they are"]
async fn reaches_available() {
    let mut object = object();
    let expected = MemcachedMachine::Available;
    object.run_until(|state| state == expected).await;
    assert_eq!(object.state(), Some(expected));
}

/// The process ends before and after each request and each write, and each of them fails once.
#[tokio::test(start_paused = true)]
#[ignore = "handlers on its way are not written: remove this line when they are"]
async fn crashes_on_the_way_to_available_change_nothing() {
    crashes::<MemcachedMachine>(async |surroundings| {
        let process = || (MemcachedMemory::default(), Arc::default());
        let mut object = surroundings.local(manifest(), process);
        let expected = MemcachedMachine::Available;
        object.run_until(|state| state == expected).await;
        object
    })
    .await;
}
