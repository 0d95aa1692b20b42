//! Children of an object, on a real API server: they are applied with the generated rights, corrected after changes by
//! other clients, and never adopted from others.

mod handed_over;
mod herd;
mod outliving;

use crate::cluster::{self, Cluster, until};
use crate::operator::{Crate, OperatorProcess, install};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// A module of the operator with which both handlers apply the same Deployment.
const APPLY: &str = r#"use crate::memcached::prelude::*;
use k8s_openapi::api::apps::v1::Deployment;

/// The Deployment that an object asks for.
pub async fn apply(cx: &mut Context<'_>) -> Result<()> {
    let object = cx.manifest();
    let name = object.metadata.name.clone().unwrap_or_default();
    let deployment: Deployment = serde_json::from_value(serde_json::json!({
        "metadata": {"name": name},
        "spec": {
            "replicas": object.spec.size,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "memcached", "image": "memcached:1"}]},
            },
        },
    }))?;
    cx.apply(&deployment).await?;
    let owned = cx.owned::<Deployment>().await?;
    cx.message(format!("{} owned", owned.len()));
    Ok(())
}
"#;

/// The same scenario as a unit test of the crate, which needs no cluster.
const SCENARIO: &str = r##"use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;
use krator_runtime::Local;
use memcached_operator::memcached::{MemcachedMachine, MemcachedMemory};

fn object() -> Local<MemcachedMachine> {
    let manifest = serde_json::json!({
        "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
        "metadata": {"name": "cache", "namespace": "default", "uid": "1"}, "spec": {"size": 1},
    });
    let manifest = serde_json::from_value(manifest).expect("the object is one");
    Local::new(manifest, MemcachedMemory::default(), Arc::default())
}

/// The one child, and how many replicas it has.
fn child(object: &Local<MemcachedMachine>) -> (Arc<Deployment>, Option<i32>) {
    let [child] = <[_; 1]>::try_from(object.handle().all::<Deployment>()).expect("one child");
    let replicas = child.spec.replicas;
    (child, replicas)
}

fn message(object: &Local<MemcachedMachine>) -> Option<String> {
    object.manifest().status.as_ref()?.machine_status.message.clone()
}

#[tokio::test(start_paused = true)]
async fn a_child_follows_its_owner_and_drift_is_corrected() {
    let mut object = object();
    object.run_until_idle().await;
    assert_eq!(object.state(), Some(MemcachedMachine::Available));
    assert_eq!(message(&object).as_deref(), Some("1 owned"));
    let (deployment, replicas) = child(&object);
    assert_eq!(replicas, Some(1));
    assert_eq!(deployment.metadata.owner_references.as_ref().map(Vec::len), Some(1));

    object.handle().update_spec(|cache| cache.spec.size = 2);
    object.run_until_idle().await;
    assert_eq!(child(&object).1, Some(2));

    let mut drifted = Deployment::clone(&deployment);
    drifted.spec.replicas = Some(3);
    object.handle().put(&drifted).expect("it is JSON");
    object.run_until_idle().await;
    assert_eq!(child(&object).1, Some(2), "drift is corrected");

    object.handle().remove(&*deployment);
    assert!(object.handle().all::<Deployment>().is_empty());
    object.run_until_idle().await;
    assert_eq!(child(&object).1, Some(2), "a deleted child is created again");
}

#[tokio::test(start_paused = true)]
async fn a_deployment_without_an_owner_is_not_adopted() {
    let mut object = object();
    let foreign = serde_json::json!({"metadata": {"name": "cache", "namespace": "default"}});
    let foreign: Deployment = serde_json::from_value(foreign).expect("a Deployment");
    object.handle().put(&foreign).expect("it is JSON");
    object.run_until_idle().await;
    assert_eq!(object.state(), Some(MemcachedMachine::Reconciling));
    assert!(message(&object).is_some_and(|message| message.contains("is not changed")));
    assert_eq!(child(&object).1, None);

    // Its maker hands it over.
    let mut given = Deployment::clone(&child(&object).0);
    let owner = serde_json::json!([{
        "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached", "name": "cache", "uid": "1", "controller": true,
    }]);
    given.metadata.owner_references = serde_json::from_value(owner).expect("an owner reference");
    object.handle().put(&given).expect("it is JSON");
    object.handle().update_spec(|cache| cache.spec.size = 2);
    object.run_until_idle().await;
    assert_eq!(child(&object).1, Some(2));
}
"##;

