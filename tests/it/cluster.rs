//! The verbs that look into a cluster, on the embedded API server: `krator why`, `krator graph --live`, `--against cluster` and
//! `krator doctor`. `e2e/tests/e2e/doctor.rs` has the faults on a real one.

use crate::operator::Crate;
use crate::yaml::documents;
use krator_apiserver::{Server, Serving};
use serde_json::{Value, json};
use std::fs;
use std::net::Ipv4Addr;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

const DESCRIPTION: &str = "
krator: 1
operator: zoo
resource: {group: zoo.example.com, version: v1, kind: Moose, plural: moose}
spec: {secret: string, weight: {type: integer, default: 100}}
owns: [core/v1.ConfigMap]
watches: [{kind: core/v1.Secret, by: .spec.secret}]
machine: {initial: Eat, deletion: Leave}
states:
  Eat: {next: [Roam, Visit, Grow], timeout: {after: 10m, to: Lost}, retry: {limit: 5, initial: 2s, factor: 2, then: Lost}}
  Roam: {next: [Eat], wait: {poll: 30s, watch: self}}
  Visit: {next: [Eat], wait: {watch: [watched]}}
  Grow: {next: [Rest], wait: {watch: [owned]}}
  Rest: {kind: ready}
  Lost: {kind: failed, onSpecChange: Eat}
  Leave: {next: [Gone]}
  Gone: {kind: final}
";

/// A server with the crate's kind, and the crate.
struct Zoo {
    server: Server,
    _serving: Serving,
    krate: Crate,
}

impl Zoo {
    async fn open() -> Zoo {
        let krate = Crate::untouched(DESCRIPTION);
        let server = Server::start();
        let serving = server
            .serve((Ipv4Addr::LOCALHOST, 0).into())
            .await
            .expect("a free port");
        fs::write(krate.dir().join("kubeconfig"), serving.kubeconfig()).expect("a folder of our own");
        let zoo = Zoo {
            server,
            _serving: serving,
            krate,
        };
        for file in ["namespace.yaml", "crd.yaml", "rbac.yaml", "deployment.yaml"] {
            let manifest = fs::read(zoo.krate.dir().join("deploy").join(file)).expect("generated");
            for object in documents(&manifest) {
                zoo.apply(&object).await;
            }
        }
        zoo
    }

    async fn apply(&self, object: &Value) -> Value {
        self.server
            .apply(object, "test")
            .await
            .expect("the server accepts it")
    }

