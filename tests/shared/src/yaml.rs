//! YAML in the style of this repository's manifests.

use serde::Deserialize as _;
use serde_json::Value;

/// The documents of a YAML file, by the rules of YAML 1.2.
pub fn documents(yaml: &[u8]) -> Vec<Value> {
    serde_yaml::Deserializer::from_slice(yaml)
        .map(|document| Value::deserialize(document).expect("our YAML has only what JSON has"))
        .collect()
}
