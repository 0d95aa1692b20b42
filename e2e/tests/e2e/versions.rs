//! A generated operator whose kind has three versions, with the real API server: objects that are written and edited in
//! each version are read in all of them, by the laws of conversions.

mod edits;
mod migration;
mod rollout;

use crate::cluster::{self, Cluster, until, until_ok};
use crate::dice::{Dice, number};
use crate::operator::{Crate, OperatorProcess, ShownOnPanic, install};
use crate::probes::logged_address;
use edits::{Shops, is_judged, object};
use krator_runtime::versions::Direction;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tokio::runtime::Runtime;

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
  owner: {optional: true, properties: {team: string, person: string}}
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
      - {custom: .spec.owner, from: optional string}
  v1alpha1:
    changes:
      - {renamed: .spec.count, to: .spec.size}
      - {renamed: '.spec.rules[*].id', to: '.spec.rules[*].name'}
";

const VERSIONS: [&str; 3] = ["v1", "v1beta1", "v1alpha1"];
/// The annotation with the data that a version cannot hold.
const HELD: &str = "shops.example.com/conversion-data";

/// The name of the definition.
const DEFINITION: &str = "shops.shops.example.com";

/// The same results as the functions of `versions/conversions.rs.txt`.
fn owner(_: &str, direction: Direction, value: Option<Value>) -> Result<Option<Value>, String> {
    let value = value.unwrap_or_default();
    let made = match (direction, value.as_str().and_then(|text| text.split_once('/'))) {
        (Direction::Up, None) => return Err("there is no team in it".to_owned()),
        (Direction::Up, Some(("panic", _))) => return Err("the function panicked".to_owned()),
        (Direction::Up, Some((team, person))) => json!({"team": team, "person": person}),
        (Direction::Down, _) if value["person"] == "refused" => return Err("they are refused".to_owned()),
        (Direction::Down, _) => {
            let [team, person] = ["team", "person"].map(|field| value[field].as_str().expect("a text"));
            json!(format!("{team}/{person}"))
        }
    };
    Ok(Some(made))
}

fn patch_definition(cluster: &Cluster, patch: &Value) {
    cluster.kubectl(&[
        "patch",
        "crd",
        DEFINITION,
        "--type=json",
        "-p",
        &patch.to_string(),
    ]);
}

