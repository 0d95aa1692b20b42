//! The subcommands that read a cluster, on the embedded API server: `krator why`, `krator graph --live`, `--against
//! cluster` and `krator doctor`. `e2e/tests/e2e/doctor.rs` tests the faults on a real one.

mod against;
mod why;

use crate::operator::Crate;
use crate::yaml::documents;
use krator_apiserver::{Server, Serving};
use serde_json::{Value, json};
use std::fs;
use std::net::Ipv4Addr;
use std::os::unix::fs::symlink;
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

    /// Creates a moose in a state that was entered this many seconds ago, and changes its metadata and its status.
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
        Command::new(krator_tests::program())
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

/// The time in the format of Kubernetes with microseconds.
fn k8s_time() -> String {
    let output = Command::new("date")
        .args(["-u", "+%Y-%m-%dT%H:%M:%S.000000Z"])
        .output();
    text(&output.expect("coreutils").stdout).trim().to_owned()
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
        said.contains("`krator dev` (process 4711) is not running an operator at the moment"),
        "{said}"
    );
}

#[test]
fn kubectl_finds_the_command_as_a_plugin() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let plugin = folder.path().join("kubectl-krator");
    symlink(krator_tests::program(), &plugin).expect("a folder of our own");
    let said = |args: &[&str]| {
        let output = Command::new(&plugin).args(args).output().expect("krator runs");
        text(&output.stdout) + &text(&output.stderr)
    };
    assert!(said(&["--help"]).contains("\nUsage: kubectl krator <COMMAND>\n"));
    assert!(said(&["why"]).contains("\nUsage: kubectl krator why <KIND/NAME>...\n"));
}
