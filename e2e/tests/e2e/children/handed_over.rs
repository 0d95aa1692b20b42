//! Children that are handed over by other clients: fields of their former managers are removed if the handler leaves
//! them out, and fields of other managers stay. Also children that are deleted with the policy Orphan and replaced,
//! because some of their fields are immutable.

use super::get;
use crate::cluster::{self, Cluster, until};
use crate::joint::Joint;
use crate::operator::{Crate, OperatorProcess, ShownOnPanic, install};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const DESCRIPTION: &str = "\
krator: 1
operator: sites
resource: {group: site.example.com, version: v1, kind: Site}
spec:
  service: optional string
machine: {initial: Serving}
states:
  Serving: {kind: ready, wait: {}, retry: {initial: 200ms, max: 1s}}
owns: [apps/v1.Deployment, apps/v1.StatefulSet]
";

/// The handler. The service name of a StatefulSet is immutable, so another StatefulSet replaces it.
const SERVING: &str = r#"use super::Serving;
use crate::site::prelude::*;
use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use krator_runtime::PropagationPolicy;
use serde_json::{from_value, json};

impl State for Serving {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let name = cx.name();
        let template = |name: &str| json!({
            "metadata": {"labels": {"app": name}},
            "spec": {"containers": [{"name": "web", "image": "web:2", "env": [{"name": "NEW", "value": "1"}]}]},
        });
        let web: Deployment = from_value(json!({
            "metadata": {"name": name},
            "spec": {"selector": {"matchLabels": {"app": name}}, "template": template(name)},
        }))?;
        cx.apply(&web).await?;
        let Some(service) = cx.manifest().spec.service.clone() else {
            return Ok(Transition::stay());
        };
        let set: StatefulSet = from_value(json!({
            "metadata": {"name": name},
            "spec": {"serviceName": service, "selector": {"matchLabels": {"app": name}}, "template": template(name)},
        }))?;
        let serves = |set: &StatefulSet| set.spec.service_name.clone();
        let former = cx.owned::<StatefulSet>().await?;
        match former.iter().find(|former| serves(former) != serves(&set)) {
            Some(former) if former.metadata.deletion_timestamp.is_some() => {}
            Some(former) => cx.delete_with(&**former, PropagationPolicy::Orphan).await?,
            None => drop(cx.apply(&set).await?),
        }
        Ok(Transition::stay())
    }
}
"#;

fn edit(dir: &Path) {
    fs::write(dir.join("src/site/states/serving.rs"), SERVING).expect("a generated folder");
}

/// An embedded server and a real one, which have to behave alike, and the operator.
fn installed() -> Arc<(Vec<Cluster>, PathBuf)> {
    static INSTALLED: Joint<(Vec<Cluster>, PathBuf)> = Joint::new();
    let install = || {
        let mut clusters: Vec<Cluster> = cluster::embedded()
            .into_iter()
            .chain(Cluster::for_controllers())
            .collect();
        let binary = clusters.first()?.dir().join("sites");
        let krate = Crate::generate(DESCRIPTION, edit);
        for cluster in &mut clusters {
            install(&krate, cluster);
            cluster.start_controllers(&["garbage-collector-controller"]);
        }
        krate.build(&binary);
        Some((clusters, binary))
    };
    INSTALLED.get(install).unwrap_or_default()
}

/// A former manager of a child.
struct Former {
    name: &'static str,
    /// The arguments of the `kubectl` that applies or creates the child.
    writes: &'static [&'static str],
    manager: &'static str,
    /// Whether the annotation of the child names the manager.
    is_named: bool,
}

const FORMER: [Former; 5] = [
    Former {
        name: "by-kubectl",
        writes: &["apply"],
        manager: "kubectl-client-side-apply",
        is_named: true,
    },
    Former {
        name: "by-helm",
        writes: &["apply", "--server-side", "--field-manager=helm"],
        manager: "helm",
        is_named: true,
    },
    Former {
        name: "by-an-operator",
        writes: &["create", "--field-manager=manager"],
        manager: "manager",
        is_named: true,
    },
    Former {
        name: "by-somebody",
        writes: &["create", "--field-manager=somebody"],
        manager: "somebody",
        is_named: false,
    },
    Former {
        name: "by-a-former-name",
        writes: &["apply", "--server-side", "--field-manager=former-sites-UID"],
        manager: "former-sites-UID",
        is_named: false,
    },
];

fn apply_site(cluster: &Cluster, namespace: &str, name: &str, spec: &Value) {
    let site = json!({
        "apiVersion": "site.example.com/v1", "kind": "Site", "metadata": {"name": name}, "spec": spec,
    });
    cluster.apply(&site.to_string(), &["--namespace", namespace]);
}