/// Starts the operator, and directs the API server's conversion requests to its address instead of the Service.
fn open(cluster: &Cluster, binary: &Path, log: &Path) -> OperatorProcess {
    let _ = fs::remove_file(log);
    let args = [
        "--webhook-bind-address=127.0.0.1:0",
        "--leader-elect",
        "--leader-elect-resource-namespace=shopkeeper-system",
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
    patch_definition(cluster, &patch);
    operator
}

/// `KRATOR_OBJECTS` sets the number of objects, and `KRATOR_SEED` the seed of their contents and edits.
#[test]
fn what_is_written_in_one_version_is_read_in_all() {
    let Some(cluster) = &cluster::own(&[]) else {
        return;
    };
    let krate = Crate::untouched(DESCRIPTION);
    let functions = include_str!("versions/conversions.rs.txt");
    fs::write(krate.dir().join("src/shop/conversions.rs"), functions).expect("a folder of our own");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (binary, log) = (folder.path().join("shopkeeper"), folder.path().join("log"));
    krate.build(&binary);
    install(&krate, cluster);
    cluster.kubectl(&["create", "namespace", "it-shops"]);
    let checked = krator::check("krator.yaml", DESCRIPTION.as_bytes());
    let description = checked.sound().expect("it is sound");
    let versions = krator::versions::of(description, &description.kinds[0]).expect("it has versions");
    let convert = |object: &Value, version: &str| {
        let to = format!("shops.example.com/{version}");
        versions.convert(object.clone(), &to, &owner).expect("a version")
    };

    let runtime = Runtime::new().expect("a runtime");
    let shops = Shops::new(runtime.block_on(cluster::client(&cluster.kubeconfig("admin"))));
    let lists = || {
        let list = |version| {
            until("the API server converts objects", || {
                runtime.block_on(shops.list(version))
            })
        };
        VERSIONS.map(|version| (version, list(version)))
    };
    let _log = ShownOnPanic(&log);
    let mut operator = open(cluster, &binary, &log);
    until("the API server converts objects", || {
        runtime.block_on(shops.converts(&VERSIONS))
    });
    let mut dice = Dice::new(number("KRATOR_SEED", 1));
    for at in 0..number("KRATOR_OBJECTS", 40) {
        let version = dice.among(&VERSIONS);
        let written = object(version, &format!("shop-{at}"), &edits::spec(version, &mut dice));
        runtime.block_on(shops.create(version, &written));
    }
    let mut wanted = BTreeMap::new();
    for round in 0..4 {
        let lists = lists();
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
        for (name, (version, how, spec)) in std::mem::take(&mut wanted) {
            let (_, list) = lists
                .iter()
                .find(|(other, _)| *other == version)
                .expect("a version");
            let list: &BTreeMap<String, Value> = list;
            assert_eq!(list[&name]["spec"], spec, "{how:?} of {name} in {version}");
        }
        no_change_is_missed(|| runtime.block_on(shops.list("v1")));
        if round == 3 {
            break;
        }
        // The next edits reach another process, once after a clean end.
        match round {
            0 => operator.kill(),
            _ => drop(operator),
        }
        operator = open(cluster, &binary, &log);
        until("the API server converts objects", || {
            runtime.block_on(shops.list("v1alpha1"))
        });
        for name in lists[0].1.keys() {
            let (version, list) = dice.among(&lists);
            let (how, spec) = runtime.block_on(shops.edit(version, &list[name], &mut dice));
            wanted.insert(name.clone(), (*version, how, spec));
        }
    }
    a_function_that_fails_is_told(cluster, &lists()[0].1);
    assert!(operator.terminate().success());
    operator = a_finalizer_waits_for_conversions(cluster, &binary, &log);
    a_client_of_the_oldest_version_works(&krate, cluster);
    cluster.kubectl(&[
        "delete",
        "shops.v1alpha1.shops.example.com",
        "--all",
        "--namespace=it-shops",
        "--timeout=300s",
    ]);
    assert!(operator.terminate().success());
}

/// The operator has judged the present spec of each object, although conversions do not change the generation: two
/// objects have the same digest if and only if their specs are the same.
fn no_change_is_missed(list: impl Fn() -> Option<BTreeMap<String, Value>>) {
    until_ok("the operator has seen each spec", || {
        let mut digests = BTreeMap::new();
        let mut specs = BTreeMap::new();
        for (name, object) in list().ok_or("no list")? {
            let status = &object["status"];
            let digest = status["specDigests"][".spec"].as_str();
            let digest = digest.ok_or_else(|| format!("{name} has no digest"))?;
            let mut spec = object["spec"].clone();
            spec.sort_all_objects();
            let spec = spec.to_string();
            let expected = digests.entry(spec.clone()).or_insert_with(|| digest.to_owned());
            let other = specs.entry(digest.to_owned()).or_insert_with(|| spec.clone());
            if *expected != digest || *other != spec {
                return Err(format!(
                    "{name} has {digest} for {spec}, which is {expected}, and {digest} is of {other}"
                ));
            }
            if !is_judged(&object) {
                return Err(format!("{name} is {status}"));
            }
        }
        Ok(())
    });
}

/// A write while the API server cannot convert would remove all entries of `managedFields`. Returns the operator that
/// leads from then on.
fn a_finalizer_waits_for_conversions(cluster: &Cluster, binary: &Path, log: &Path) -> OperatorProcess {
    // The operator only converts while another holder has the Lease.
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "shopkeeper", "namespace": "shopkeeper-system"},
        "spec": {"holderIdentity": "somebody", "leaseDurationSeconds": 3600},
    });
    cluster.apply(&lease.to_string(), &["--force-conflicts"]);
    let operator = open(cluster, binary, log);
    let waiting = object("v1beta1", "waiting", &json!({"size": 3})).to_string();
    let apply = ["apply", "--server-side", "--field-manager=older", "-f", "-"];
    until_ok("the API server converts objects", || {
        cluster.try_kubectl("admin", &apply, &waiting)
    });
    let url = "/spec/conversion/webhook/clientConfig/url";
    let path = "-o=jsonpath={.spec.conversion.webhook.clientConfig.url}";
    let right = cluster.kubectl(&["get", "crd", DEFINITION, path]);
    let broken = "https://127.0.0.1:1/convert";
    patch_definition(cluster, &json!([{"op": "replace", "path": url, "value": broken}]));
    let get = [
        "get",
        "shops.v1beta1.shops.example.com",
        "waiting",
        "--namespace=it-shops",
    ];
    until("nobody converts objects", || {
        cluster.try_kubectl("admin", &get, "").err()
    });
    cluster.kubectl(&["delete", "lease", "shopkeeper", "--namespace=shopkeeper-system"]);
    let metadata = || -> Value {
        let kind = "shops.v1.shops.example.com";
        let args = [
            "get",
            kind,
            "waiting",
            "--namespace=it-shops",
            "--show-managed-fields",
            "-o=json",
        ];
        let read: Value = serde_json::from_str(&cluster.kubectl(&args)).expect("kubectl writes JSON");
        read["metadata"].clone()
    };
    let is_owned = |metadata: &Value| {
        let entries = metadata["managedFields"].as_array().into_iter().flatten();
        entries
            .map(|entry| &entry["apiVersion"])
            .any(|version| version == "shops.example.com/v1beta1")
    };
    until("the operator tells why it waits", || {
        let log = fs::read_to_string(log).unwrap_or_default();
        log.contains(broken).then_some(())
    });
    let before = metadata();
    assert!(before["finalizers"].is_null() && is_owned(&before), "{before:#}");
    patch_definition(cluster, &json!([{"op": "replace", "path": url, "value": right}]));
    let after = until("the finalizer is set", || {
        Some(metadata()).filter(|metadata| metadata["finalizers"].is_array())
    });
    assert!(is_owned(&after), "{after:#}");
    operator
}

