//! Stored objects are migrated to another version, with an interruption, until the former version can be dropped.

use super::edits::{Shops, is_judged, object};
use super::{DEFINITION, DESCRIPTION, open, patch_definition};
use crate::cluster::{self, Cluster, until};
use crate::dice::number;
use crate::operator::{Crate, ShownOnPanic, install, run};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use kube::{Client, Config};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};
use tokio::runtime::Runtime;

/// The prefix of the objects in etcd.
const PREFIX: &str = "/registry/shops.example.com/shops/";

/// The objects in etcd, by their keys, read without the API server.
async fn stored(etcd: &Client) -> BTreeMap<String, Value> {
    let (mut all, mut from) = (BTreeMap::new(), PREFIX.to_owned());
    loop {
        let end = PREFIX.replace("shops/", "shops0");
        let range = json!({"key": BASE64.encode(&from), "range_end": BASE64.encode(end), "limit": 500});
        let request = http::Request::post("/v3/kv/range").body(range.to_string().into_bytes());
        let answer = etcd
            .request_text(request.expect("a request"))
            .await
            .expect("etcd answers");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        let kvs = answer["kvs"].as_array().cloned().unwrap_or_default();
        let Some(last) = kvs.last() else {
            return all;
        };
        let text = |value: &Value| BASE64.decode(value.as_str().expect("text")).expect("base64");
        from = String::from_utf8(text(&last["key"])).expect("a name") + "\0";
        for kv in &kvs {
            let name = String::from_utf8(text(&kv["key"])).expect("a name");
            all.insert(
                name,
                serde_json::from_slice(&text(&kv["value"])).expect("an object is JSON"),
            );
        }
    }
}

fn are_in(stored: &BTreeMap<String, Value>, version: &str) -> usize {
    let version = format!("shops.example.com/{version}");
    stored
        .values()
        .filter(|object| object["apiVersion"] == *version)
        .count()
}

fn versions_stored(cluster: &Cluster) -> String {
    cluster.kubectl(&["get", "crd", DEFINITION, "-o=jsonpath={.status.storedVersions}"])
}

/// `KRATOR_OBJECTS` sets the number of objects.
#[test]
fn objects_move_to_the_version_that_is_stored_now() {
    let Some(cluster) = &cluster::own(&[]) else {
        return;
    };
    let first = DESCRIPTION.replace(
        "    deprecated: use v1\n",
        "    deprecated: use v1\n    storage: true\n",
    );
    let krate = Crate::untouched(&first);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (binary, log) = (folder.path().join("shopkeeper"), folder.path().join("log"));
    krate.build(&binary);
    install(&krate, cluster);
    cluster.kubectl(&["create", "namespace", "it-shops"]);
    let runtime = Runtime::new().expect("a runtime");
    let admin = cluster.kubeconfig("admin");
    let client = runtime.block_on(cluster::client(&admin));
    let shops = Shops::new(client);
    let etcd = fs::read_to_string(cluster.dir().join("etcd.url")).expect("the address of etcd");
    let etcd = runtime.block_on(async { Client::try_from(Config::new(etcd.parse().expect("an address"))) });
    let etcd = etcd.expect("a client");
    let stored = || runtime.block_on(stored(&etcd));

    let _log = ShownOnPanic(&log);
    let operator = open(cluster, &binary, &log);
    until("the API server converts objects", || {
        runtime.block_on(shops.converts(&["v1beta1", "v1"]))
    });
    let list = |version| {
        until("the API server converts objects", || {
            runtime.block_on(shops.list(version))
        })
    };
    let count = usize::try_from(number("KRATOR_OBJECTS", 200)).expect("a count");
    for at in 0..count {
        let name = format!("shop-{at}");
        let spec = json!({"size": at % 50, "host": format!("h{at}"), "rules": [{"name": "x"}]});
        runtime.block_on(shops.apply("v1beta1", "older", &object("v1beta1", &name, &spec)));
        let spec = json!({"mode": "Turbo", "rules": [{"name": "y", "weight": 4}]});
        runtime.block_on(shops.apply("v1", "newer", &object("v1", &name, &spec)));
    }
    let settled = || {
        let list = list("v1");
        list.values().all(is_judged).then_some(list)
    };
    let before = until("the operator has seen each object", settled);
    assert_eq!(are_in(&stored(), "v1beta1"), count);

    // The next release stores the newest version.
    patch_definition(
        cluster,
        &json!([
            {"op": "replace", "path": "/spec/versions/0/storage", "value": true},
            {"op": "replace", "path": "/spec/versions/1/storage", "value": false},
        ]),
    );
    until("both versions may be stored", || {
        versions_stored(cluster).contains("v1\"").then_some(())
    });
    let migrate = |rate: usize| {
        let mut command = Command::new(&binary);
        command
            .args(["migrate", "--rate", &rate.to_string(), "--kubeconfig"])
            .arg(&admin);
        command.stdin(Stdio::null());
        command
    };
    for quarter in 1..=3 {
        // Slowly enough that many objects are left when it is killed.
        let mut running = migrate((count / 10).max(1)).spawn().expect("the operator");
        until("some objects are moved", || {
            (are_in(&stored(), "v1") >= count * quarter / 4).then_some(())
        });
        running.kill().expect("our own child");
        running.wait().expect("our own child");
        assert_eq!(versions_stored(cluster), r#"["v1beta1","v1"]"#);
    }
    run(&mut migrate(10_000));
    assert_eq!(versions_stored(cluster), r#"["v1"]"#);
    let moved = stored();
    assert_eq!((moved.len(), are_in(&moved, "v1")), (count, count));
    for object in moved.values() {
        let entries = object["metadata"]["managedFields"].as_array().expect("managers");
        let versions = entries.iter().map(|entry| entry["apiVersion"].as_str());
        assert!(
            versions
                .into_iter()
                .all(|version| version == Some("shops.example.com/v1")),
            "{object:#}"
        );
        let owned = |manager: &str| {
            let mut entries = entries.iter().filter(|entry| entry["manager"] == manager);
            entries.next().map(|entry| entry["fieldsV1"].clone())
        };
        let older = json!({"f:spec": {"f:hosts": {}, "f:replicas": {}, "f:rules": {"k:{\"name\":\"x\"}": {".": {}, "f:name": {}}}}});
        assert_eq!(owned("older"), Some(older), "{object:#}");
        assert!(owned("newer").is_some(), "{object:#}");
    }
    for (name, shop) in list("v1") {
        for part in ["spec", "status"] {
            assert_eq!(shop[part], before[&name][part], "{name}");
        }
    }

    // The older versions can be dropped, and every object can still be written.
    let newest = cluster.kubectl(&["get", "crd", DEFINITION, "-o=jsonpath={.spec.versions[0]}"]);
    let newest: Value = serde_json::from_str(&newest).expect("JSON");
    patch_definition(
        cluster,
        &json!([
            {"op": "replace", "path": "/spec/versions", "value": [newest]},
            {"op": "replace", "path": "/spec/conversion", "value": {"strategy": "None"}},
        ]),
    );
    assert!(operator.terminate().success());
    until("the version is gone", || {
        runtime.block_on(shops.list("v1beta1")).is_none().then_some(())
    });
    for name in before.keys() {
        runtime.block_on(shops.apply_status("v1", name, &json!({"message": "written"})));
        let spec = json!({"replicas": 9, "hosts": ["z"], "rules": [{"name": "x"}]});
        runtime.block_on(shops.apply("v1", "older", &object("v1", name, &spec)));
    }
}
