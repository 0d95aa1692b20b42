//! A generated operator whose kind has three versions, beside the real API server: what is written and edited in each version is
//! read in all of them, as the laws of conversions say.

use crate::cluster::{self, Cluster, until};
use crate::dice::Dice;
use crate::operator::{Crate, OperatorProcess, ShownOnPanic};
use crate::probes::logged_address;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const DESCRIPTION: &str = "
krator: 1
operator: shopkeeper
resource: {group: shops.example.com, version: v1, kind: Shop}
spec:
  replicas: {type: integer, default: 1, minimum: 0, maximum: 100}
  hosts: optional list of string
  mode: {enum: [Turbo, Eco, Idle], default: Eco}
  tls: {type: boolean, default: true}
  timeout: {type: duration, default: 30s}
  rules:
    optional: true
    type: list of Rule
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [name]
types:
  Rule:
    properties:
      name: string
      weight: {type: integer, default: 1}
machine: {initial: Open, deletion: Closed}
states:
  Open: {kind: ready}
  Closed: {kind: final}
versions:
  v1beta1:
    deprecated: use v1
    changes:
      - {renamed: .spec.size, to: .spec.replicas}
      - {moved: .spec.host, to: '.spec.hosts[0]'}
      - {values: .spec.mode, map: {fast: Turbo, slow: [Eco, Idle]}}
      - {added: .spec.tls, default: false}
      - {removed: .spec.legacy, type: optional string}
      - {retyped: .spec.timeout, from: integer, unit: seconds}
      - {added: '.spec.rules[*].weight'}
  v1alpha1:
    changes:
      - {renamed: .spec.count, to: .spec.size}
      - {renamed: '.spec.rules[*].id', to: '.spec.rules[*].name'}
";

const VERSIONS: [&str; 3] = ["v1", "v1beta1", "v1alpha1"];
/// How many objects are written.
const OBJECTS: usize = 30;

/// Starts the operator, and has the API server ask it for conversions at its address instead of the Service.
fn open(cluster: &'static Cluster, binary: &Path, log: &Path) -> OperatorProcess {
    let _ = fs::remove_file(log);
    let args = [
        "--webhook-bind-address=127.0.0.1:0",
        "--leader-elect",
        "--leader-elect-resource-namespace=shopkeeper",
    ];
    let operator = OperatorProcess::start(cluster, binary, &args, log);
    let logged = || fs::read_to_string(log).unwrap_or_default();
    let url = format!("https://{}/convert", logged_address(logged, "serving webhooks"));
    let at = "/spec/conversion/webhook/clientConfig";
    let patch = json!([
        {"op": "add", "path": format!("{at}/service"), "value": null},
        {"op": "remove", "path": format!("{at}/service")},
        {"op": "add", "path": format!("{at}/url"), "value": url},
    ]);
    cluster.kubectl(&[
        "patch",
        "crd",
        "shops.shops.example.com",
        "--type=json",
        "-p",
        &patch.to_string(),
    ]);
    until("the API server converts objects", || list_of(cluster, "v1alpha1"));
    operator
}

/// The objects as a version has them, by name, if they can be read.
fn list_of(cluster: &Cluster, version: &str) -> Option<BTreeMap<String, Value>> {
    let args = [
        "get",
        &format!("shops.{version}.shops.example.com"),
        "--namespace=it-shops",
        "-o=json",
    ];
    let list = cluster.try_kubectl("admin", &args, "").ok()?;
    let list: Value = serde_json::from_str(&list).ok()?;
    let items = list["items"].as_array()?.iter();
    Some(
        items
            .map(|item| {
                (
                    item["metadata"]["name"].as_str().expect("a name").to_owned(),
                    item.clone(),
                )
            })
            .collect(),
    )
}

/// The spec that a client writes in a version.
fn spec(version: &str, dice: &mut Dice) -> Value {
    let mut spec = json!({});
    let mut set = |name: &str, values: &[Value]| {
        if !dice.one_in(3) {
            spec[name] = dice.among(values).clone();
        }
    };
    if version == "v1" {
        set("replicas", &[json!(0), json!(7)]);
        set("hosts", &[json!([]), json!(["a"]), json!(["a", "b", "c"])]);
        set("mode", &[json!("Turbo"), json!("Eco"), json!("Idle")]);
        set("tls", &[json!(true), json!(false)]);
        set(
            "timeout",
            &[json!("0"), json!("90s"), json!("1m30.5s"), json!("9999999999h")],
        );
        set(
            "rules",
            &[json!([]), json!([{"name": "x", "weight": 3}, {"name": "y"}])],
        );
        return spec;
    }
    let (size, name) = if version == "v1beta1" {
        ("size", "name")
    } else {
        ("count", "id")
    };
    set(size, &[json!(0), json!(9)]);
    set("host", &[json!("a"), json!("z")]);
    set("mode", &[json!("fast"), json!("slow")]);
    set("legacy", &[json!("old"), json!("")]);
    set("timeout", &[json!(0), json!(90)]);
    set(
        "rules",
        &[json!([{name: "y"}, {name: "x"}]), json!([{name: "z"}])],
    );
    spec
}

fn object(version: &str, name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": format!("shops.example.com/{version}"), "kind": "Shop",
        "metadata": {"name": name, "namespace": "it-shops"}, "spec": spec,
    })
}

