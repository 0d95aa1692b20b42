//! Gates that need an approval, on a real API server with the policy that restricts who may approve: tried with `krator
//! approve` and kubectl, by users with and without the right.

use crate::cluster::{self, Cluster, until};
use crate::operator::{Crate, OperatorProcess, ShownOnPanic, install};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

const DESCRIPTION: &str = "
krator: 1
operator: books
resource: {group: approvals.example.com, version: v1, kind: Ledger}
spec: {version: string}
status: {version: string}
machine: {initial: Running}
states:
  Running: {kind: ready, next: [Upgrading], wait: {poll: 1h}}
  Upgrading: {gate: {approval: required}, next: [Running]}
";

const RUNNING: &str = "use super::{Running, Upgrading};
use crate::ledger::prelude::*;

impl State for Running {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        if cx.status().version.as_ref() == Some(&cx.manifest().spec.version) {
            return Ok(Transition::stay());
        }
        Ok(Transition::to(Upgrading))
    }
}
";

const UPGRADING: &str = "use super::{Running, Upgrading};
use crate::ledger::prelude::*;

impl State for Upgrading {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let version = cx.manifest().spec.version.clone();
        cx.status_mut().version = Some(version);
        Ok(Transition::to(Running))
    }
}
";

/// The ledger `main`, in a namespace of a cluster.
struct Ledger<'c> {
    cluster: &'c Cluster,
    krate: &'c Crate,
    namespace: String,
}

impl Ledger<'_> {
    fn object(&self) -> Value {
        let text = self
            .cluster
            .kubectl(&["get", "ledger", "main", "-o", "json", "-n", &self.namespace]);
        serde_json::from_str(&text).expect("kubectl prints JSON")
    }

    fn apply(&self, version: &str) {
        let object = json!({
            "apiVersion": "approvals.example.com/v1",
            "kind": "Ledger",
            "metadata": {"name": "main"},
            "spec": {"version": version},
        });
        let args = [
            "--field-manager=gitops",
            "--force-conflicts",
            "-n",
            &self.namespace,
        ];
        self.cluster.apply(&object.to_string(), &args);
    }

    /// The id of the stored ask, once it differs from the former ones.
    fn asks(&self, former: &[&str]) -> String {
        until("the object waits for an approval", || {
            let object = self.object();
            let id = object["status"]["ask"]["id"].as_str()?;
            (!former.contains(&id)).then(|| id.to_owned())
        })
    }

    fn runs_version(&self, version: &str) {
        until(&format!("the ledger has version {version}"), || {
            let status = self.object()["status"].clone();
            (status["version"] == version && status["state"] == "Running").then_some(())
        });
    }

    /// The output of kubectl as this user, or its error.
    fn kubectl(&self, user: &str, args: &[&str]) -> Result<String, String> {
        let as_user = format!("--as={user}");
        let args = [args, &[&as_user, "-n", &self.namespace]].concat();
        self.cluster.try_kubectl("admin", &args, "")
    }

    fn annotate(&self, user: &str, approval: &str) -> Result<String, String> {
        let annotation = format!("approvals.example.com/approve={approval}");
        self.kubectl(user, &["annotate", "--overwrite", "ledger", "main", &annotation])
    }

    /// The output of krator as this user, or its error.
    fn krator(&self, user: &str, args: &[&str]) -> Result<String, String> {
        let mut config = std::fs::read_to_string(self.cluster.kubeconfig("admin")).expect("a kubeconfig");
        let mut parsed: Value = serde_yaml::from_str(&config).expect("YAML");
        parsed["users"][0]["user"]["as"] = user.into();
        config = parsed.to_string();
        let path = self.cluster.dir().join(format!("{user}.as.kubeconfig"));
        std::fs::write(&path, config).expect("a folder of our own");
        let output = Command::new(krator_tests::program())
            .args(args)
            .args(["ledger/main", "--namespace", &self.namespace])
            .current_dir(self.krate.dir())
            .env("KUBECONFIG", &path)
            .output()
            .expect("krator runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match output.status.success() {
            true => Ok(text(&output.stdout)),
            false => Err(text(&output.stderr)),
        }
    }

    fn is_refused(&self, answer: Result<String, String>, why: &str) {
        let error = answer.expect_err(why);
        assert!(error.contains(why), "{error}");
        assert_eq!(self.object()["status"]["state"], "Running");
    }
}