/// A user sees in the object that a function has failed, and why, but not the value.
fn a_function_that_fails_is_told(cluster: &Cluster, newest: &BTreeMap<String, Value>) {
    const MESSAGES: &str = "-o=jsonpath={.items[*].message}";
    for (name, object) in newest {
        let held = object["metadata"]["annotations"][HELD]
            .as_str()
            .unwrap_or_default();
        if !held.contains("\"failed\"") {
            continue;
        }
        until_ok("an event says why a function has failed", || {
            let about = format!("--field-selector=involvedObject.name={name},reason=ConversionFailed");
            let events = cluster.kubectl(&["get", "events", "--namespace=it-shops", MESSAGES, &about]);
            let mut reasons = ["there is no team in it", "the function panicked"].into_iter();
            match reasons.any(|reason| events.contains(&format!(".spec.owner: {reason}"))) {
                true => Ok(()),
                false => Err(format!("{name} has {held}: {events}")),
            }
        });
    }
}

/// Rust clients have a type for each version.
fn a_client_of_the_oldest_version_works(krate: &Crate, cluster: &Cluster) {
    let client = include_str!("versions/client.rs.txt");
    let kubeconfig = cluster.kubeconfig("admin").display().to_string();
    let tests = krate.dir().join("tests");
    fs::create_dir_all(&tests).expect("a folder of our own");
    fs::write(tests.join("client.rs"), client.replace("KUBECONFIG", &kubeconfig))
        .expect("a folder of our own");
    krate.cargo(&[&["test", "--locked", "--test", "client"]]);
}
