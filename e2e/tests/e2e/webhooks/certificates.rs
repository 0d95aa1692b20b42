//! Lost or damaged certificates, and configurations that are replaced or left behind.

use super::{Zoo, built, moose};
use crate::cluster::{self, Cluster, until};
use crate::operator::{OperatorProcess, ShownOnPanic};
use crate::probes::logged_address;
use serde_json::{Value, json};
use std::fs;

#[test]
fn what_is_damaged_heals() {
    let Some(cluster) = &cluster::own(&[]) else { return };
    let (krate, binary) = built();
    let zoo = Zoo::new(cluster, &krate, &binary);
    let _log = ShownOnPanic(&zoo.log);
    let operator = zoo.open(&["--webhook-cert-lifetime=60s"]);
    let secret = ["--namespace=doorkeeper-system", "secret", "doorkeeper-webhook"];
    let kubectl = |args: &[&str]| cluster.kubectl(args);
    let version = || kubectl(&[&["get", "-o=jsonpath={.metadata.resourceVersion}"], &secret[..]].concat());
    let logged = |what: &str| {
        fs::read_to_string(&zoo.log)
            .unwrap_or_default()
            .matches(what)
            .count()
    };

    // A second replica uses the same certificate as the first one.
    let other_log = cluster.dir().join("other.log");
    let all = [
        "--webhook-bind-address=127.0.0.1:0",
        "--leader-elect",
        "--leader-elect-resource-namespace=doorkeeper-system",
        "--webhook-cert-lifetime=60s",
    ];
    let other = OperatorProcess::start(cluster, &binary, &all, &other_log);
    logged_address(
        || fs::read_to_string(&other_log).unwrap_or_default(),
        "serving webhooks",
    );

    let before = kubectl(&[&["get", "-o=json"], &secret[..]].concat());
    let before: Value = serde_json::from_str(&before).expect("kubectl writes JSON");
    kubectl(&[&["delete"], &secret[..]].concat());
    until("the Secret is there again", || {
        cluster
            .try_kubectl("admin", &[&["get"], &secret[..]].concat(), "")
            .ok()
    });
    zoo.trusted();
    for key in ["tls.crt", "ca.crt", "ca.key", "ca.expires"] {
        let was = version();
        let made = "created the certificates of the webhooks";
        let count = logged(made)
            + fs::read_to_string(&other_log)
                .unwrap_or_default()
                .matches(made)
                .count();
        let garbage = json!({"data": {key: "Z2FyYmFnZQ=="}}).to_string();
        kubectl(&[&["patch", "--type=merge", "-p", &garbage], &secret[..]].concat());
        until("the garbage is replaced", || {
            let now = logged(made)
                + fs::read_to_string(&other_log)
                    .unwrap_or_default()
                    .matches(made)
                    .count();
            (version() != was && now > count).then_some(())
        });
        zoo.trusted();
    }
    let after = kubectl(&[&["get", "-o=json"], &secret[..]].concat());
    let after: Value = serde_json::from_str(&after).expect("kubectl writes JSON");
    assert_ne!(before["data"]["ca.crt"], after["data"]["ca.crt"]);

    for mut configuration in zoo.configurations() {
        for webhook in configuration["webhooks"].as_array_mut().into_iter().flatten() {
            webhook["clientConfig"]
                .as_object_mut()
                .expect("an object")
                .remove("caBundle");
        }
        configuration["metadata"]
            .as_object_mut()
            .expect("an object")
            .remove("resourceVersion");
        let replaced = cluster.try_kubectl("admin", &["replace", "-f", "-"], &configuration.to_string());
        replaced.expect("an administrator may");
    }
    until("the bundles are there again", || {
        let all = zoo.configurations();
        let mut webhooks = all
            .iter()
            .flat_map(|configuration| configuration["webhooks"].as_array().into_iter().flatten());
        webhooks
            .all(|webhook| webhook["clientConfig"]["caBundle"].is_string())
            .then_some(())
    });
    zoo.trusted();
    assert!(other.terminate().success());
    assert!(operator.terminate().success());
}

#[test]
fn nothing_is_left_that_blocks_in_whatever_order_it_is_uninstalled() {
    let Some(cluster) = &Cluster::with_controllers(&["garbage-collector-controller", "namespace-controller"])
    else {
        return;
    };
    let (krate, binary) = built();
    let zoo = Zoo::new(cluster, &krate, &binary);
    let _log = ShownOnPanic(&zoo.log);
    let operator = zoo.open(&[]);
    zoo.say("admin", &["apply", "-f", "-"], &moose("m-kept", "north", ""));
    let owned = zoo.configurations();
    assert_eq!(owned.len(), 2);
    assert!(
        owned.iter().all(
            |configuration| configuration["metadata"]["ownerReferences"][0]["name"] == "doorkeeper-system"
        )
    );
    operator.kill();
    // The operator is removed first, with its namespace: then no webhook is called.
    cluster.kubectl(&["delete", "namespace", "doorkeeper-system", "--timeout=120s"]);
    until("the configurations are gone", || {
        zoo.configurations().is_empty().then_some(())
    });
    let created = zoo.say("admin", &["apply", "-f", "-"], &moose("m-late", "crowded", ""));
    assert!(created.contains("created"), "{created}");
    // The operator is gone, so its finalizer has to be removed by hand before the CRD can be deleted.
    let finalizers = r#"{"metadata":{"finalizers":null}}"#;
    zoo.say(
        "admin",
        &["patch", "moose", "m-kept", "--type=merge", "-p", finalizers],
        "",
    );
    cluster.kubectl(&["delete", "crd", "moose.zoo.example.com", "--timeout=120s"]);

    // Everything is deleted at once, as by `kubectl delete -k`, while no webhook answers.
    let of_script = [
        "delete",
        "namespace/it-zoo",
        "clusterrole/ranger",
        "clusterrolebinding/ranger",
        "--timeout=120s",
    ];
    cluster.kubectl(&of_script);
    let zoo = Zoo::new(cluster, &krate, &binary);
    let operator = zoo.open(&[]);
    zoo.say("admin", &["apply", "-f", "-"], &moose("m-again", "north", ""));
    operator.kill();
    zoo.say(
        "admin",
        &["patch", "moose", "m-again", "--type=merge", "-p", finalizers],
        "",
    );
    let deploy = krate.dir().join("deploy");
    let deploy = deploy.to_str().expect("temporary folders have plain names");
    cluster.kubectl(&["delete", "--kustomize", deploy, "--timeout=120s"]);
    assert!(zoo.configurations().is_empty());
}
