//! The life of a release on a real API server.

use super::{Deployed, run, tool};
use crate::cluster::{Cluster, assets};
use serde_json::Value;
use std::process::Command;

const BEFORE: &str = "\
krator: 1
operator: ferry
resource: {group: harbour.example.com, version: v1, kind: Boat}
spec: {berth: string}
machine: {initial: Moored}
states: {Moored: {kind: ready}}
";

#[test]
fn a_release_is_upgraded_with_its_definitions_and_leaves_them_with_all_objects() {
    let (Some(helm), Some(assets)) = (tool("helm"), assets()) else {
        return;
    };
    let cluster = Cluster::start(&assets);
    let kubeconfig = cluster.kubeconfig("admin");
    let release = |verb: &[&str], chart: Option<&Deployed>| {
        let mut command = Command::new(&helm);
        command.args(verb).arg("--kubeconfig").arg(&kubeconfig);
        command.args(["--namespace", "harbour", "ferry"]);
        command.args(chart.map(|chart| chart.path("deploy/chart")));
        run(command
            .env("HELM_CACHE_HOME", cluster.dir())
            .env("HELM_DATA_HOME", cluster.dir()))
    };
    let get = |args: &[&str]| -> Value {
        let text = cluster.kubectl(&[&["get", "-o", "json"], args].concat());
        serde_json::from_str(&text).expect("kubectl prints JSON")
    };
    let first = Deployed::new(BEFORE).expect("it is correct");
    release(&["install", "--create-namespace"], Some(&first));
    cluster.wait_established(&["crd", "boats.harbour.example.com"]);
    let deployment = get(&["deployment", "ferry", "-n", "harbour"]);
    // The release determines the namespace, whatever the description has.
    let account = get(&["clusterrolebinding", "ferry"])["subjects"][0].clone();
    assert_eq!(account["namespace"], "harbour");
    assert_eq!(
        deployment["metadata"]["labels"]["app.kubernetes.io/managed-by"],
        "Helm"
    );
    cluster.apply(
        r#"{"apiVersion": "harbour.example.com/v1", "kind": "Boat", "metadata": {"name": "argo", "namespace": "harbour"}, "spec": {"berth": "7"}}"#,
        &[],
    );

    let after = BEFORE.replace("{berth: string}", "{berth: string, flag: optional string}");
    release(&["upgrade"], Some(&Deployed::new(&after).expect("it is correct")));
    let definition = get(&["crd", "boats.harbour.example.com"]);
    let spec = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    assert!(spec["properties"]["flag"].is_object(), "{definition:#}");
    let upgraded = get(&["deployment", "ferry", "-n", "harbour"]);
    assert_eq!(
        upgraded["metadata"]["uid"], deployment["metadata"]["uid"],
        "there is one Deployment"
    );
    assert_eq!(
        upgraded["metadata"]["generation"], deployment["metadata"]["generation"],
        "pods are not replaced because of a definition"
    );

    release(&["uninstall"], None);
    let boat = get(&["boats.harbour.example.com", "argo", "-n", "harbour"]);
    assert_eq!(boat["spec"]["berth"], "7");
    let left = get(&[
        "deployments,serviceaccounts,services",
        "-n",
        "harbour",
        "-l",
        "app.kubernetes.io/name=ferry",
    ]);
    assert_eq!(left["items"], serde_json::json!([]));
}
