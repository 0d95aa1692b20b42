//! `krator diff --against cluster`, and the report of `krator doctor` after an edit.

use super::{DESCRIPTION, Zoo, text};
use serde_json::{Value, json};
use std::fs;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_is_counted_against_the_cluster_and_the_doctor_names_what_it_makes_stale() {
    let zoo = Zoo::open().await;
    zoo.moose("a", "Rest", json!({}), json!({})).await;
    let checks = |args: &[&str]| -> Vec<(String, String, String)> {
        let checks = zoo.json(&[&["doctor", "--json"], args].concat());
        let word = |check: &Value, key: &str| check[key].as_str().unwrap_or_default().to_owned();
        let all = checks.as_array().expect("a list").iter();
        all.map(|check| (word(check, "check"), word(check, "result"), check.to_string()))
            .collect()
    };
    let result = |checks: &[(String, String, String)], name: &str| {
        let found = checks
            .iter()
            .find(|(check, ..)| check == name)
            .expect("it is asked");
        (found.1.clone(), found.2.clone())
    };
    let before = checks(&[]);
    for name in [
        "cargo",
        "cluster",
        "namespace",
        "crd moose.zoo.example.com",
        "stored versions of moose.zoo.example.com",
    ] {
        assert_eq!(result(&before, name).0, "ok", "{before:?}");
    }
    // No pods run here.
    assert_eq!(result(&before, "deployment").0, "failed");
    assert_eq!(result(&before, "readiness").0, "skipped");

    let path = zoo.krate.dir().join("krator.yaml");
    let edited = DESCRIPTION.replace(
        "weight: {type: integer, default: 100}",
        "weight: {type: integer, default: 10, maximum: 50}",
    );
    fs::write(&path, edited).expect("a folder of our own");
    let refused = zoo.krator(&["gen", "--check", "--against=cluster"]);
    let said = text(&refused.stderr);
    assert!(
        said.contains("moose.v1.zoo.example.com: 1 stored, 1 break"),
        "{said}"
    );
    fs::write(zoo.krate.dir().join("old.yaml"), DESCRIPTION).expect("a folder of our own");
    let report = zoo.json(&[
        "diff",
        "old.yaml",
        "krator.yaml",
        "--against=cluster",
        "--format=json",
    ]);
    assert_eq!(report["cluster"][0]["breaking"], 1, "{report:#}");

    let after = result(&checks(&[]), "crd moose.zoo.example.com");
    assert_eq!(after.0, "failed");
    for words in [
        "older than krator.yaml",
        ".spec.properties.weight.maximum",
        "krator gen && kubectl apply",
    ] {
        assert!(after.1.contains(words), "{after:?}");
    }
    let nobody = zoo.krator(&["doctor", "--kubeconfig=missing"]);
    assert_eq!(nobody.status.code(), Some(1));
    let said = text(&nobody.stdout);
    assert!(
        said.contains("failed   cluster\n         cannot load a kubeconfig: cannot read `missing`: ")
            && said.contains("do: name an existing one with --kubeconfig or KUBECONFIG")
            && said.matches("missing").count() == 1,
        "{said}"
    );
}

/// The description with another version, and the former version in `versions`.
fn with_version(stored: &str) -> String {
    let newer = DESCRIPTION.replace("version: v1,", "version: v2,");
    format!("{newer}versions: {{v1: {{{stored}changes: []}}}}\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kind_that_the_cluster_serves_in_an_older_version_is_no_kind_that_is_missing() {
    let zoo = Zoo::open().await;
    zoo.moose("a", "Rest", json!({}), json!({})).await;
    let path = zoo.krate.dir().join("krator.yaml");
    fs::write(&path, with_version("storage: true, ")).expect("a folder of our own");
    for args in [&["why", "moose/a"][..], &["graph", "--live"]] {
        let output = zoo.krator(args);
        let said = text(&output.stderr);
        assert!(!output.status.success());
        assert!(
            said.contains("the cluster does not serve v2 of moose.zoo.example.com yet; it has v1"),
            "{args:?}: {said}"
        );
    }
    let absent = DESCRIPTION.replace("plural: moose", "plural: elks");
    fs::write(&path, absent).expect("a folder of our own");
    let said = text(&zoo.krator(&["graph", "--live"]).stderr);
    assert!(
        said.contains("the cluster does not have elks.zoo.example.com"),
        "{said}"
    );
    fs::write(&path, DESCRIPTION).expect("a folder of our own");
    let said = text(&zoo.krator(&["why", "moose/b"]).stderr);
    assert!(said.contains("there is no moose.zoo.example.com `b`"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_are_not_counted_for_a_version_in_which_none_is_stored() {
    let zoo = Zoo::open().await;
    let (old, new) = (
        with_version(""),
        DESCRIPTION.replace("version: v1,", "version: v2,"),
    );
    for (name, text) in [("old.yaml", &old), ("new.yaml", &new)] {
        fs::write(zoo.krate.dir().join(name), text).expect("a folder of our own");
    }
    let checked = krator::check("krator.yaml", old.as_bytes());
    for definition in krator::render::crd::crd(checked.sound().expect("a good description")) {
        zoo.apply(&definition).await;
    }
    zoo.moose("a", "Rest", json!({}), json!({})).await;
    let count = || {
        let report = zoo.json(&[
            "diff",
            "old.yaml",
            "new.yaml",
            "--against=cluster",
            "--format=json",
        ]);
        let counted = &report["cluster"][0];
        (
            counted["objects"].clone(),
            counted["breaking"].clone(),
            counted["doubtful"].clone(),
        )
    };
    // Objects may still be stored as v1, which they do not show.
    assert_eq!(count(), (1.into(), 0.into(), 1.into()));
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/moose.zoo.example.com/status";
    zoo.patch(path, &json!({"status": {"storedVersions": ["v2"]}}))
        .await;
    assert_eq!(count(), (1.into(), 0.into(), 0.into()));
}
