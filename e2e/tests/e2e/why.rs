//! `krator why` and `krator graph --live` on a real API server, for objects of a running operator.

use crate::cluster::{self, until};
use crate::operator::{Crate, OperatorProcess, ShownOnPanic, install};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const DESCRIPTION: &str = "
krator: 1
operator: keeper
resource: {group: keepers.example.com, version: v1, kind: Elk, plural: elk}
spec: {secret: optional string}
watches: [{kind: core/v1.Secret, by: .spec.secret}]
machine: {initial: Feed, deletion: Leave}
states:
  Feed: {next: [Rest], timeout: {after: 1h, to: Lost}, retry: {limit: 9, initial: 30s, factor: 2, then: Lost}}
  Rest: {kind: ready}
  Lost: {kind: failed, onSpecChange: Feed}
  Leave: {kind: final}
";

/// A handler that fails without hay.
const HANDLER: &str = r#"use super::{Feed, Rest};
use crate::elk::prelude::*;

impl State for Feed {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        if cx.manifest().spec.secret.is_none() {
            return Err("there is no hay".into());
        }
        Ok(Transition::to(Rest))
    }
}
"#;

#[test]
fn what_an_operator_does_with_an_object_is_told() {
    let Some(cluster) = &cluster::own(&[]) else { return };
    let krate = Crate::generate(DESCRIPTION, |dir: &Path| {
        std::fs::write(dir.join("src/elk/states/feed.rs"), HANDLER).expect("a generated folder");
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let binary = folder.path().join("keeper");
    krate.build(&binary);
    install(&krate, cluster);
    let namespace = cluster.namespace("why");
    let log = cluster.dir().join("keeper.log");
    let _shown = ShownOnPanic(&log);
    let args = [
        "--leader-elect",
        "--leader-elect-resource-namespace=keeper-system",
    ];
    let operator = OperatorProcess::start(cluster, &binary, &args, &log);
    for (name, spec) in [("hungry", "{}"), ("fed", "{secret: hay}")] {
        let elk = format!(
            "{{apiVersion: keepers.example.com/v1, kind: Elk, metadata: {{name: {name}}}, spec: {spec}}}"
        );
        cluster.apply(&elk, &["-n", &namespace]);
    }
    let krator = |args: &[&str]| {
        let output = Command::new(krator_tests::program())
            .args(args)
            .current_dir(krate.dir())
            .env("KUBECONFIG", cluster.kubeconfig("admin"))
            .output()
            .expect("krator runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        text(&output.stdout) + &text(&output.stderr)
    };
    let why = |name: &str| -> Value {
        let text = krator(&["why", "--json", "-n", &namespace, &format!("elk/{name}")]);
        crate::outputs::printed("why", text.as_bytes())
    };
    let failing = until("the handler has failed", || {
        Some(why("hungry")).filter(|why| why["error"]["attempts"] == 1)
    });
    assert_eq!(failing["state"], "Feed");
    assert_eq!(failing["error"]["message"], "there is no hay");
    let reasons: Vec<&Value> = failing["waits"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| &it["reason"])
        .collect();
    assert_eq!(reasons, ["timeout", "retry"], "{failing:#}");
    // The retry is due half a minute after the failure that was just stored.
    let due = krator(&["why", "-n", &namespace, "elk/hungry"]);
    let retry = due
        .lines()
        .find(|line| line.contains("retried 30s after the last failure, 9 more times"));
    assert!(
        retry.is_some_and(|line| line.contains(", in 2") || line.contains(", in 30s)")),
        "{due}"
    );

    let fed = until("the event of the entry is there", || {
        Some(why("fed")).filter(|why| {
            let events = why["events"].as_array().into_iter().flatten();
            events
                .into_iter()
                .any(|event| event["note"] == "entered Rest from Feed" && event["transition"] == true)
        })
    });
    assert_eq!(fed["waits"][0]["reason"], "nothing", "{fed:#}");
    let table = krator(&["graph", "--live", "-n", &namespace]);
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let has = |state: &str, object: &str| {
        let object = format!("{namespace}/{object}");
        rows.iter()
            .any(|row| row[1] == state && row[2] == "1" && row[4] == object)
    };
    assert!(has("Feed", "hungry") && has("Rest", "fed"), "{table}");

    drop(operator);
    let gone = until("nobody renews the Lease", || {
        Some(why("hungry")).filter(|why| why["waits"][0]["reason"] == "leader")
    });
    assert!(
        gone["waits"][0]["text"]
            .as_str()
            .is_some_and(|text| text.contains("no pod of the operator keeper is active"))
    );
}
