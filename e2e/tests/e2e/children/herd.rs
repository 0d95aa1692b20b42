//! Children that a handler leaves out or prunes, and children of an owner that is deleted and created again under the
//! same name, with the garbage collector of Kubernetes.

use super::get;
use crate::cluster::{Cluster, until};
use crate::joint::Joint;
use crate::operator::{Crate, OperatorProcess, ShownOnPanic, install};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A herd has a ConfigMap and a calf for each name in its spec. `Calf` is a kind of the operator itself and has its
/// finalizer; without a color its spec is empty. A herd that gives up never recovers.
const DESCRIPTION: &str = "\
krator: 1
operator: herds
resource: {group: zoo.example.com, version: v1, kind: Herd}
spec:
  calves: list of string
  color: optional string
machine: {initial: Gathering}
states:
  Gathering: {next: [Grazing], wait: {watch: owned}, retry: {limit: 30, initial: 200ms, max: 1s, then: Lost}}
  Grazing: {kind: ready, next: [Gathering], wait: {watch: owned}, onSpecChange: Gathering}
  Lost: {kind: failed}
owns: [core/v1.ConfigMap, zoo.example.com/v1.Calf]
---
krator: 1
resource: {group: zoo.example.com, version: v1, kind: Calf}
spec:
  color: optional string
machine: {initial: Alive, deletion: Leaving}
states:
  Alive: {kind: ready}
  Leaving: {next: [Gone]}
  Gone: {kind: final}
";

/// The module with which both handlers of a herd apply its children.
const GATHER: &str = r#"use crate::calf::prelude::Calf;
use crate::herd::prelude::*;
use k8s_openapi::api::core::v1::ConfigMap;

/// Applies the children that the herd should have, and deletes all others.
pub async fn gather(cx: &Context<'_>) -> Result<()> {
    let herd = cx.manifest();
    let color = &herd.spec.color;
    for calf in &herd.spec.calves {
        let name = format!("{}-{calf}", herd.metadata.name.as_deref().unwrap_or_default());
        let mut tag: ConfigMap = cx.child(&name);
        let data = [("kind".to_owned(), "calf".to_owned())].into_iter();
        tag.data = Some(data.chain(color.clone().map(|color| ("color".to_owned(), color))).collect());
        cx.apply(&tag).await?;
        let mut calf: Calf = cx.child(&name);
        calf.spec.color.clone_from(color);
        cx.apply(&calf).await?;
    }
    cx.prune::<ConfigMap>().await?;
    cx.prune::<Calf>().await?;
    Ok(())
}
"#;

/// Writes the handlers: `Gathering` applies the children and leaves the state, `Grazing` applies them and stays.
fn edit(dir: &Path) {
    let write = |path: &str, text: &str| fs::write(dir.join(path), text).expect("a generated folder");
    write("src/gather.rs", GATHER);
    let lib = fs::read_to_string(dir.join("src/lib.rs")).expect("generated");
    write(
        "src/lib.rs",
        &lib.replace("pub mod calf;", "pub mod calf;\nmod gather;"),
    );
    for (state, imports, answer) in [
        ("Gathering", "Gathering, Grazing", "Transition::to(Grazing)"),
        ("Grazing", "Grazing", "Transition::stay()"),
    ] {
        let handler = format!(
            "use super::{{{imports}}};\nuse crate::herd::prelude::*;\n\nimpl State for {state} {{\n    \
             async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {{\n        \
             crate::gather::gather(cx).await?;\n        Ok({answer})\n    }}\n}}\n"
        );
        write(&format!("src/herd/states/{}.rs", state.to_lowercase()), &handler);
    }
}

/// A cluster with the manifests of the operator and with a garbage collector that has discovered its kinds, and the
/// operator.
fn installed() -> Option<Arc<(Cluster, PathBuf)>> {
    static INSTALLED: Joint<(Cluster, PathBuf)> = Joint::new();
    let install = || {
        let mut cluster = Cluster::for_controllers()?;
        let krate = Crate::generate(DESCRIPTION, edit);
        install(&krate, &cluster);
        cluster.start_controllers(&["garbage-collector-controller"]);
        let binary = cluster.dir().join("herds");
        krate.build(&binary);
        Some((cluster, binary))
    };
    INSTALLED.get(install)
}

fn herd(name: &str, calves: &[&str], color: Option<&str>) -> Value {
    let mut spec = json!({"calves": calves});
    if let Some(color) = color {
        spec["color"] = color.into();
    }
    json!({"apiVersion": "zoo.example.com/v1", "kind": "Herd", "metadata": {"name": name}, "spec": spec})
}

pub fn is_ready(object: &Value) -> bool {
    let conditions = object["status"]["conditions"].as_array();
    let observed = object["status"]["observedGeneration"] == object["metadata"]["generation"];
    let ready = |condition: &Value| condition["type"] == "Ready" && condition["status"] == "True";
    observed && conditions.is_some_and(|conditions| conditions.iter().any(ready))
}