    /// Makes a moose in a state that was entered so many seconds ago, and changes its metadata and its status.
    async fn moose(&self, name: &str, state: &str, metadata: Value, status: Value) -> Value {
        let object = json!({
            "apiVersion": "zoo.example.com/v1",
            "kind": "Moose",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"secret": "hay"},
        });
        let made = self.apply(&object).await;
        let path = format!("/apis/zoo.example.com/v1/namespaces/default/moose/{name}");
        self.patch(&path, &json!({ "metadata": metadata })).await;
        if !state.is_empty() {
            let entered = "2026-01-01T00:00:00Z";
            let known =
                json!({"state": state, "stateEnteredTime": entered, "observedGeneration": 1, "message": "m"});
            self.patch(&format!("{path}/status"), &json!({ "status": known }))
                .await;
            self.patch(&format!("{path}/status"), &json!({ "status": status }))
                .await;
        }
        made
    }

    async fn patch(&self, path: &str, patch: &Value) {
        let request = http::Request::patch(path)
            .header("content-type", "application/merge-patch+json")
            .body(patch.to_string());
        let answer = self.server.answer(request.expect("a path of our own")).await;
        assert!(answer.status().is_success(), "{path}: {answer:?}");
    }

    fn krator(&self, args: &[&str]) -> Output {
        Command::new(crate::KRATOR)
            .args(args)
            .current_dir(self.krate.dir())
            .env("KUBECONFIG", "kubeconfig")
            .output()
            .expect("krator runs")
    }

    fn json(&self, args: &[&str]) -> Value {
        let output = self.krator(args);
        crate::outputs::printed(args[0], &output.stdout)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn stalled(reason: &str) -> Value {
    let time = "2026-01-01T00:00:00Z";
    json!({"conditions": [{
        "type": "Stalled", "status": "True", "reason": reason, "message": "in words", "lastTransitionTime": time,
    }]})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twelve_objects_say_why_they_wait() {
    let zoo = Zoo::open().await;
    // A pod of the operator leads.
    let now = k8s_time();
    zoo.apply(&json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "zoo", "namespace": "zoo-system"},
        "spec": {"holderIdentity": "zoo-1_0", "leaseDurationSeconds": 3600, "renewTime": now},
    }))
    .await;
    let none = || json!({});
    let annotated =
        |key: &str, value: &str| json!({"annotations": {format!("zoo.example.com/{key}"): value}});
    let finalizers = json!({"finalizers": ["vet.example.com/checked", "zoo.example.com/moose"]});
    // Each with the reasons for which it waits, and words of the first of them.
    let objects = [
        (
            "new",
            "",
            none(),
            none(),
            "operator",
            "no operator has seen it yet",
        ),
        ("timer", "Roam", none(), none(), "timer", "every 30s"),
        (
            "late",
            "Eat",
            none(),
            none(),
            "timeout, handler",
            "Eat may last 10m, and leads to Lost then",
        ),
        (
            "failing",
            "Eat",
            none(),
            json!({"attempts": 2}),
            "timeout, retry",
            "Eat may last 10m",
        ),
        (
            "child",
            "Grow",
            none(),
            none(),
            "child",
            "its ConfigMap food is not ready: Resource scheduled for deletion",
        ),
        (
            "secret",
            "Visit",
            none(),
            none(),
            "watched",
            "the Secret hay, which does not exist",
        ),
        (
            "content",
            "Rest",
            none(),
            none(),
            "nothing",
            "as its spec asks, and stays in Rest until it is deleted",
        ),
        (
            "paused",
            "Roam",
            annotated("paused", "true"),
            none(),
            "pause",
            "kubectl annotate moose paused -n default",
        ),
        (
            "lost",
            "Lost",
            none(),
            none(),
            "exhausted",
            "stays in Lost until its spec changes, which leads to Eat",
        ),
        (
            "stub",
            "Roam",
            none(),
            stalled("NotWritten"),
            "notWritten",
            "src/moose/states/roam.rs",
        ),
        (
            "leaving",
            "Leave",
            finalizers,
            none(),
            "finalizers, deletionPath, handler",
            "vet.example.com/checked",
        ),
        (
            "parked",
            "Swim",
            none(),
            stalled("UnknownState"),
            "unknownState",
            "does not know the state Swim",
        ),
        (
            "asked",
            "Roam",
            annotated("requestedAt", "now"),
            none(),
            "request, timer",
            "zoo.example.com/requestedAt",
        ),
    ];
    for (name, state, metadata, status, ..) in &objects {
        let made = zoo.moose(name, state, metadata.clone(), status.clone()).await;
        let uid = &made["metadata"]["uid"];
        if *name == "child" {
            zoo.apply(&json!({
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {
                    "name": "food", "namespace": "default", "finalizers": ["example.com/held"],
                    "ownerReferences": [{
                        "apiVersion": "zoo.example.com/v1", "kind": "Moose", "name": name, "uid": uid, "controller": true,
                    }],
                },
            }))
            .await;
            delete(&zoo, "/api/v1/namespaces/default/configmaps/food").await;
        }
        if *name == "lost" {
            zoo.apply(&json!({
                "apiVersion": "events.k8s.io/v1",
                "kind": "Event",
                "metadata": {"name": "lost.1", "namespace": "default"},
                "regarding": {"apiVersion": "zoo.example.com/v1", "kind": "Moose", "name": name, "namespace": "default", "uid": uid},
                "action": "Transition", "reason": "RetriesExhausted", "type": "Warning",
                "note": "entered Lost from Eat: gave up after 6 failures: no grass",
                "eventTime": now, "reportingController": "zoo", "reportingInstance": "zoo-1",
            }))
            .await;
        }
        if *name == "leaving" {
            delete(&zoo, "/apis/zoo.example.com/v1/namespaces/default/moose/leaving").await;
        }
    }
    for (name, state, _, _, reasons, words) in &objects {
        let why = zoo.json(&["why", "--json", &format!("moose/{name}")]);
        let waits = why["waits"].as_array().expect("a list");
        let told: Vec<&str> = waits
            .iter()
            .filter_map(|waiting| waiting["reason"].as_str())
            .collect();
        assert_eq!(told.join(", "), *reasons, "{name}: {why:#}");
        assert!(
            waits[0]["text"].as_str().is_some_and(|text| text.contains(words)),
            "{name}: {why:#}"
        );
        assert_eq!(why["state"].as_str().unwrap_or_default(), *state);
    }
    let lost = text(&zoo.krator(&["why", "Moose", "lost"]).stdout);
    assert!(lost.starts_with("Moose default/lost is in Lost for "), "{lost}");
    assert!(
        lost.contains("RetriesExhausted  entered Lost from Eat: gave up after 6 failures: no grass"),
        "{lost}"
    );

    let missing = zoo.krator(&["why", "moose/nobody", "-n=elsewhere"]);
    assert_eq!(missing.status.code(), Some(2));
    assert_eq!(
        text(&missing.stderr),
        "error: there is no moose.zoo.example.com `nobody` in the namespace `elsewhere`\n"
    );
    let unknown = text(&zoo.krator(&["why", "elk/nobody"]).stderr);
    assert_eq!(unknown, "error: krator.yaml has no kind `elk`; it has Moose\n");

    let table = text(&zoo.krator(&["graph", "--live"]).stdout);
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let row = |state: &str| {
        rows.iter()
            .find(|row| row[1] == state)
            .map(|row| (row[2], row[4]))
    };
    assert_eq!(row("Roam").map(|(count, _)| count), Some("4"), "{table}");
    assert_eq!(row("Grow"), Some(("1", "default/child")), "{table}");
    let dot = text(&zoo.krator(&["graph", "--live", "--dot"]).stdout);
    assert!(dot.contains("label=\"Grow\\n1 object, oldest "), "{dot}");
}