/// Writes the handlers: `Reconciling` applies the Deployment and leaves the state, `Available` applies it and stays.
fn edit(dir: &Path) {
    let write = |path: &str, text: &str| fs::write(dir.join(path), text).expect("a generated folder");
    write("src/child.rs", APPLY);
    let lib = dir.join("src/lib.rs");
    let text = fs::read_to_string(&lib).expect("generated");
    fs::write(
        lib,
        text.replace("pub mod memcached;", "mod child;\npub mod memcached;"),
    )
    .expect("generated");
    for (state, imports, answer) in [
        (
            "Reconciling",
            "Available, Reconciling",
            "Transition::to(Available)",
        ),
        ("Available", "Available", "Transition::stay()"),
    ] {
        let handler = format!(
            "use super::{{{imports}}};\nuse crate::memcached::prelude::*;\n\nimpl State for {state} {{\n    \
             async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {{\n        \
             crate::child::apply(cx).await?;\n        Ok({answer})\n    }}\n}}\n"
        );
        write(
            &format!("src/memcached/states/{}.rs", state.to_lowercase()),
            &handler,
        );
    }
}

fn get(cluster: &Cluster, namespace: &str, what: &str) -> Value {
    let text = cluster.kubectl(&["get", what, "--namespace", namespace, "-o", "json"]);
    serde_json::from_str(&text).expect("kubectl writes JSON")
}

fn memcached(name: &str, size: u32) -> String {
    let object = json!({
        "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
        "metadata": {"name": name}, "spec": {"size": size},
    });
    object.to_string()
}

fn generated(edit: impl FnOnce(&Path)) -> Crate {
    let case = krator_tests::root().join("testdata/ok/memcached/spec.yaml");
    Crate::generate(&fs::read_to_string(case).expect("a case has a description"), edit)
}

#[test]
fn children_can_be_tested_without_a_cluster() {
    let krate = generated(|dir| {
        edit(dir);
        fs::write(dir.join("tests/scenario.rs"), SCENARIO).expect("a generated folder");
    });
    krate.cargo(&[&["test", "--locked", "--test", "scenario"]]);
}

/// A cluster with the manifests of the operator, and the binary of the operator.
fn installed() -> Option<(Cluster, PathBuf)> {
    let cluster = cluster::own(&[])?;
    let krate = generated(edit);
    install(&krate, &cluster);
    let binary = cluster.dir().join("memcached");
    krate.build(&binary);
    Some((cluster, binary))
}

#[test]
fn an_object_that_cannot_be_decoded_is_marked_and_does_not_stop_the_others() {
    let Some((cluster, binary)) = &installed() else {
        return;
    };
    let namespace = cluster.namespace("unreadable");
    let here = ["--namespace", namespace.as_str()];
    // An object is stored under another version of the CRD, in which the type of a field may also be text.
    let crd = "customresourcedefinition/memcacheds.cache.example.com";
    let former = cluster.kubectl(&["get", crd, "-o", "json", "--show-managed-fields=false"]);
    let loose = json!([{
        "op": "replace", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size",
        "value": {"x-kubernetes-int-or-string": true, "default": 1},
    }]);
    cluster.kubectl(&["patch", crd, "--type=json", "-p", &loose.to_string()]);
    let mut unreadable: Value = serde_json::from_str(&memcached("unreadable", 1)).expect("JSON");
    unreadable["spec"]["size"] = json!("many");
    let create = [&["create", "-f", "-"][..], &here].concat();
    until("the other CRD is in force", || {
        cluster
            .try_kubectl("admin", &create, &unreadable.to_string())
            .ok()
    });

    let log = cluster.dir().join("memcached.log");
    let operator = OperatorProcess::start(cluster, binary, &here, &log);
    cluster.apply(&memcached("readable", 1), &here);
    let ready = [
        "wait",
        "--for=condition=Ready",
        "--timeout=60s",
        "memcached/readable",
    ];
    cluster.kubectl(&[&ready[..], &here].concat());
    let event = [
        &[
            "get",
            "events",
            "--field-selector",
            "reason=Undecodable,type=Warning",
            "-o",
            "name",
        ][..],
        &here,
    ]
    .concat();
    until("there is an event about the other object", || {
        (!cluster.kubectl(&event).is_empty()).then_some(())
    });
    let stalled = || {
        let object = get(cluster, &namespace, "memcached/unreadable");
        let conditions = object["status"]["conditions"].as_array()?.clone();
        conditions
            .into_iter()
            .find(|condition| condition["type"] == "Stalled")
    };
    let stalled = until("the other object says why it rests", stalled);
    assert_eq!(
        (&stalled["status"], &stalled["reason"]),
        (&json!("True"), &json!("Undecodable"))
    );
    let message = stalled["message"].as_str().expect("a message");
    assert!(message.contains(".spec.size"), "{message}");

    // The finalizer does not block the deletion, for which the metadata of the object suffices. The kind has no
    // deletion path, so its role lacks the right to remove finalizers.
    let may = [
        "create",
        "rolebinding",
        "may-release",
        "--clusterrole=cluster-admin",
        "--user=operator",
    ];
    cluster.kubectl(&[&may[..], &here].concat());
    let held = json!({"metadata": {"finalizers": ["cache.example.com/memcacheds"]}}).to_string();
    let patch = [
        "patch",
        "memcached/unreadable",
        "--type=merge",
        "-p",
        held.as_str(),
    ];
    cluster.kubectl(&[&patch[..], &here].concat());
    let delete = ["delete", "memcached/unreadable", "--timeout=60s"];
    cluster.kubectl(&[&delete[..], &here].concat());
    assert!(operator.terminate().success());

    let mut former: Value = serde_json::from_str(&former).expect("JSON");
    former["metadata"] = json!({"name": former["metadata"]["name"]});
    let replace = ["apply", "--server-side", "--force-conflicts", "-f", "-"];
    cluster
        .try_kubectl("admin", &replace, &former.to_string())
        .expect("the former CRD is restored");
}