#[test]
fn what_is_written_in_one_version_is_read_in_all() {
    let Some(cluster) = cluster::own(&[]) else {
        return;
    };
    let krate = Crate::untouched(DESCRIPTION);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (binary, log) = (folder.path().join("shopkeeper"), folder.path().join("log"));
    krate.build(&binary);
    krate.install(cluster);
    cluster.kubectl(&["create", "namespace", "it-shops"]);
    let checked = krator::check("krator.yaml", DESCRIPTION.as_bytes());
    let description = checked.sound().expect("it is sound");
    let versions = krator::versions::of(description, &description.kinds[0]).expect("it has versions");
    let convert = |object: &Value, version: &str| {
        let to = format!("shops.example.com/{version}");
        versions
            .convert(object.clone(), &to, &|_, _, value| value)
            .expect("a version")
    };

    let _log = ShownOnPanic(&log);
    let mut operator = open(cluster, &binary, &log);
    let mut dice = Dice::new(1);
    let written: Vec<Value> = (0..OBJECTS)
        .map(|at| {
            let version = VERSIONS[at % 3];
            object(version, &format!("shop-{at}"), &spec(version, &mut dice))
        })
        .collect();
    let all = json!({"apiVersion": "v1", "kind": "List", "items": written});
    cluster.apply(&all.to_string(), &["--server-side"]);
    let mut before = BTreeMap::new();
    for round in 0..3 {
        let lists = VERSIONS.map(|version| (version, list_of(cluster, version).expect("all can be read")));
        for (name, newest) in &lists[0].1 {
            for (version, list) in &lists {
                let ours = convert(newest, version);
                assert_eq!(list[name]["spec"], ours["spec"], "{name} in {version}");
                let annotations = |object: &Value| object["metadata"]["annotations"].clone();
                assert_eq!(
                    annotations(&list[name]),
                    annotations(&ours),
                    "{name} in {version}"
                );
            }
        }
        for (name, (version, spec)) in std::mem::take(&mut before) {
            let (_, list) = lists
                .iter()
                .find(|(other, _)| *other == version)
                .expect("a version");
            let list: &BTreeMap<String, Value> = list;
            assert_eq!(list[&name]["spec"], spec, "the edit of {name} in {version}");
        }
        // The next edits meet another process.
        drop(operator);
        operator = open(cluster, &binary, &log);
        for (at, name) in lists[0].1.keys().enumerate() {
            let (version, list) = &lists[(at + round + 1) % 3];
            let edit = spec(version, &mut dice);
            let mut wanted = list[name]["spec"].clone();
            for (field, value) in edit.as_object().expect("an object") {
                wanted[field] = value.clone();
            }
            let rules = wanted.get_mut("rules").and_then(Value::as_array_mut);
            for rule in rules.into_iter().flatten().filter(|_| *version == "v1") {
                rule.as_object_mut()
                    .expect("an object")
                    .entry("weight")
                    .or_insert(json!(1));
            }
            let kind = format!("shops.{version}.shops.example.com");
            let patch = json!({"spec": edit}).to_string();
            cluster.kubectl(&[
                "patch",
                &kind,
                name,
                "--namespace=it-shops",
                "--type=merge",
                "-p",
                &patch,
            ]);
            before.insert(name.clone(), (*version, wanted));
        }
    }
    guards_what_rides(cluster);
    until("the operator has seen each object", || {
        let list = list_of(cluster, "v1")?;
        let is_seen = |object: &Value| {
            object["status"]["state"] == "Open"
                && object["status"]["observedGeneration"] == object["metadata"]["generation"]
        };
        list.values().all(is_seen).then_some(())
    });
    cluster.kubectl(&[
        "delete",
        "shops.v1alpha1.shops.example.com",
        "--all",
        "--namespace=it-shops",
        "--timeout=60s",
    ]);
    assert!(operator.terminate().success());
}

/// What clients do to the annotation: one that changes it is refused, one that leaves it out resets what it held, and the operator
/// notices though no generation is counted.
fn guards_what_rides(cluster: &Cluster) {
    let kind = |version: &str| format!("shops.{version}.shops.example.com");
    let get = |version: &str| -> Value {
        let args = [
            "get",
            &kind(version),
            "guarded",
            "--namespace=it-shops",
            "-o=json",
        ];
        serde_json::from_str(&cluster.kubectl(&args)).expect("kubectl writes JSON")
    };
    let spec = json!({"hosts": ["a", "b"], "timeout": "1m30.5s"});
    cluster.apply(&object("v1", "guarded", &spec).to_string(), &[]);
    let held = "shops.example.com/held";
    let mut older = get("v1beta1");
    assert!(older["metadata"]["annotations"][held].is_string(), "{older:#}");
    let honest = older.clone();

    older["metadata"]["annotations"][held] =
        json!("{\"v1\":{\"fields\":{\"replicas\":{\"value\":{\"is\":99}}}}}");
    let forged = cluster.try_kubectl("admin", &["replace", "-f", "-"], &older.to_string());
    let refusal = forged.expect_err("the annotation is forged");
    assert!(
        refusal.contains("only the conversion between versions writes the annotation"),
        "{refusal}"
    );
    assert_eq!(get("v1")["spec"]["hosts"], json!(["a", "b"]));

    let seen = |object: &Value| object["status"]["specDigests"][".spec"].clone();
    let before = until("the operator has judged the spec", || {
        let object = get("v1");
        (object["status"]["state"] == "Open" && seen(&object).is_string()).then_some(object)
    });
    let mut without = honest;
    without["metadata"]
        .as_object_mut()
        .expect("metadata")
        .remove("annotations");
    without["metadata"]
        .as_object_mut()
        .expect("metadata")
        .remove("resourceVersion");
    cluster
        .try_kubectl("admin", &["replace", "-f", "-"], &without.to_string())
        .expect("nobody needs the annotation");
    let after = get("v1");
    assert_eq!(after["spec"]["hosts"], json!(["a"]), "what it held is reset");
    assert_eq!(after["metadata"]["generation"], before["metadata"]["generation"]);
    until("the operator has judged the new spec", || {
        (seen(&get("v1")) != seen(&before)).then_some(())
    });
}