async fn delete(zoo: &Zoo, path: &str) {
    let request = http::Request::delete(path)
        .body(String::new())
        .expect("a path of our own");
    let answer = zoo.server.answer(request).await;
    assert!(answer.status().is_success(), "{answer:?}");
}

/// The time, as Kubernetes writes it with microseconds.
fn k8s_time() -> String {
    let output = Command::new("date")
        .args(["-u", "+%Y-%m-%dT%H:%M:%S.000000Z"])
        .output();
    text(&output.expect("coreutils").stdout).trim().to_owned()
}

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
    // Nothing runs pods here.
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
        said.contains("failed   cluster\n         there is no kubeconfig: cannot read `missing`: ")
            && said.contains("do: name one that is there, with --kubeconfig or KUBECONFIG")
            && said.matches("missing").count() == 1,
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_is_named_with_its_kind_or_alone_in_a_crate_of_one_kind() {
    let zoo = Zoo::open().await;
    zoo.moose("a", "Rest", json!({}), json!({})).await;
    for args in [&["why", "moose/a"][..], &["why", "moose", "a"], &["why", "a"]] {
        let output = zoo.krator(args);
        let said = text(&output.stdout);
        assert!(
            said.starts_with("Moose default/a is in Rest"),
            "{args:?}: {said}{}",
            text(&output.stderr)
        );
    }
    for args in [
        &["why", "moose/"][..],
        &["why", "moose", ""],
        &["why", ""],
        &["why", "moose/a/status"],
        &["why", "moose/?a"],
    ] {
        let output = zoo.krator(args);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{args:?}: {}",
            text(&output.stdout)
        );
        let said = text(&output.stderr);
        assert!(said.contains("is no name of an object"), "{args:?}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_of_krator_dev_needs_no_deployment_and_no_lease() {
    let zoo = Zoo::open().await;
    zoo.moose("a", "Roam", json!({}), json!({})).await;
    let mark = |operator: &str| {
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "krator-dev", "namespace": "kube-system"},
            "data": {"process": "4711", "operator": operator},
        })
    };
    let reasons = || {
        let why = zoo.json(&["why", "a", "--json"]);
        let waits = why["waits"].as_array().cloned().unwrap_or_default();
        let reasons = waits
            .iter()
            .map(|wait| wait["reason"].as_str().unwrap_or_default().to_owned());
        reasons.collect::<Vec<_>>()
    };
    assert_eq!(reasons(), ["leader", "timer"], "nobody holds the Lease");
    zoo.apply(&mark("acts")).await;
    assert_eq!(reasons(), ["timer"]);
    let doctor = zoo.krator(&["doctor"]);
    let said = text(&doctor.stdout);
    assert!(doctor.status.success(), "{said}");
    assert!(said.contains("ok       operator\n"), "{said}");
    assert!(
        said.contains("skipped  deployment: `krator dev` (process 4711) runs the operator")
            && !said.contains("-k deploy"),
        "{said}"
    );
    zoo.apply(&mark("waits")).await;
    assert_eq!(reasons(), ["leader", "timer"]);
    let doctor = zoo.krator(&["doctor"]);
    let said = text(&doctor.stdout);
    assert_eq!(doctor.status.code(), Some(1), "{said}");
    assert!(
        said.contains("`krator dev` (process 4711) runs no operator at the moment"),
        "{said}"
    );
}

/// The description with another version, and what it was before.
fn with_version(stored: &str) -> String {
    let newer = DESCRIPTION.replace("version: v1,", "version: v2,");
    format!("{newer}versions: {{v1: {{{stored}changes: []}}}}\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kind_that_the_cluster_serves_in_an_older_version_is_no_kind_that_is_missing() {
    let zoo = Zoo::open().await;
    zoo.moose("a", "Rest", json!({}), json!({})).await;
    let path = zoo.krate.dir().join("krator.yaml");
    fs::write(&path, with_version("stored: true, ")).expect("a folder of our own");
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
    assert!(said.contains("the cluster has no elks.zoo.example.com"), "{said}");
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
    // Objects may still be stored as v1, and none shows whether it is.
    assert_eq!(count(), (1.into(), 0.into(), 1.into()));
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/moose.zoo.example.com/status";
    zoo.patch(path, &json!({"status": {"storedVersions": ["v2"]}}))
        .await;
    assert_eq!(count(), (1.into(), 0.into(), 0.into()));
}

#[test]
fn kubectl_finds_the_command_as_a_plugin() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let plugin = folder.path().join("kubectl-krator");
    symlink(Path::new(crate::KRATOR), &plugin).expect("a folder of our own");
    let said = |args: &[&str]| {
        let output = Command::new(&plugin).args(args).output().expect("krator runs");
        text(&output.stdout) + &text(&output.stderr)
    };
    assert!(said(&["--help"]).contains("\nUsage: kubectl krator <COMMAND>\n"));
    assert!(said(&["why"]).contains("\nUsage: kubectl krator why <KIND/NAME>...\n"));
}
