//! Objects from before an import can be read, edited, released and deleted afterwards.

use crate::cluster;
use krator::import::import;
use serde_json::{Value, json};

const ORIGINAL: &str = include_str!("../../../../testdata/import/lower-case/crd.yaml");
const DEFINITION: &str = "lakes.water.example.com";

#[test]
fn objects_from_before_an_import_live_on() {
    let Some(cluster) = cluster::shared() else {
        return;
    };
    let namespace = cluster.namespace("import");
    cluster.apply(ORIGINAL, &[]);
    cluster.wait_established(&["crd", DEFINITION]);
    let specs = [
        ("absent", None),
        ("null", Some(Value::Null)),
        (
            "whole",
            Some(json!({
                "-Xmx": "1g", "limit": 3, "-limit": 2, "keyUrl": "a", "$ref": "b", "1st": [{"a.b": "c"}],
                "devices": [{"path": "a", "serial": "77"}], "mode": "slow",
            })),
        ),
    ];
    for (name, spec) in &specs {
        let mut object = json!({
            "apiVersion": "water.example.com/v1", "kind": "lake",
            "metadata": {"name": name, "namespace": namespace, "finalizers": ["water.example.com/held"]},
        });
        if let Some(spec) = spec {
            object["spec"] = spec.clone();
        }
        cluster
            .try_kubectl("admin", &["create", "-f", "-"], &object.to_string())
            .unwrap_or_else(|why| panic!("{name}: {why}"));
    }
    let read = |name: &str| {
        let text = cluster.kubectl(&["get", "lake", name, "-n", &namespace, "-o", "json"]);
        serde_json::from_str::<Value>(&text).expect("JSON")["spec"].clone()
    };
    let before: Vec<Value> = specs.iter().map(|(name, _)| read(name)).collect();

    let imported = import(ORIGINAL, None).expect("a description");
    let checked = krator::check("krator.yaml", imported.description.as_bytes());
    let description = checked.sound().expect("no errors");
    for definition in krator::render::crd::crd(description) {
        cluster.apply(&definition.to_string(), &["--force-conflicts"]);
    }
    cluster.wait_established(&["crd", DEFINITION]);

    for ((name, _), before) in specs.iter().zip(before) {
        let at = ["lake", name, "-n", &namespace];
        cluster.kubectl(&[&["annotate"], &at[..], &["edited=yes"]].concat());
        assert_eq!(read(name), before, "{name}");
        cluster.kubectl(
            &[
                &["patch"],
                &at[..],
                &["--type=merge", "-p", r#"{"metadata":{"finalizers":null}}"#],
            ]
            .concat(),
        );
        cluster.kubectl(&[&["delete"], &at[..], &["--timeout=60s"]].concat());
    }
    cluster.kubectl(&["delete", "crd", DEFINITION]);
}
