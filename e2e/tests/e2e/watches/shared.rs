//! Kinds of one operator that own, watch and manage the same objects: they share their watches, according to the audit
//! log.

use crate::cluster::{self, Cluster, until};
use crate::operator::{Crate, OperatorProcess, ShownOnPanic, install};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A Maker owns ConfigMaps, a Reader watches some of them in another namespace, and a Follower watches Makers.
const DESCRIPTION: &str = "
krator: 1
operator: sharer
resource: {group: share.example.com, version: v1, kind: Maker}
spec: {}
owns: [{kind: core/v1.ConfigMap}]
machine: {initial: Making}
states:
  Making: {kind: ready, wait: {watch: owned}}
---
krator: 1
resource: {group: share.example.com, version: v1, kind: Reader}
spec:
  config: string
watches: [{kind: core/v1.ConfigMap, by: .spec.config, namespace: default}]
machine: {initial: Reading}
states:
  Reading: {kind: ready, wait: {watch: watched}}
---
krator: 1
resource: {group: share.example.com, version: v1, kind: Follower}
spec:
  maker: string
watches: [{kind: share.example.com/v1.Maker, by: .spec.maker}]
machine: {initial: Following}
states:
  Following: {kind: ready, wait: {watch: watched}}
";

const MAKING: &str = r#"use super::Making;
use crate::maker::prelude::*;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt as _;

impl State for Making {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let mut made: ConfigMap = cx.child(&cx.manifest().name_any());
        made.data = Some([("made".to_owned(), "yes".to_owned())].into());
        cx.apply(&made).await?;
        cx.message(format!("made {}", cx.owned::<ConfigMap>().await?.len()));
        Ok(Transition::stay())
    }
}
"#;

const READING: &str = r#"use super::Reading;
use crate::reader::prelude::*;
use k8s_openapi::api::core::v1::ConfigMap;

impl State for Reading {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let data = cx.watched::<ConfigMap>().and_then(|config| config.data.clone());
        let value = data.unwrap_or_default().remove("value");
        cx.message(value.unwrap_or_default());
        Ok(Transition::stay())
    }
}
"#;

const FOLLOWING: &str = r#"use super::Following;
use crate::follower::prelude::*;
use crate::maker::Maker;

impl State for Following {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let status = cx.watched::<Maker>().and_then(|maker| maker.status.clone());
        let state = status.and_then(|status| status.machine_status.state);
        cx.message(state.unwrap_or_else(|| "not looked after".to_owned()));
        Ok(Transition::stay())
    }
}
"#;

fn object(kind: &str, name: &str, labels: &Value, spec: &Value) -> String {
    let metadata = json!({"name": name, "labels": labels});
    json!({"apiVersion": "share.example.com/v1", "kind": kind, "metadata": metadata, "spec": spec})
        .to_string()
}

/// The number of watches that the operator has started for each path, after this number of requests.
fn watches(cluster: &Cluster, namespaces: &[&str], since: usize) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let mut known = Vec::new();
    for request in cluster.requests_everywhere().into_iter().skip(since) {
        if request.verb == "watch" && !known.contains(&request.id) {
            let mut path = request.uri.split('?').next().unwrap_or_default().to_owned();
            for (number, namespace) in namespaces.iter().enumerate() {
                path = path.replace(namespace, &format!("namespace-{number}"));
            }
            *counts.entry(path).or_default() += 1;
            known.push(request.id);
        }
    }
    counts
}