/// A child as its former manager writes it.
fn former_child(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "labels": {"old": "1"}, "annotations": {"former.example.com/hash": "1"}},
        "spec": {
            "replicas": 2, "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {
                    "nodeSelector": {"old": "1"},
                    "containers": [
                        {"name": "web", "image": "web:1", "env": [{"name": "OLD", "value": "1"}]},
                        {"name": "sidecar", "image": "sidecar:1"},
                    ],
                },
            },
        },
    })
}

/// The fields of the former manager that a child still has.
fn left(child: &Value) -> Vec<&'static str> {
    let text = child.to_string();
    let all = [
        "\"old\"",
        "OLD",
        "sidecar",
        "nodeSelector",
        "former.example.com/hash",
        "last-applied",
    ];
    all.into_iter().filter(|field| text.contains(field)).collect()
}

#[test]
fn fields_of_former_managers_go_and_those_of_others_stay() {
    let installed = installed();
    let (clusters, binary) = &*installed;
    for cluster in clusters {
        take_over(cluster, binary);
    }
}

fn take_over(cluster: &Cluster, binary: &Path) {
    let namespace = cluster.namespace("handed-over");
    let here = ["--namespace", namespace.as_str()];
    let kubectl = |args: &[&str]| cluster.kubectl(&[args, &here].concat());
    let deployment = |name: &str| get(cluster, &namespace, &format!("deploy/{name}"));
    // The last child has the state after a kill between the two writes of the operator: it is taken over, but not
    // applied.
    let names: Vec<&str> = FORMER
        .iter()
        .map(|former| former.name)
        .chain(["interrupted"])
        .collect();
    for name in &names {
        apply_site(cluster, &namespace, name, &json!({}));
        let uid = get(cluster, &namespace, &format!("site/{name}"))["metadata"]["uid"].clone();
        let uid = uid.as_str().expect("a uid");
        let former = FORMER.iter().find(|former| former.name == *name);
        let writes = former.map_or(
            &["apply", "--server-side", "--field-manager=sites-UID"][..],
            |former| former.writes,
        );
        let writes: Vec<String> = writes.iter().map(|word| word.replace("UID", uid)).collect();
        let mut args: Vec<&str> = writes.iter().map(String::as_str).collect();
        args.extend(["-f", "-"]);
        args.extend(here);
        let written = cluster.try_kubectl("admin", &args, &former_child(name).to_string());
        written.expect("the former manager writes");
        // An autoscaler and another manager own fields of the child.
        kubectl(&["scale", &format!("deploy/{name}"), "--replicas=4"]);
        kubectl(&[
            "label",
            &format!("deploy/{name}"),
            "cost=low",
            "--field-manager=accounting",
        ]);
        let mut metadata = json!({"ownerReferences": [{
            "apiVersion": "site.example.com/v1", "kind": "Site", "name": name, "uid": uid, "controller": true,
        }]});
        if let Some(former) = former.filter(|former| former.is_named) {
            metadata["annotations"] = json!({"site.example.com/former-managers": former.manager});
        }
        let patch = json!({"metadata": metadata}).to_string();
        kubectl(&["patch", &format!("deploy/{name}"), "--type=merge", "-p", &patch]);
    }

    // The last failure of the object was written by the operator under its former name.
    let failed = json!({
        "apiVersion": "site.example.com/v1", "kind": "Site", "metadata": {"name": "by-a-former-name"},
        "status": {
            "state": "Serving", "entry": "00000000000000ff", "stateEnteredTime": "2026-01-01T00:00:00Z",
            "observedGeneration": 1, "attempts": 7,
        },
    });
    let as_former = [
        "--server-side",
        "--subresource=status",
        "--field-manager=former-sites",
        "-f",
        "-",
    ];
    let args = [&["apply"], &as_former[..], &here].concat();
    let written = cluster.try_kubectl("admin", &args, &failed.to_string());
    written.expect("the former operator writes");

    let log = cluster.dir().join("handed-over.log");
    let _log = ShownOnPanic(&log);
    let operator = OperatorProcess::start(cluster, binary, &here, &log);
    let is_clean = |name: &str| {
        let child = deployment(name);
        (left(&child).is_empty() && child.to_string().contains("NEW")).then_some(child)
    };
    for name in names.iter().filter(|name| **name != "by-somebody") {
        let child = until(
            &format!("nothing of a former manager is left in `{name}`"),
            || is_clean(name),
        );
        assert_eq!(child["spec"]["replicas"], 4, "{name}");
        assert_eq!(child["metadata"]["labels"]["cost"], "low", "{name}");
        assert_eq!(
            child["metadata"]["labels"]["app.kubernetes.io/managed-by"], "sites",
            "{name}"
        );
        // The child is created, scaled and applied once. Changes of the annotations of a Deployment count, too: the
        // annotation with the manager is added and removed.
        let is_named = FORMER
            .iter()
            .any(|former| former.name == *name && former.is_named);
        let generation = if is_named { 5 } else { 3 };
        assert_eq!(child["metadata"]["generation"], generation, "{name}");
        let args = [
            "get",
            &format!("deploy/{name}"),
            "-o",
            "json",
            "--show-managed-fields",
        ];
        let shown: Value = serde_json::from_str(&kubectl(&args)).expect("JSON");
        let managers = shown["metadata"]["managedFields"].as_array().expect("a list");
        let managers: Vec<&str> = managers
            .iter()
            .filter_map(|entry| entry["manager"].as_str())
            .collect();
        let is_former = |manager: &&&str| {
            let named = FORMER.iter().any(|former| former.manager == **manager);
            named || manager.starts_with("former-sites")
        };
        assert_eq!(managers.iter().find(is_former), None, "{name}: {managers:?}");
    }

    until("nothing of the former name is left in the status", || {
        let args = [
            "get",
            "site/by-a-former-name",
            "-o",
            "json",
            "--show-managed-fields",
        ];
        let site: Value = serde_json::from_str(&kubectl(&args)).expect("JSON");
        let is_clean = !site.to_string().contains("former-sites");
        (is_clean && site["status"]["attempts"].is_null()).then_some(())
    });

    // If no manager is named, an event lists the remaining fields of other managers, and explains how to take them
    // over.
    let note = until("an event says whose fields stay", || {
        let events = get(cluster, &namespace, "events");
        let mut events = events["items"].as_array()?.iter();
        let event = events.find(|event| event["reason"] == "FieldsOfOthers")?;
        assert_eq!(event["involvedObject"]["name"], "by-somebody");
        event["message"].as_str().map(str::to_owned)
    });
    for part in [
        "Deployment `by-somebody`",
        "site.example.com/former-managers=accounting,somebody",
        "`accounting`: .metadata.labels.cost",
        ".metadata.labels.old",
        r#"containers[{"name":"sidecar"}]"#,
    ] {
        assert!(note.contains(part), "{part}: {note}");
    }
    let child = until("the child is applied", || {
        let child = deployment("by-somebody");
        child.to_string().contains("NEW").then_some(child)
    });
    assert!(left(&child).contains(&"sidecar"), "{child}");
    kubectl(&[
        "annotate",
        "deploy/by-somebody",
        "site.example.com/former-managers=somebody",
    ]);
    let child = until("it is taken over", || is_clean("by-somebody"));
    assert_eq!(child["metadata"]["labels"]["cost"], "low");
    assert_eq!(
        child["metadata"]["annotations"]["site.example.com/former-managers"],
        Value::Null
    );
    assert!(operator.terminate().success());
}