#[test]
fn children_are_applied_corrected_and_not_adopted_from_others() {
    let Some((cluster, binary)) = &installed() else {
        return;
    };
    let namespace = cluster.namespace("children");
    let here = ["--namespace", namespace.as_str()];
    let log = cluster.dir().join("memcached.log");
    let operator = OperatorProcess::start(cluster, binary, &here, &log);

    cluster.apply(&memcached("cache", 2), &here);
    let ready = [
        "wait",
        "--for=condition=Ready",
        "--timeout=60s",
        "memcached/cache",
    ];
    cluster.kubectl(&[&ready[..], &here].concat());
    let (owner, child) = (
        get(cluster, &namespace, "memcached/cache"),
        get(cluster, &namespace, "deploy/cache"),
    );
    assert_eq!(child["spec"]["replicas"], 2);
    assert_eq!(
        child["metadata"]["ownerReferences"][0]["uid"],
        owner["metadata"]["uid"]
    );
    assert_eq!(child["metadata"]["ownerReferences"][0]["controller"], true);

    // A change of the child by another client is undone.
    let patch = r#"{"spec": {"replicas": 7}}"#;
    cluster.kubectl(&[&["patch", "deploy/cache", "--type=merge", "-p", patch][..], &here].concat());
    let corrected = [
        "wait",
        "--for=jsonpath={.spec.replicas}=2",
        "--timeout=60s",
        "deploy/cache",
    ];
    cluster.kubectl(&[&corrected[..], &here].concat());

    // The child follows a change of the spec.
    cluster.apply(&memcached("cache", 3), &here);
    let grown = [
        "wait",
        "--for=jsonpath={.spec.replicas}=3",
        "--timeout=60s",
        "deploy/cache",
    ];
    cluster.kubectl(&[&grown[..], &here].concat());
    cluster.kubectl(&[&ready[..], &here].concat());

    // The operator's own writes do not requeue the object, so the object and its child come to rest.
    let message = [
        "wait",
        "--for=jsonpath={.status.message}=1 owned",
        "--timeout=60s",
        "memcached/cache",
    ];
    cluster.kubectl(&[&message[..], &here].concat());

    // An existing Deployment without an owner stays unchanged.
    let foreign = deployment_without_an_owner();
    cluster.apply(&foreign, &here);
    cluster.apply(&memcached("foreign", 1), &here);
    let retrying = [
        "wait",
        "--for=condition=Reconciling",
        "--timeout=60s",
        "memcached/foreign",
    ];
    cluster.kubectl(&[&retrying[..], &here].concat());
    let refused = [
        "wait",
        "--for=jsonpath={.status.attempts}=1",
        "--timeout=60s",
        "memcached/foreign",
    ];
    cluster.kubectl(&[&refused[..], &here].concat());
    let message = get(cluster, &namespace, "memcached/foreign")["status"]["message"].to_string();
    assert!(message.contains("is not a child of this object"), "{message}");
    assert_eq!(get(cluster, &namespace, "deploy/foreign")["spec"]["replicas"], 5);
    assert!(operator.terminate().success());
}

fn deployment_without_an_owner() -> String {
    let labels = json!({"app": "foreign"});
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "foreign"},
        "spec": {
            "replicas": 5, "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "other", "image": "other:1"}]},
            },
        },
    });
    deployment.to_string()
}