#[test]
fn what_a_handler_leaves_out_of_its_children_goes_away() {
    let Some(installed) = installed() else {
        return;
    };
    let (cluster, binary) = &*installed;
    let namespace = cluster.namespace("leaving-out");
    let here = ["--namespace", namespace.as_str()];
    let log = cluster.dir().join("leaving-out.log");
    let _log = ShownOnPanic(&log);
    let start = || OperatorProcess::start(cluster, binary, &here, &log);
    let apply = |calves: &[&str], color: Option<&str>| {
        cluster.apply(&herd("north", calves, color).to_string(), &here);
    };
    let read = |kind: &str| get(cluster, &namespace, kind)["items"].clone();
    // The names, the colors and the finalizers of the children. A color that is unset in a calf is one in its tag, too.
    let children = |kind: &str, color: &str| -> Vec<(String, Option<String>, bool)> {
        let children = read(kind);
        let children = children.as_array().expect("a list").iter();
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        children
            .map(|child| {
                let held = child["metadata"]["finalizers"] == json!(["zoo.example.com/calfs"]);
                let name = text(child.pointer("/metadata/name")).expect("a name");
                (name, text(child.pointer(color)), held)
            })
            .filter(|(name, ..)| name != "kube-root-ca.crt")
            .collect()
    };
    let becomes = |names: &[&str], color: Option<&str>| {
        for (kind, path, held) in [
            ("configmaps", "/data/color", false),
            ("calfs", "/spec/color", true),
        ] {
            let child = |name: &&str| ((*name).to_owned(), color.map(str::to_owned), held);
            let wanted: Vec<_> = names.iter().map(child).collect();
            until(&format!("{kind} are {wanted:?}"), || {
                (children(kind, path) == wanted).then_some(())
            });
        }
    };

    let operator = start();
    apply(&["a", "b"], Some("blue"));
    becomes(&["north-a", "north-b"], Some("blue"));
    apply(&["a", "b"], None);
    becomes(&["north-a", "north-b"], None);

    // The same after a restart, when the operator has no record of its earlier applies.
    apply(&["a", "b"], Some("red"));
    becomes(&["north-a", "north-b"], Some("red"));
    assert!(operator.terminate().success());
    apply(&["a", "b"], None);
    let operator = start();
    becomes(&["north-a", "north-b"], None);

    // Unwanted children are pruned, but no objects of others.
    cluster.kubectl(&[&["create", "configmap", "of-others"][..], &here].concat());
    apply(&["b", "c"], None);
    until("the herd is ready again", || {
        is_ready(&get(cluster, &namespace, "herd/north")).then_some(())
    });
    until("what is not wanted is gone", || {
        let names = |kind: &str, color: &str| -> Vec<String> {
            children(kind, color).into_iter().map(|(name, ..)| name).collect()
        };
        let tags = names("configmaps", "/data/color");
        (tags == ["north-b", "north-c", "of-others"]
            && names("calfs", "/spec/color") == ["north-b", "north-c"])
        .then_some(())
    });
    assert!(operator.terminate().success());
}

/// `KRATOR_RECREATE` sets how many times an object is deleted and created again: in half of them the garbage collector
/// is frozen.
#[test]
fn an_object_that_is_created_again_gets_children_of_its_own() {
    const TOGETHER: usize = 5;
    let Some(installed) = installed() else {
        return;
    };
    let (cluster, binary) = &*installed;
    let times =
        std::env::var("KRATOR_RECREATE").map_or(2 * TOGETHER, |times| times.parse().expect("a number"));
    let namespace = cluster.namespace("created-again");
    let here = ["--namespace", namespace.as_str()];
    let log = cluster.dir().join("created-again.log");
    let _log = ShownOnPanic(&log);
    let mut operator = OperatorProcess::start(cluster, binary, &here, &log);
    let names: Vec<String> = (0..TOGETHER).map(|number| format!("herd-{number}")).collect();
    let herds: Vec<Value> = names.iter().map(|name| herd(name, &["a"], None)).collect();
    let herds = json!({"apiVersion": "v1", "kind": "List", "items": herds}).to_string();
    let items = |kind: &str| match &get(cluster, &namespace, kind)["items"] {
        Value::Array(items) => items.clone(),
        _ => Vec::new(),
    };
    let owner = |child: &Value| child["metadata"]["ownerReferences"][0]["uid"].clone();
    // All herds are ready, and each is the controller of both its children.
    let all_ready = || {
        let (herds, children) = (items("herds"), [items("configmaps"), items("calfs")].concat());
        let all = herds.iter().all(|herd| {
            let own = children
                .iter()
                .filter(|child| owner(child) == herd["metadata"]["uid"]);
            is_ready(herd) && own.count() == 2
        });
        (all && herds.len() == TOGETHER).then_some(())
    };
    let mut ready = |what: &str| {
        until(what, || {
            assert!(operator.is_running());
            let lost = items("herds")
                .iter()
                .any(|herd| herd["status"]["state"] == "Lost");
            assert!(!lost, "{what}: a herd gave up");
            all_ready()
        });
    };

    cluster.apply(&herds, &here);
    ready("herds are ready");
    for round in 0..times.div_ceil(TOGETHER) {
        let frozen = round % 2 == 1;
        if frozen {
            cluster.freeze_controllers(true);
        }
        cluster.kubectl(&[&["delete", "herds", "--all"][..], &here].concat());
        cluster.apply(&herds, &here);
        if frozen {
            until("each herd has met a child of the former one", || {
                let waiting = |herd: &Value| herd["status"]["attempts"].as_i64() > Some(0);
                items("herds").iter().all(waiting).then_some(())
            });
            cluster.freeze_controllers(false);
        }
        ready(&format!("herds are ready in round {round}"));
    }
    assert!(operator.terminate().success());
}