#[test]
fn kinds_of_a_process_share_one_watch_for_each_kind_and_namespace() {
    let Some(cluster) = &cluster::own(&[]) else { return };
    let krate = Crate::generate(DESCRIPTION, |dir: &Path| {
        for (file, text) in [
            ("src/maker/states/making.rs", MAKING),
            ("src/reader/states/reading.rs", READING),
            ("src/follower/states/following.rs", FOLLOWING),
        ] {
            fs::write(dir.join(file), text).expect("a generated folder");
        }
    });
    install(&krate, cluster);
    let binary = cluster.dir().join("sharer");
    krate.build(&binary);
    let namespace = cluster.namespace("sharer");
    let here = ["--namespace", namespace.as_str()];
    let says = |what: &str, message: &str| {
        let message = format!("--for=jsonpath={{.status.message}}={message}");
        cluster.kubectl(&[&["wait", &message, "--timeout=60s", what], &here[..]].concat());
    };
    let mine = json!({"mine": "yes"});
    cluster.apply(&object("Maker", "one", &mine, &json!({})), &here);
    cluster.apply(&object("Maker", "others", &json!({}), &json!({})), &here);
    cluster.apply(
        &object("Reader", "one", &mine, &json!({"config": "settings"})),
        &here,
    );
    cluster.apply(&object("Follower", "one", &mine, &json!({"maker": "one"})), &here);
    cluster.apply(
        &object("Follower", "other", &mine, &json!({"maker": "others"})),
        &here,
    );
    let settings = |value: &str| {
        let settings = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"value": value}});
        cluster.apply(&settings.to_string(), &["--namespace", "default"]);
    };
    settings("first");

    let log = cluster.dir().join("sharer.log");
    let _log = ShownOnPanic(&log);
    let operator = OperatorProcess::start(cluster, &binary, &["--selector", "mine=yes"], &log);
    says("maker/one", "made 1");
    says("reader/one", "first");
    says("follower/one", "Making");
    // The selector applies to the objects of the operator, not to the objects that they watch.
    says("follower/other", "not looked after");
    settings("second");
    says("reader/one", "second");
    // An object is managed as long as the selector matches it.
    let label = |label: &str| cluster.kubectl(&[&["label", "maker/others", label], &here[..]].concat());
    label("mine=yes");
    says("maker/others", "made 1");
    says("follower/other", "Making");
    label("mine-");
    let delete = ["delete", "configmap", "others"];
    cluster.kubectl(&[&delete[..], &here].concat());
    cluster.kubectl(&[&["delete", "configmap", "one"], &here[..]].concat());
    until(
        "the child of the object that is still selected is made again",
        || {
            cluster
                .try_kubectl("admin", &[&["get", "configmap", "one"], &here[..]].concat(), "")
                .ok()
        },
    );
    let gone = cluster.try_kubectl(
        "admin",
        &[&["get", "configmap", "others"], &here[..]].concat(),
        "",
    );
    assert!(gone.is_err(), "nobody looks after the other one any more");
    assert!(operator.terminate().success());
    // ConfigMaps are watched twice: their metadata only, until a handler asks for whole objects.
    let everywhere = |kinds: [(&str, usize); 4]| -> BTreeMap<String, usize> {
        kinds
            .into_iter()
            .map(|(path, count)| (path.to_owned(), count))
            .collect()
    };
    let all = everywhere([
        ("/api/v1/configmaps", 2),
        ("/apis/share.example.com/v1/followers", 1),
        ("/apis/share.example.com/v1/makers", 1),
        ("/apis/share.example.com/v1/readers", 1),
    ]);
    assert_eq!(watches(cluster, &[], 0), all);

    // Now in one namespace, and in that of the settings.
    let since = cluster.requests_everywhere().len();
    let operator = OperatorProcess::start(cluster, &binary, &["--namespace", &namespace], &log);
    says("maker/others", "made 1");
    settings("third");
    says("reader/one", "third");
    assert!(operator.terminate().success());
    let counts = watches(cluster, &[&namespace], since);
    let paths: Vec<&str> = counts.keys().map(String::as_str).collect();
    assert_eq!(
        paths,
        [
            "/api/v1/namespaces/default/configmaps",
            "/api/v1/namespaces/namespace-0/configmaps",
            "/apis/share.example.com/v1/namespaces/namespace-0/followers",
            "/apis/share.example.com/v1/namespaces/namespace-0/makers",
            "/apis/share.example.com/v1/namespaces/namespace-0/readers",
        ]
    );
    let others = counts.iter().filter(|(path, _)| !path.ends_with("configmaps"));
    assert!(others.map(|(_, count)| *count).eq([1, 1, 1]), "{counts:?}");
}
