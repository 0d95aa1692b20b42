//! An operator takes over objects whose status was written by another operator, with types other than its own.

use crate::cluster;
use crate::operator::{Crate, OperatorProcess, ShownOnPanic, install};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const DESCRIPTION: &str = "
krator: 1
operator: disks
resource: {group: foreign.example.com, version: v1, kind: Disk}
spec: {size: optional string}
status: {frontend: optional string}
machine: {initial: Pending, deletion: Freed}
states:
  Pending: {next: [Live], wait: {poll: 10s}}
  Live: {kind: ready}
  Freed: {kind: final}
";

const PENDING: &str = "use super::{Live, Pending};
use crate::disk::prelude::*;

impl State for Pending {
    async fn next(self, _: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::to(Live))
    }
}
";

/// The definition of the former operator, which accepted any status.
fn former() -> Value {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "disks.foreign.example.com"},
        "spec": {
            "group": "foreign.example.com", "scope": "Namespaced",
            "names": {"kind": "Disk", "listKind": "DiskList", "plural": "disks", "singular": "disk"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": open, "status": open}}},
            }],
        },
    })
}

#[test]
fn a_status_of_other_types_is_written_over_once() {
    let Some(cluster) = &cluster::own(&[]) else { return };
    let namespace = cluster.namespace("foreign-status");
    let here = ["--namespace", namespace.as_str()];
    cluster.apply(&former().to_string(), &[]);
    cluster.wait_established(&["crd", "disks.foreign.example.com"]);
    let statuses = [
        (
            "message",
            json!({"state": "Live", "message": ["a", "b"], "frontend": "x"}),
        ),
        (
            "numbers",
            json!({"state": 5, "observedGeneration": "7", "attempts": "abc"}),
        ),
        ("own", json!({"frontend": ["a"]})),
        ("conditions", json!({"conditions": "none"})),
    ];
    for (name, status) in &statuses {
        let object = json!({
            "apiVersion": "foreign.example.com/v1", "kind": "Disk",
            "metadata": {"name": name}, "spec": {"size": "1"},
        });
        cluster.apply(&object.to_string(), &here);
        let patch = json!({"status": status}).to_string();
        let patch = [
            "patch",
            "disk",
            name,
            "--subresource=status",
            "--type=merge",
            "-p",
            &patch,
        ];
        cluster.kubectl(&[&patch[..], &here].concat());
    }
    let krate = Crate::generate(DESCRIPTION, |dir: &Path| {
        fs::write(dir.join("src/disk/states/pending.rs"), PENDING).expect("a generated folder");
    });
    install(&krate, cluster);
    let binary = cluster.dir().join("disks");
    krate.build(&binary);
    let log = cluster.dir().join("disks.log");
    let operator = OperatorProcess::start(cluster, &binary, &[], &log);
    let _log = ShownOnPanic(&log);
    for (name, _) in &statuses {
        let wait = [
            "wait",
            "--for=condition=Ready",
            "--timeout=60s",
            &format!("disk/{name}"),
        ];
        cluster.kubectl(&[&wait[..], &here].concat());
    }
    // Valid fields are kept, and the removed ones are reported once.
    let frontend = cluster.kubectl(
        &[
            &["get", "disk", "message", "-o", "jsonpath={.status.frontend}"][..],
            &here,
        ]
        .concat(),
    );
    assert_eq!(frontend, "x");
    let events = cluster.kubectl(
        &[
            &[
                "get",
                "events.events.k8s.io",
                "--field-selector=reason=StatusWrittenOver",
                "-o",
                "json",
            ][..],
            &here,
        ]
        .concat(),
    );
    let events: Value = serde_json::from_str(&events).expect("JSON");
    let mut notes: Vec<&str> = events["items"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|event| event["note"].as_str())
        .collect();
    notes.sort_unstable();
    assert_eq!(notes.len(), statuses.len(), "{notes:#?}");
    assert!(
        notes.iter().any(|note| note.ends_with(": .status.message")),
        "{notes:#?}"
    );
    cluster.kubectl(&[&["delete", "disks", "--all", "--timeout=60s"][..], &here].concat());
    assert!(operator.terminate().success());
}