#[test]
fn a_child_is_replaced_without_what_it_owns() {
    let installed = installed();
    let (clusters, binary) = &*installed;
    for cluster in clusters {
        replace(cluster, binary);
    }
}

fn replace(cluster: &Cluster, binary: &Path) {
    let namespace = cluster.namespace("replaced");
    let here = ["--namespace", namespace.as_str()];
    let log = cluster.dir().join("replaced.log");
    let _log = ShownOnPanic(&log);
    let operator = OperatorProcess::start(cluster, binary, &here, &log);
    let serve = |service: &str| {
        apply_site(cluster, &namespace, "one", &json!({"service": service}));
        until("the StatefulSet has the service", || {
            let args = [&["get", "statefulset/one", "-o", "json"][..], &here].concat();
            let set = cluster.try_kubectl("admin", &args, "").ok()?;
            let set: Value = serde_json::from_str(&set).ok()?;
            let is_there = set["metadata"]["deletionTimestamp"].is_null();
            (set["spec"]["serviceName"] == service && is_there).then_some(set)
        })
    };
    let uid = |object: &Value| object["metadata"]["uid"].as_str().expect("a uid").to_owned();
    let former = serve("a");
    // The test creates the pod in place of the controller of StatefulSets. A ConfigMap serves as the pod.
    let pod = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "one-0", "ownerReferences": [{
            "apiVersion": "apps/v1", "kind": "StatefulSet", "name": "one", "uid": uid(&former), "controller": true,
        }]},
    });
    cluster.apply(&pod.to_string(), &here);
    let pod = get(cluster, &namespace, "configmap/one-0");
    let present = serve("b");
    assert_ne!(uid(&former), uid(&present));
    let orphan = get(cluster, &namespace, "configmap/one-0");
    assert_eq!(uid(&orphan), uid(&pod), "what it owned is still there");
    assert_eq!(
        orphan["metadata"]["ownerReferences"],
        Value::Null,
        "and has no owner"
    );
    assert!(operator.terminate().success());
}