#[test]
fn approvals_are_of_those_who_may() {
    let Some(cluster) = &cluster::own(&[]) else { return };
    let krate = Crate::generate(DESCRIPTION, |dir: &Path| {
        for (state, handler) in [("running", RUNNING), ("upgrading", UPGRADING)] {
            let file = dir.join(format!("src/ledger/states/{state}.rs"));
            std::fs::write(file, handler).expect("a generated folder");
        }
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let binary = folder.path().join("books");
    krate.build(&binary);
    install(&krate, cluster);
    let ledger = Ledger {
        cluster,
        krate: &krate,
        namespace: cluster.namespace("approvals"),
    };
    for (user, role) in [("jane", "books-approver"), ("bob", "books-edit")] {
        let (role, user_of) = (format!("--clusterrole={role}"), format!("--user={user}"));
        cluster.kubectl(&["create", "clusterrolebinding", user, &role, &user_of]);
    }
    let log = cluster.dir().join("books.log");
    let _shown = ShownOnPanic(&log);
    let start = || OperatorProcess::start(cluster, &binary, &[], &log);
    let operator = start();
    ledger.apply("17");

    let first = ledger.asks(&[]);
    let shown = ledger.krator("jane", &["approve"]).expect("jane may look");
    let namespace = &ledger.namespace;
    let says = format!("Ledger/main in the namespace {namespace} has waited since ");
    assert!(shown.starts_with(&says), "{shown}");
    let says = format!(
        " for an approval to go from Running to Upgrading.\n\nIts spec, generation 1:\n\n  version: '17'\n\nTo approve that: \
         krator approve Ledger/main --namespace {namespace} --id {first}\n"
    );
    assert!(shown.ends_with(&says), "{shown}");
    let why = ledger.krator("jane", &["why"]).expect("jane may look");
    assert!(why.contains("approve it with `krator approve`"), "{why}");

    // A new policy takes effect with a delay.
    let by_bob = format!("{first} by bob");
    until("the policy guards approvals", || {
        let annotation = format!("approvals.example.com/approve={by_bob}");
        let dry = ["annotate", "--dry-run=server", "ledger", "main", &annotation];
        ledger.kubectl("bob", &dry).err()
    });
    let needs = "approving the ask of a Ledger needs the verb approve on ledgers.approvals.example.com";
    ledger.is_refused(ledger.annotate("bob", &by_bob), needs);
    ledger.is_refused(ledger.krator("bob", &["approve", "--id", &first]), needs);
    let form = "is `ID by USER` or `ID by USER: REASON`";
    for wrong in [&*by_bob, "0123456789abcdef by jane", &first, "yes"] {
        ledger.is_refused(ledger.annotate("jane", wrong), form);
    }
    let other = ledger.krator("jane", &["approve", "--id", "0123456789abcdef"]);
    ledger.is_refused(other, "this is not the current ask");
    let both = json!({
        "metadata": {"annotations": {"approvals.example.com/approve": format!("{first} by jane")}},
        "spec": {"version": "666"},
    });
    let both = ledger.kubectl(
        "jane",
        &["patch", "ledger", "main", "--type=merge", "-p", &both.to_string()],
    );
    ledger.is_refused(both, "cannot be approved together with an edit of its spec");

    let approve = ["approve", "--id", &first, "--message", "it was tried in staging"];
    let approved = ledger.krator("jane", &approve).expect("jane may approve");
    assert_eq!(
        approved,
        format!("Ledger/main in the namespace {namespace} may go to Upgrading: approved by jane\n")
    );
    ledger.runs_version("17");
    let annotation = ledger.object()["metadata"]["annotations"]["approvals.example.com/approve"].clone();
    assert_eq!(annotation, format!("{first} by jane: it was tried in staging"));
    let nothing = ledger.krator("jane", &["approve"]);
    ledger.is_refused(nothing, "does not wait for an approval");

    // A leftover approval does not apply to the next ask, and the approval for one spec does not apply to the next
    // spec.
    ledger.apply("18");
    let second = ledger.asks(&[&first]);
    ledger.apply("19");
    let third = ledger.asks(&[&first, &second]);
    let former = ledger.krator("jane", &["approve", "--id", &second]);
    ledger.is_refused(former, "this is not the current ask");
    ledger.is_refused(ledger.annotate("jane", &format!("{first} by jane")), form);

    // While no operator runs, a user with the right to edit withdraws an approval. It is then given again, and stays
    // after an apply that does not contain it.
    drop(operator);
    let approve = ["approve", "--id", &third];
    ledger.krator("jane", &approve).expect("jane may approve");
    let withdrawn = ["annotate", "ledger", "main", "approvals.example.com/approve-"];
    ledger.kubectl("bob", &withdrawn).expect("bob may edit");
    ledger.krator("jane", &approve).expect("jane may approve");
    ledger.apply("19");
    let shown = ledger.krator("jane", &["approve"]).expect("jane may look");
    assert!(
        shown.ends_with(&format!("\nIt is approved by {third} by jane.\n")),
        "{shown}"
    );
    let _operator = start();
    ledger.runs_version("19");
}
