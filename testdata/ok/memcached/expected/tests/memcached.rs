//! One object on its way, in memory and on a paused clock: no cluster, no waiting.

use std::sync::Arc;

use krator_runtime::Local;

use memcached_operator::memcached::{MemcachedMachine, MemcachedState};

/// As in `deploy/sample.yaml`, with its defaults.
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

fn object() -> Local<MemcachedMachine> {
    let manifest = serde_json::from_str(OBJECT).expect("the object is one");
    Local::new(manifest, MemcachedState::default(), Arc::default())
}

#[tokio::test(start_paused = true)]
async fn reaches_available() {
    let mut object = object();
    let rest = MemcachedMachine::Available;
    object.run_until(|state| state == rest).await;
    assert_eq!(object.state(), Some(rest));
}
