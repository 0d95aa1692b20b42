//! Generated crates that are installed in a cluster, and running operators.

mod process;

pub use krator_tests::operator::*;
pub use process::{OperatorProcess, PROBES, ShownOnPanic};

use crate::cluster::Cluster;
use crate::yaml::documents;
use serde_json::json;
use std::fs;

/// Applies the files of `deploy/` of a crate to a cluster, and gives the user `operator` the rights of their ServiceAccount.
pub fn install(krate: &Crate, cluster: &Cluster) {
    let deploy = krate.dir().join("deploy");
    let deploy = deploy.to_str().expect("temporary folders have plain names");
    cluster.kubectl(&[
        "apply",
        "--server-side",
        "--validate=strict",
        "--kustomize",
        deploy,
    ]);
    let crd = format!("{deploy}/crd.yaml");
    cluster.wait_established(&["-f", &crd]);
    // Bound to the same roles as the ServiceAccount.
    let rbac = fs::read(format!("{deploy}/rbac.yaml")).expect("generated");
    let bindings = documents(&rbac)
        .into_iter()
        .filter(|object| object.get("roleRef").is_some());
    for mut binding in bindings {
        binding["metadata"]["name"] = "it-operator".into();
        binding["subjects"] =
            json!([{"kind": "User", "name": "operator", "apiGroup": "rbac.authorization.k8s.io"}]);
        cluster.apply(&binding.to_string(), &[]);
    }
}
