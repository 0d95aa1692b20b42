//! Every form of `watches` in a description, on a real API server. The message of an object lists the objects that its
//! handler found in the last run.

mod shared;

use crate::cluster;
use crate::operator::{Crate, OperatorProcess, ShownOnPanic, install};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const DESCRIPTION: &str = r#"
krator: 1
operator: lookout
resource: {group: watch.example.com, version: v1, kind: Lookout}
spec:
  config: optional string
  services: optional list of string
  account: optional string
  place: optional string
  every: optional duration
status:
  runs: int32
watches:
  - {kind: core/v1.ConfigMap, by: .spec.config}
  - {kind: core/v1.Service, by: ".spec.services[*]"}
  - {kind: core/v1.ServiceAccount, by: .spec.account, namespace: .spec.place}
  - {kind: core/v1.LimitRange, by: .spec.config, namespace: default}
  - {kind: coordination.k8s.io/v1.Lease, label: lookout}
  - {kind: core/v1.PersistentVolume, all: true}
machine: {initial: Looking}
states:
  Looking:
    kind: ready
    wait: {watch: [watched, self], poll: .spec.every}
"#;

const LOOKING: &str = r#"use super::Looking;
use crate::lookout::prelude::*;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, LimitRange, PersistentVolume, Service, ServiceAccount};
use kube::ResourceExt as _;

fn names<K: kube::Resource>(found: Vec<std::sync::Arc<K>>) -> Vec<String> {
    found.iter().map(|one| one.name_any()).collect()
}

impl State for Looking {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let object = cx.manifest();
        let mut seen = vec![object.labels().get("mark").cloned().unwrap_or_default()];
        seen.extend(names(cx.all_watched::<ConfigMap>()));
        seen.extend(names(cx.all_watched::<Service>()));
        seen.extend(names(cx.all_watched::<ServiceAccount>()));
        seen.extend(names(cx.all_watched::<LimitRange>()));
        seen.extend(names(cx.all_watched::<Lease>()));
        seen.extend(names(cx.all_watched::<PersistentVolume>()));
        seen.sort();
        cx.message(format!("found{}", seen.join(" ")));
        if object.spec.every.is_some() {
            cx.status_mut().runs = Some(cx.status().runs.unwrap_or_default() + 1);
        }
        Ok(Transition::stay())
    }
}
"#;

fn lookout(name: &str, spec: &Value) -> String {
    json!({"apiVersion": "watch.example.com/v1", "kind": "Lookout", "metadata": {"name": name}, "spec": spec})
        .to_string()
}

/// A minimal valid object that the description watches.
fn watched(api_version: &str, kind: &str, name: &str, rest: &Value) -> String {
    let mut object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}});
    for (key, value) in rest.as_object().into_iter().flatten() {
        object[key] = value.clone();
    }
    object.to_string()
}

#[test]
fn every_form_of_watch_wakes_the_objects_that_it_concerns() {
    let Some(cluster) = &cluster::own(&[]) else { return };
    let krate = Crate::generate(DESCRIPTION, |dir: &Path| {
        fs::write(dir.join("src/lookout/states/looking.rs"), LOOKING).expect("a generated folder");
    });
    install(&krate, cluster);
    let binary = cluster.dir().join("lookout");
    krate.build(&binary);
    let (namespace, elsewhere) = (
        cluster.namespace("lookout"),
        cluster.namespace("lookout-elsewhere"),
    );
    let (here, there) = (
        ["--namespace", namespace.as_str()],
        ["--namespace", elsewhere.as_str()],
    );
    let finds = |name: &str, what: &str| {
        let what = format!("--for=jsonpath={{.status.message}}=found{what}");
        let wait = ["wait", &what, "--timeout=60s", &format!("lookout/{name}")];
        cluster.kubectl(&[&wait[..], &here].concat());
    };
    let spec = json!({"config": "a", "services": ["b", "c"], "account": "d", "place": elsewhere});
    cluster.apply(&lookout("one", &spec), &here);
    cluster.apply(&lookout("two", &json!({})), &here);
    let log = cluster.dir().join("lookout.log");
    let operator = OperatorProcess::start(cluster, &binary, &[], &log);
    let _log = ShownOnPanic(&log);
    finds("one", "");
    finds("two", "");

    cluster.apply(&watched("v1", "ConfigMap", "a", &json!({})), &here);
    finds("one", " a");
    let port = json!({"spec": {"ports": [{"port": 80}]}});
    cluster.apply(&watched("v1", "Service", "c", &port), &here);
    finds("one", " a c");
    cluster.apply(&watched("v1", "Service", "b", &port), &here);
    finds("one", " a b c");
    cluster.apply(&watched("v1", "ServiceAccount", "d", &json!({})), &there);
    finds("one", " a b c d");
    let limits = json!({"spec": {"limits": [{"type": "Pod"}]}});
    cluster.apply(
        &watched("v1", "LimitRange", "a", &limits),
        &["--namespace", "default"],
    );
    finds("one", " a a b c d");
    let lease = json!({"metadata": {"name": "e", "labels": {"lookout": "one"}}});
    cluster.apply(&watched("coordination.k8s.io/v1", "Lease", "e", &lease), &here);
    finds("one", " a a b c d e");
    // None of these concerns the other object. A watch of all objects of a kind concerns both.
    finds("two", "");
    let volume = json!({"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/f"}}});
    cluster.apply(&watched("v1", "PersistentVolume", "f", &volume), &[]);
    finds("one", " a a b c d e f");
    finds("two", " f");

    // The deletion of a watched object requeues an object, and so does a change of its own spec or labels, which may
    // name other objects.
    cluster.kubectl(&[&["delete", "service", "b"][..], &here].concat());
    finds("one", " a a c d e f");
    cluster.apply(&lookout("two", &json!({"config": "a"})), &here);
    finds("two", " a a f");
    cluster.kubectl(&[&["label", "lookout/two", "mark=0"][..], &here].concat());
    finds("two", "0 a a f");

    // The period of a poll is read from a field.
    cluster.apply(&lookout("three", &json!({"every": "1s"})), &here);
    let polled = [
        "wait",
        "--for=jsonpath={.status.runs}=3",
        "--timeout=60s",
        "lookout/three",
    ];
    cluster.kubectl(&[&polled[..], &here].concat());
    assert!(operator.terminate().success());
}
